# SPDX-License-Identifier: Apache-2.0
"""What a lease is after one of its events, by what is written of that.

That a reader would read the same is proved in functional/manager/test_news.py.
"""
import datetime

from climate.domain import aftermath
from climate.domain import agenda
from climate.domain import lifecycle
from climate.domain import records

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


def test_only_what_is_told_of_a_reservation_changes():
    start = event(agenda.START)
    after = aftermath.of_lease(lease(start), start, {'one': lifecycle.RESERVATION_ACTIVE},
                               {'two': {'made': 1}}, (), LATER)
    one, two = after.reservations
    assert (one.state, one.binding, one.updated_at) == (lifecycle.RESERVATION_ACTIVE, {}, LATER)
    assert (two.state, two.binding, two.updated_at) == (
        lifecycle.RESERVATION_PENDING, {'made': 1}, LATER)


def test_a_reservation_that_is_over_leases_its_one_thing_no_more():
    end = event(agenda.END)
    after = aftermath.of_lease(lease(end), end, {'one': lifecycle.RESERVATION_DELETED}, {}, (),
                               LATER)
    assert [each.leased_id for each in after.reservations] == [None, 's-two']


def test_the_event_is_done_and_nobodys_any_more():
    read = event(agenda.END)
    claimed = event(agenda.END, lifecycle.EVENT_IN_PROGRESS, claim_owner='me', claim_no=1,
                    claimed_until=LATER, begun_at=NOON)
    [done] = aftermath.of_lease(lease(read), claimed, {}, {}, (), LATER).events
    assert (done.status, done.claim_owner, done.claimed_until) == (
        lifecycle.EVENT_DONE, None, None)
    assert (done.claim_no, done.begun_at, done.updated_at) == (1, NOON, LATER)


def test_what_is_closed_is_done_unless_somebody_carries_it_out():
    end = event(agenda.END)
    known = (event(agenda.START, lifecycle.EVENT_ERROR), event(agenda.BEFORE_END),
             event(agenda.CHECK, lifecycle.EVENT_IN_PROGRESS), event(agenda.NOTIFY), end)
    after = aftermath.of_lease(lease(*known), end, {}, {}, (
        agenda.START, agenda.BEFORE_END, agenda.CHECK), LATER)
    assert [each.status for each in after.events] == [
        lifecycle.EVENT_DONE, lifecycle.EVENT_DONE, lifecycle.EVENT_IN_PROGRESS,
        lifecycle.EVENT_UNDONE, lifecycle.EVENT_DONE]
