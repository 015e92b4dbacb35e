# SPDX-License-Identifier: Apache-2.0
"""The status words of leases at each version of REST, and the leases that a word selects."""
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
# While a task runs: {task: the word at REST 1.0}. From 1.1 on, the word is in lower case.
_OF_TASKS = {'start': 'STARTING', 'update': 'UPDATING', 'reclaim': 'UPDATING',
             'end': 'TERMINATING', 'delete': 'DELETING'}
#: From 1.1 on, the word of a pending lease whose start has come.
TO_BE_STARTED = 'to_be_started'
#: From 1.1 on, the word of a deleted lease. Only administrators see such leases.
DELETED = 'deleted'
# The words from REST 1.1 on in the order of a life, in which lists are sorted by status.
_IN_ORDER = ('in_progress', 'inactive', 'starting', 'active', 'updating', 'error', 'terminating',
             'timedout', 'terminated', 'deleting')
#: {state, or task: the place of its word in lists that are sorted by status}. A pending lease has
#: the same place before and at its start.
STATE_RANKS = {state: _IN_ORDER.index(new) for state, (_, new) in _OF_STATES.items()}
TASK_RANKS = {task: _IN_ORDER.index(word.lower()) for task, word in _OF_TASKS.items()}


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
    """Return (word, state, task) for all status words of a text, in which commas separate them.

    Upper and lower case make no difference. Words of REST 1.1 are returned in lower case.

    :raises BadField: a word is no status.
    """
    return [(word, *selection)
            for word in dict.fromkeys(map(_in_its_spelling, text.split(',')))
            for selection in selected(word)]


def selected(word: str) -> list[tuple[str | None, str | None]]:
    """Return the pairs (state, task) that a status word of any version selects; None: any.

    :param word: the word in the spelling of its version.
    :raises BadField: the word is no status.
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
    """Return a word in lower case, or in capitals if only REST 1.0 has it."""
    only_1_0 = {old for old, new in _OF_STATES.values()} - {
        new.upper() for _, new in _OF_STATES.values()}
    return word.upper() if word.upper() in only_1_0 else word.lower()
