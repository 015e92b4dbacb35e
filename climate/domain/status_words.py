# SPDX-License-Identifier: Apache-2.0
"""The status word of a lease at each version of REST, and what each word selects."""
import datetime

from climate import errors
from climate.domain import lifecycle

# While no task runs: {state: (the word at REST 1.0, from 1.1 on)}.
_OF_STATES = {
    lifecycle.PENDING: ('PENDING', 'inactive'),
    lifecycle.ACQUIRING: ('CREATING', 'in_progress'),
    lifecycle.ACTIVE: ('ACTIVE', 'active'),
    lifecycle.TERMINATED: ('TERMINATED', 'terminated'),
    lifecycle.TIMEDOUT: ('ERROR', 'timedout'),
    lifecycle.ERROR: ('ERROR', 'error'),
}
# While a task runs: {task: the word at REST 1.0}. From 1.1 on it is the same in lower case.
_OF_TASKS = {'start': 'STARTING', 'update': 'UPDATING', 'reclaim': 'UPDATING',
             'end': 'TERMINATING', 'delete': 'DELETING'}
#: From 1.1 on, the word of a pending lease whose start has come.
TO_BE_STARTED = 'to_be_started'
#: From 1.1 on, the word of a deleted lease. Only administrators see such leases.
DELETED = 'deleted'


def words(state: str, task: str | None, start: datetime.datetime,
          now: datetime.datetime) -> tuple[str, str]:
    """Return the status word of a lease, as (at REST 1.0, from 1.1 on)."""
    old = word_1_0(state, task)
    if task is not None:
        return old, old.lower()
    if state == lifecycle.PENDING and start <= now:
        return old, TO_BE_STARTED
    return _OF_STATES[state]


def word_1_0(state: str, task: str | None) -> str:
    """Return the status word of a lease at REST 1.0."""
    return _OF_STATES[state][0] if task is None else _OF_TASKS[task]


def all_selected(text: str) -> list[tuple[str, str | None, str | None]]:
    """Return (word, state, task) for each status word of a text, in which commas separate them.

    Words may be written in capitals or not; those of REST 1.1 come back in lower case.

    :raises BadField: no lease has one of them.
    """
    return [(word, *each)
            for word in dict.fromkeys(_in_its_spelling(each) for each in text.split(','))
            for each in selected(word)]


def selected(word: str) -> list[tuple[str | None, str | None]]:
    """Return what a status word of any version selects, as (state, task); one of them is None.

    :param word: in the spelling of its version.

    :raises BadField: no lease has that status.
    """
    tasks = [task for task, shown in _OF_TASKS.items() if word.upper() == shown]
    if tasks:
        return [(None, task) for task in tasks]
    if word == TO_BE_STARTED:
        return [(lifecycle.PENDING, None)]
    for state, shown_by_version in _OF_STATES.items():
        if word in shown_by_version and (word != 'ERROR' or state == lifecycle.ERROR):
            return [(state, None)]
    known = sorted({new for _, new in _OF_STATES.values()} | {TO_BE_STARTED}
                   | {shown.lower() for shown in _OF_TASKS.values()})
    raise errors.BadField(field='status', reason=f'"{word}" is none of {", ".join(known)}.')


def _in_its_spelling(word: str) -> str:
    """Return a word in lower case; in capitals if only REST 1.0 has it."""
    only_1_0 = {old for old, new in _OF_STATES.values()} - {
        new.upper() for _, new in _OF_STATES.values()}
    return word.upper() if word.upper() in only_1_0 else word.lower()
