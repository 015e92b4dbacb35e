# SPDX-License-Identifier: Apache-2.0
"""The life cycle of a lease: its states, and its tasks.

The `state` describes a lease; the `task` is what Climate is doing to it now. Users see both as one
status word: :mod:`climate.domain.status_words`.
"""
import dataclasses

PENDING = 'PENDING'
ACQUIRING = 'ACQUIRING'
ACTIVE = 'ACTIVE'
TERMINATED = 'TERMINATED'
TIMEDOUT = 'TIMEDOUT'
ERROR = 'ERROR'

STATES = {
    PENDING: 'Allocated; it has not started.',
    ACQUIRING: 'It has no resources yet: retries, best effort, or waiting.',
    ACTIVE: 'Its project has the resources.',
    TERMINATED: 'Over; all resources were released.',
    TIMEDOUT: 'It did not get its resources within its time limit.',
    ERROR: 'Something failed; the lease has the reason, and its end still cleans up.',
}

#: The states in which a lease has no resources and will get none.
OVER = (TERMINATED, TIMEDOUT)
#: The other states.
OPEN = tuple(state for state in STATES if state not in OVER)

RESERVATION_PENDING = 'pending'
RESERVATION_ACTIVE = 'active'
RESERVATION_DELETED = 'deleted'
RESERVATION_ERROR = 'error'

EVENT_UNDONE = 'UNDONE'
EVENT_IN_PROGRESS = 'IN_PROGRESS'
EVENT_DONE = 'DONE'
EVENT_ERROR = 'ERROR'
# The statuses of events that may still be carried out and are not in progress.
EVENT_OPEN = (EVENT_UNDONE, EVENT_ERROR)


@dataclasses.dataclass(frozen=True)
class Task:
    """A task: something that Climate does to a lease.

    :ivar begins_in: the states in which it may begin.
    :ivar success: the state after success; None: the state does not change.
    :ivar verb: its name in an error message.
    :ivar failure: the state after it was given up.
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

#: The results of the acquisition of resources: {result: the state of the lease after it}.
#: Acquisition is a state and not a task.
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
    lines += [f'  {ACQUIRING} -> {state} [label="{what}"];'
              for what, state in ACQUIRING_ENDS.items()]
    return '\n'.join(lines + ['}']) + '\n'
