# SPDX-License-Identifier: Apache-2.0
"""Events in the database: due, claimed, held, finished, moved, closed."""
import dataclasses
import functools

import pytest
from support import db_rows
from support import simultaneous

from climate import errors
from climate.db import events
from climate.db import leases
from climate.domain import event_kinds
from climate.domain import lifecycle

NOON, hours = db_rows.NOON, db_rows.hours


@pytest.fixture
def event(database):
    """The start of a lease that is due at noon."""
    return db_rows.saved(database, db_rows.a_lease()).event(event_kinds.START)


def now_is(database, event):
    """The event as it is."""
    with database.reader() as connection:
        [found] = [each for each in events.of_leases(connection, [event.lease_id])[event.lease_id]
                   if each.id == event.id]
        return found


def due(database, now, limit=99):
    with database.reader() as connection:
        return events.due(connection, now, limit)


def claim(database, event, owner='me', now=NOON, until=None):
    with database.writer() as connection:
        try:
            [taken] = events.claim(connection, [event], owner, now, until or now + hours(1))
        except errors.LostRace:
            return None
        return taken


def test_an_event_is_due_at_its_moment_and_not_before(database, event):
    assert due(database, NOON - hours(1)) == []
    assert due(database, NOON) == [event]


def test_the_longest_due_come_first_and_so_many_at_most(database):
    later, earlier, middle = (db_rows.a_lease(start=NOON - hours(back)) for back in (1, 3, 2))
    db_rows.saved(database, later, earlier, middle)
    assert [each.lease_id for each in due(database, NOON - hours(1), 1)] == [earlier.id]
    assert [each.at for each in due(database, NOON)] == sorted(
        each.at for lease in (later, earlier, middle) for each in lease.events)


def test_an_event_that_waits_for_its_next_try_is_not_due(database, event):
    taken = claim(database, event)
    with database.writer() as connection:
        events.finish(connection, taken, NOON, lifecycle.EVENT_UNDONE, due_at=NOON + hours(0.5),
                      attempts=1)
    assert due(database, NOON) == []
    assert [each.attempts for each in due(database, NOON + hours(0.5))] == [1]


def test_a_claimed_event_is_due_again_only_when_the_claim_is_over(database, event):
    claim(database, event)
    assert due(database, NOON + hours(0.9)) == []
    [again] = due(database, NOON + hours(1))[:1]
    assert again.id == event.id


def test_a_claim_is_written_with_its_owner_and_number(database, event):
    taken = claim(database, event)
    assert (taken.status, taken.claim_owner, taken.claim_no) == ('IN_PROGRESS', 'me', 1)
    assert now_is(database, event) == taken


def test_one_of_many_simultaneous_claims_of_an_event_succeeds(database, event):
    taken = simultaneous.at_once(*[functools.partial(claim, database, event, str(number))
                                   for number in range(8)])
    [winner] = [each for each in taken if each is not None]
    assert now_is(database, event) == winner


def test_a_claim_that_is_held_lasts_longer(database, event):
    taken = claim(database, event)
    with database.writer() as connection:
        assert events.hold(connection, [taken], NOON + hours(2)) == {event.id}
    assert now_is(database, event).claimed_until == NOON + hours(2)


def test_a_manager_that_was_overtaken_neither_holds_nor_finishes(database, event):
    mine = claim(database, event)
    yours = claim(database, mine, 'you', NOON + hours(1), NOON + hours(2))
    with database.writer() as connection:
        assert events.hold(connection, [mine], NOON + hours(9)) == set()
    with pytest.raises(errors.LostRace), database.writer() as connection:
        events.finish(connection, mine, NOON, lifecycle.EVENT_DONE)
    assert now_is(database, event) == yours
    with database.writer() as connection:
        events.finish(connection, yours, NOON, lifecycle.EVENT_DONE)
    done = now_is(database, event)
    assert (done.status, done.claim_owner, done.claimed_until) == ('DONE', None, None)
    assert due(database, NOON + hours(0.5)) == []


def test_an_event_is_finished_once(database, event):
    taken = claim(database, event)
    with database.writer() as connection:
        events.finish(connection, taken, NOON, lifecycle.EVENT_ERROR)
    with pytest.raises(errors.LostRace), database.writer() as connection:
        events.finish(connection, taken, NOON, lifecycle.EVENT_DONE)


