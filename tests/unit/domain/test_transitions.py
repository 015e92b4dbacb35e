# SPDX-License-Identifier: Apache-2.0
"""The Lease after one of its events, computed from what was written.

functional/manager/test_outbox_leases.py proves that a read of the database gives the same Lease.
"""
import datetime

from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import transitions

NOON = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
LATER = NOON + datetime.timedelta(hours=1)


def event(kind, status=lifecycle.EVENT_UNDONE, **more):
    return records.Event(id=kind, lease_id='l', kind=kind, at=NOON, due_at=NOON, status=status,
                         **more)


def lease(*events):
    return records.Lease(
        id='l', name='a lease', project_id='p', user_id='u', start=NOON, end=LATER, events=events,
        reservations=tuple(records.Reservation(
            id=name, lease_id='l', resource_type='virtual:dummy', request={}, leased_id='s-' + name)
            for name in ('one', 'two')))


def test_a_reservation_changes_only_its_new_state_and_binding():
    start = event(event_kinds.START)
    after = transitions.after_event(lease(start), start, {'one': lifecycle.RESERVATION_ACTIVE},
                                    {'two': {'made': 1}}, (), LATER)
    one, two = after.reservations
    assert (one.state, one.binding, one.updated_at) == (lifecycle.RESERVATION_ACTIVE, {}, LATER)
    assert one.started_at == LATER
    assert (two.state, two.binding, two.updated_at) == (
        lifecycle.RESERVATION_PENDING, {'made': 1}, LATER)


def test_a_reservation_that_is_over_releases_its_target():
    end = event(event_kinds.END)
    after = transitions.after_event(lease(end), end, {'one': lifecycle.RESERVATION_DELETED}, {}, (),
                                    LATER)
    assert [each.leased_id for each in after.reservations] == [None, 's-two']


def test_the_event_is_done_and_its_claim_is_released():
    read = event(event_kinds.END)
    claimed = event(event_kinds.END, lifecycle.EVENT_IN_PROGRESS, claim_owner='me', claim_no=1,
                    claimed_until=LATER, begun_at=NOON)
    [done] = transitions.after_event(lease(read), claimed, {}, {}, (), LATER).events
    assert (done.status, done.claim_owner, done.claimed_until) == (
        lifecycle.EVENT_DONE, None, None)
    assert (done.claim_no, done.begun_at, done.updated_at) == (1, NOON, LATER)


def test_closed_events_are_done_unless_they_are_in_progress():
    end = event(event_kinds.END)
    known = (event(event_kinds.START, lifecycle.EVENT_ERROR), event(event_kinds.BEFORE_END),
             event(event_kinds.CHECK, lifecycle.EVENT_IN_PROGRESS), event(event_kinds.NOTIFY), end)
    after = transitions.after_event(lease(*known), end, {}, {}, (
        event_kinds.START, event_kinds.BEFORE_END, event_kinds.CHECK), LATER)
    assert [each.status for each in after.events] == [
        lifecycle.EVENT_DONE, lifecycle.EVENT_DONE, lifecycle.EVENT_IN_PROGRESS,
        lifecycle.EVENT_UNDONE, lifecycle.EVENT_DONE]
