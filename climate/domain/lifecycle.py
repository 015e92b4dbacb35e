# SPDX-License-Identifier: Apache-2.0
"""The life cycle of a lease: its states, and the tasks that change them.

A task is an action of Climate on the lease that is in progress. Users see state and task as one
status word; see :mod:`climate.domain.status_words`.
"""
import dataclasses

PENDING = 'PENDING'
ACQUIRING = 'ACQUIRING'
ACTIVE = 'ACTIVE'
TERMINATED = 'TERMINATED'
TIMEDOUT = 'TIMEDOUT'
ERROR = 'ERROR'

STATES = {
    PENDING: 'The resources are allocated, and the lease has not started.',
    ACQUIRING: 'The lease has no resources yet, and Climate tries to acquire them.',
    ACTIVE: 'The project can use the resources of the lease.',
    TERMINATED: 'The lease is over, and all of its resources were released.',
    TIMEDOUT: 'The lease did not get its resources within its time limit.',
    ERROR: 'An action failed. The end of the lease still releases its resources.',
}

#: The states in which a lease has no resources and will get none.
OVER = (TERMINATED, TIMEDOUT)
#: The states in which a lease has resources, or may get some.
OPEN = tuple(state for state in STATES if state not in OVER)

RESERVATION_PENDING = 'pending'
RESERVATION_ACTIVE = 'active'
RESERVATION_DELETED = 'deleted'
RESERVATION_ERROR = 'error'

EVENT_UNDONE = 'UNDONE'
EVENT_IN_PROGRESS = 'IN_PROGRESS'
EVENT_DONE = 'DONE'
EVENT_ERROR = 'ERROR'
# The statuses of events that are neither in progress nor done.
EVENT_OPEN = (EVENT_UNDONE, EVENT_ERROR)


@dataclasses.dataclass(frozen=True)
class Task:
    """An action of Climate on a lease.

    :ivar begins_in: the states of the lease in which the task may begin.
    :ivar success: the state after success; None: the state does not change.
    :ivar verb: the words for the task in an error message, such as "be started".
    :ivar failure: the state after the last try failed.
    """

    name: str
    begins_in: frozenset[str]
    success: str | None
    verb: str
    failure: str = ERROR


#: The tasks that release all resources of a lease.
TEARDOWN = ('end', 'delete')

TASKS = {task.name: task for task in (
    Task('start', frozenset({PENDING, ERROR}), ACTIVE, 'be started'),
    Task('update', frozenset({PENDING, ACTIVE, ERROR}), None, 'be changed'),
    Task('reclaim', frozenset({ACTIVE, ERROR}), None, 'be reclaimed'),
    Task('end', frozenset({PENDING, ACTIVE, ERROR}), TERMINATED, 'be ended'),
    Task('delete', frozenset(STATES), TERMINATED, 'be deleted'),
)}

#: {result of the acquisition of resources: the state of the lease after it}. The acquisition has a
#: state of its own, ACQUIRING, and no task.
ACQUIRED = 'acquired'
USED_UP = 'tries used up'
TOO_LATE = 'time passed'
ACQUIRING_ENDS = {ACQUIRED: PENDING, USED_UP: ERROR, TOO_LATE: TIMEDOUT}


def after(state: str, task: str, succeeded: bool) -> str:
    """Return the state of a lease after `task`, given the state before it."""
    rule = TASKS[task]
    return (rule.success or state) if succeeded else rule.failure


def as_dot() -> str:
    """Return the diagram of states and tasks in the DOT language."""
    lines = ['digraph lease {', '  rankdir=LR;', '  node [shape=box, style=rounded];']
    lines += [f'  {state} [tooltip="{text}"];' for state, text in STATES.items()]
    for task in TASKS.values():
        for state in sorted(task.begins_in):
            target = task.success or state
            if state != target or task.success is None:
                lines.append(f'  {state} -> {target} [label="{task.name}"];')
            if state != task.failure:
                lines.append(f'  {state} -> {task.failure} [label="{task.name} fails", '
                             'style=dashed];')
    lines += [f'  {ACQUIRING} -> {state} [label="{result}"];'
              for result, state in ACQUIRING_ENDS.items()]
    return '\n'.join(lines + ['}']) + '\n'
