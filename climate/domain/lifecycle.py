# SPDX-License-Identifier: Apache-2.0
"""The life cycle of a lease: its states, its tasks, and the status words that users see.

The `state` is what is true of a lease; the `task` is what Climate is doing to it now.
"""
import dataclasses
import datetime

from climate import errors

PENDING = 'PENDING'
ACQUIRING = 'ACQUIRING'
ACTIVE = 'ACTIVE'
TERMINATED = 'TERMINATED'
TIMEDOUT = 'TIMEDOUT'
ERROR = 'ERROR'

STATES = {
    PENDING: 'Promised; it has not started.',
    ACQUIRING: 'Still looking for its resources: retries, best effort, or waiting.',
    ACTIVE: 'Its resources are with the project.',
    TERMINATED: 'Over; all was given back.',
    TIMEDOUT: 'Its resources were not found within the time it had.',
    ERROR: 'Something failed; the reason is in words, the end still cleans up.',
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

    :ivar shown: the status at REST 1.0 while it runs; from 1.1 on it is the same in lower case.
    :ivar begins_in: the states in which it may begin.
    :ivar success: the state after success; None: the state does not change.
    :ivar verb: the words for it in an error message.
    :ivar failure: the state after it was given up.
    """

    name: str
    shown: str
    begins_in: frozenset[str]
    success: str | None
    verb: str
    failure: str = ERROR


#: The tasks that release all resources of a lease.
TEARDOWN = ('end', 'delete')

TASKS = {task.name: task for task in (
    Task('start', 'STARTING', frozenset({PENDING, ERROR}), ACTIVE, 'be started'),
    Task('update', 'UPDATING', frozenset({PENDING, ACTIVE, ERROR}), None, 'be changed'),
    Task('end', 'TERMINATING', frozenset({PENDING, ACTIVE, ERROR}), TERMINATED, 'be ended'),
    Task('delete', 'DELETING', frozenset(STATES), TERMINATED, 'be deleted'),
)}

#: How the acquisition of resources ends: {result: the state then}. Acquisition is a state and not
#: a task.
ACQUIRED = 'acquired'
USED_UP = 'tries used up'
TOO_LATE = 'time passed'
ACQUIRING_ENDS = {ACQUIRED: PENDING, USED_UP: ERROR, TOO_LATE: TIMEDOUT}

# The status of each state while no task runs: (at REST 1.0, from 1.1).
_WORDS = {
    PENDING: ('PENDING', 'inactive'),
    ACQUIRING: ('CREATING', 'in_progress'),
    ACTIVE: ('ACTIVE', 'active'),
    TERMINATED: ('TERMINATED', 'terminated'),
    TIMEDOUT: ('ERROR', 'timedout'),
    ERROR: ('ERROR', 'error'),
}
TO_BE_STARTED = 'to_be_started'
# The status of a deleted lease, from REST 1.1 on; only admins see such leases.
DELETED = 'deleted'


def words(state: str, task: str | None, start: datetime.datetime,
          now: datetime.datetime) -> tuple[str, str]:
    """Return the status that users see, as (at REST 1.0, from 1.1)."""
    if task is not None:
        shown = TASKS[task].shown
        return shown, shown.lower()
    if state == PENDING and start <= now:
        return _WORDS[PENDING][0], TO_BE_STARTED
    return _WORDS[state]


def meaning(word: str) -> tuple[str | None, str | None]:
    """Return what a status word of any version selects, as (state, task); one of them is None.

    :raises BadField: no lease has that status.
    """
    for task in TASKS.values():
        if word.upper() == task.shown:
            return None, task.name
    if word == TO_BE_STARTED:
        return PENDING, None
    for state, shown in _WORDS.items():
        if word in shown and (word != 'ERROR' or state == ERROR):
            return state, None
    known = sorted({new for _, new in _WORDS.values()} | {TO_BE_STARTED}
                   | {task.shown.lower() for task in TASKS.values()})
    raise errors.BadField(field='status', reason=f'"{word}" is none of {", ".join(known)}.')


def begin(lease_id: str, state: str, running: str | None, task: str) -> None:
    """Check that `task` may begin on a lease.

    :param state: the state of the lease.
    :param running: the task that runs on it now, or None.
    :raises BadTransition: another task runs, or the state does not allow it.
    """
    if running is not None and running != task:
        raise errors.BadTransition(lease_id=lease_id, status=TASKS[running].shown,
                                   task=TASKS[task].verb)
    if state not in TASKS[task].begins_in:
        raise errors.BadTransition(lease_id=lease_id, status=_WORDS[state][0],
                                   task=TASKS[task].verb)


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
