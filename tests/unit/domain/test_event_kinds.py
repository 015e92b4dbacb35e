# SPDX-License-Identifier: Apache-2.0
"""The table of event kinds agrees with the table of tasks, and with itself."""
import datetime

import pytest

from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records

NOON = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
LATER = NOON + datetime.timedelta(hours=1)
KINDS = [pytest.param(kind, id=kind.name) for kind in event_kinds.KINDS.values()]


def event(kind, status=lifecycle.EVENT_UNDONE):
    return records.Event(id=kind, lease_id='l', kind=kind, at=NOON, due_at=NOON, status=status)


def lease(*events, **more):
    return records.Lease(id='l', name='a lease', project_id='p', user_id='u', start=NOON,
                         end=LATER, events=events, **more)


@pytest.mark.parametrize('kind', KINDS)
def test_an_event_is_moot_in_each_state_in_which_its_task_may_not_begin(kind):
    if kind.task is not None:
        assert kind.states <= lifecycle.TASKS[kind.task].begins_in


@pytest.mark.parametrize('kind', KINDS)
def test_a_task_that_takes_all_back_releases_all(kind):
    assert kind.releases_all == (kind.task in lifecycle.TEARDOWN)


@pytest.mark.parametrize('kind', KINDS)
def test_an_event_is_moot_in_all_states_but_those_of_its_kind(kind):
    due = event(kind.name)
    assert {state for state in lifecycle.STATES if not due_events.is_moot(
        lease(due, state=state), due)} == kind.states


@pytest.mark.parametrize('kind', KINDS)
def test_a_deleted_lease_has_only_events_that_outlive_it(kind):
    due = event(kind.name)
    moot = all(due_events.is_moot(lease(due, state=state, deleted_at=NOON), due)
               for state in lifecycle.STATES)
    assert moot == (kind.until is not event_kinds.Until.ALWAYS)


@pytest.mark.parametrize('name', event_kinds.CLOSED_WHEN_OVER)
def test_an_event_that_is_moot_after_the_lease_does_not_begin_during_its_deletion(name):
    due, deletion = event(name), event(event_kinds.DELETE)
    assert all(due_events.is_moot(lease(due, deletion, state=state), due)
               for state in lifecycle.STATES)


def test_preparations_are_moot_while_the_lease_starts():
    due = event(event_kinds.PREPARE)
    assert due_events.is_moot(lease(due, task='start'), due)
    assert not due_events.is_moot(lease(due, task='update'), due)


def test_releases_come_before_starts_at_the_same_moment():
    due = [event(kind) for kind in (event_kinds.BEFORE_END, event_kinds.START, event_kinds.UPDATE,
                                    event_kinds.END, event_kinds.DELETE)]
    assert [each.kind for each in due_events.in_order(due)] == [
        event_kinds.DELETE, event_kinds.END, event_kinds.UPDATE, event_kinds.START,
        event_kinds.BEFORE_END]