def test_a_moved_event_happens_at_its_new_moment_also_when_it_is_done(database, event):
    taken = claim(database, event)
    with database.writer() as connection:
        events.finish(connection, taken, NOON, lifecycle.EVENT_DONE, attempts=3, waits=2)
        events.move(connection, event, NOON, NOON + hours(5))
    moved = now_is(database, event)
    assert (moved.at, moved.due_at) == (NOON + hours(5), NOON + hours(5))
    assert (moved.status, moved.attempts, moved.waits) == ('UNDONE', 0, 0)
    assert event.id in [each.id for each in due(database, NOON + hours(5))]


def test_closing_leaves_what_is_running_what_is_done_and_other_kinds(database):
    lease = db_rows.a_lease(reservations=0)
    statuses = {'UNDONE': 'DONE', 'ERROR': 'DONE', 'IN_PROGRESS': 'IN_PROGRESS', 'DONE': 'DONE'}
    notes = [db_rows.an_event(lease.id, event_kinds.NOTIFY, status=status,
                              claimed_until=NOON + hours(1)) for status in statuses]
    db_rows.saved(database, dataclasses.replace(lease, events=lease.events + tuple(notes)),
                  db_rows.a_lease())
    with database.writer() as connection:
        events.close(connection, lease.id, NOON, (event_kinds.NOTIFY, event_kinds.END))
    assert [now_is(database, each).status for each in notes] == list(statuses.values())
    assert now_is(database, lease.event(event_kinds.END)).status == 'DONE'
    assert now_is(database, lease.event(event_kinds.START)).status == 'UNDONE'
    assert len(due(database, NOON + hours(1))) == 4


def test_other_events_of_a_lease_wait_while_one_of_them_is_claimed(database, event):
    other = db_rows.saved(database, db_rows.a_lease())
    claim(database, event, now=NOON, until=NOON + hours(3))
    found = due(database, NOON + hours(2))
    assert {each.lease_id for each in found} == {other.id}
    again = due(database, NOON + hours(3))
    assert [each.kind for each in again if each.lease_id == event.lease_id] == [
        event_kinds.START, event_kinds.END]


def test_at_one_moment_ends_come_before_starts_however_many_are_looked_at(database):
    ending = [db_rows.a_lease(start=NOON - hours(1)) for _ in range(3)]
    starting = [db_rows.a_lease(start=NOON) for _ in range(3)]
    db_rows.saved(database, *starting, *ending)
    kinds = [each.kind for each in due(database, NOON, 6)]
    assert kinds == [event_kinds.START] * 3 + [event_kinds.END] * 3


def test_events_are_claimed_all_or_none(database, event):
    other = db_rows.saved(database, db_rows.a_lease()).event(event_kinds.START)
    claim(database, event)
    with pytest.raises(errors.LostRace), database.writer() as connection:
        events.claim(connection, [event, other], 'you', NOON, NOON + hours(1))
    assert now_is(database, other) == other
    with database.writer() as connection:
        assert events.claim(connection, [], 'you', NOON, NOON + hours(1)) == []
        assert events.hold(connection, [], NOON + hours(1)) == set()


def test_the_next_moment_is_that_of_the_next_event_or_of_the_end_of_a_claim(database):
    def next_moment():
        with database.reader() as connection:
            return events.next_moment(connection)
    assert next_moment() is None
    lease = db_rows.saved(database, db_rows.a_lease())
    assert next_moment() == NOON
    taken = claim(database, lease.event(event_kinds.START), until=NOON + hours(0.5))
    assert next_moment() == NOON + hours(0.5)
    with database.writer() as connection:
        events.finish(connection, taken, NOON, lifecycle.EVENT_DONE)
    assert next_moment() == NOON + hours(1)


def test_a_claim_that_ended_waits_for_the_one_that_its_lease_has_now(database):
    lease = db_rows.saved(database, db_rows.a_lease())
    claim(database, lease.event(event_kinds.START), until=NOON + hours(0.1))
    with database.reader() as connection:
        [end] = [each for each in leases.get(connection, lease.id).events
                 if each.kind == event_kinds.END]
    claim(database, end, until=NOON + hours(2))
    with database.reader() as connection:
        assert events.due(connection, NOON + hours(1), 10) == []
        assert events.next_moment(connection) == NOON + hours(2)
        assert events.due(connection, NOON + hours(2), 10) != []


def test_events_of_leases_come_in_the_order_of_their_moments(database):
    lease = db_rows.saved(database, db_rows.a_lease())
    with database.writer() as connection:
        events.add(connection, [])
        events.add(connection, [db_rows.an_event(lease.id, event_kinds.NOTIFY, NOON + hours(0.5))])
        kinds = [each.kind for each in leases.get(connection, lease.id).events]
        assert kinds == [event_kinds.START, event_kinds.NOTIFY, event_kinds.END]
        assert events.of_leases(connection, []) == {}
