# SPDX-License-Identifier: Apache-2.0
"""The wait queue in the database: its order, which leases are due, and the cost of a look."""
import dataclasses

import pytest
import sqlalchemy as sa
from support import db_rows

from climate.db import acquisitions
from climate.db import allocations
from climate.db import events
from climate.db import leases
from climate.db import tables
from climate.db import wait_queue
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records

NOON, hours = db_rows.NOON, db_rows.hours


def sought(database, kind='wait', at=NOON, **fields):
    """A lease that is being acquired, written."""
    lease_id = db_rows.an_id()
    fields = {'created_at': at, **fields}
    return db_rows.saved(database, dataclasses.replace(
        db_rows.a_lease(id=lease_id, acquire_type=kind, state=lifecycle.ACQUIRING),
        events=(db_rows.an_event(lease_id, event_kinds.ACQUIRE, at=NOON + hours(1)),),
        acquisition=records.Acquisition(lease_id=lease_id, type=kind, **fields)))


def line(database):
    """The ids of all in line, by asking for one after another."""
    with database.reader() as connection:
        found, key = [], wait_queue.first(connection)
        while key is not None:
            found.append(key)
            [place] = acquisitions.of_leases(connection, [key]).values()
            key = next((each.lease_id for each in wait_queue.behind(connection, place, 1)), None)
    return found


def woken(database, now, *wanted):
    with database.writer() as connection:
        for lease in wanted:
            wait_queue.wake(connection, lease.id, now)


def is_due_before(database, lease, now):
    with database.reader() as connection:
        return wait_queue.is_due_before(connection, lease.acquisition, now)


def test_an_acquisition_comes_back_with_its_lease_as_it_was_written(database):
    lease = sought(database, 'best-effort', strategy='fewest-instances', timeout_seconds=60,
                   not_after=NOON + hours(1), duration_seconds=60,
                   notify_at=(NOON, NOON + hours(2)), plan={'hosts': ['a']})
    plain = db_rows.saved(database, db_rows.a_lease())
    with database.reader() as connection:
        assert leases.get(connection, lease.id).acquisition == lease.acquisition
        assert leases.get(connection, plain.id).acquisition is None


def test_the_line_goes_by_priority_then_by_age_and_has_only_those_that_wait(database):
    late, early = sought(database, at=NOON + hours(1)), sought(database, 'retries')
    low, high = sought(database, priority=-1), sought(database, priority=5, at=NOON + hours(2))
    sought(database, 'best-effort')
    assert line(database) == [high.id, early.id, late.id, low.id]
    with database.writer() as connection:
        acquisitions.leave(connection, early.id, NOON)
    assert line(database) == [high.id, late.id, low.id]


def test_the_share_of_the_project_comes_after_the_priority_and_before_the_age(database):
    large, small = sought(database, share=20), sought(database, share=10, at=NOON + hours(1))
    urgent = sought(database, share=30, priority=1, at=NOON + hours(2))
    equal = sought(database, share=20, at=NOON + hours(3))
    assert line(database) == [urgent.id, small.id, large.id, equal.id]
    woken(database, NOON, small)
    assert [is_due_before(database, lease, NOON) for lease in (urgent, small, large, equal)] == [
        False, False, True, True]


def test_at_the_same_moment_the_line_has_an_order_all_the_same(database):
    several = [sought(database).id for _ in range(5)]
    assert line(database) == sorted(several)


def test_a_woken_lease_is_due_at_once_and_before_those_behind_it(database):
    first, second = sought(database), sought(database, at=NOON + hours(1))
    assert not is_due_before(database, second, NOON)
    woken(database, NOON, first)
    assert is_due_before(database, second, NOON)
    assert not is_due_before(database, first, NOON)
    with database.reader() as connection:
        found = leases.get(connection, first.id)
    assert (found.acquisition.wakes, found.event(event_kinds.ACQUIRE).due_at) == (1, NOON)


@pytest.mark.parametrize(('values', 'due'), [
    ({'status': lifecycle.EVENT_IN_PROGRESS}, True),
    ({'due_at': NOON}, True),
    ({'status': lifecycle.EVENT_DONE, 'due_at': NOON}, False),
])
def test_a_lease_that_is_being_tried_or_is_due_by_the_clock_comes_first_too(database, values, due):
    first, second = sought(database), sought(database, at=NOON + hours(1))
    with database.writer() as connection:
        connection.execute(sa.update(tables.EVENTS)
                           .where(tables.EVENTS.c.lease_id == first.id).values(**values))
    assert is_due_before(database, second, NOON) is due


def test_to_be_woken_while_it_is_tried_is_counted_and_moves_nothing(database):
    lease = sought(database)
    with database.writer() as connection:
        connection.execute(sa.update(tables.EVENTS).where(tables.EVENTS.c.lease_id == lease.id)
                           .values(status=lifecycle.EVENT_IN_PROGRESS))
    woken(database, NOON, lease)
    with database.reader() as connection:
        found = leases.get(connection, lease.id)
    assert found.acquisition.wakes == 1
    assert found.event(event_kinds.ACQUIRE).due_at == NOON + hours(1)


def test_a_lease_that_is_put_off_has_lost_the_turn_that_it_got_by_letting_others_go_first(
        database):
    lease = sought(database)
    with database.writer() as connection:
        connection.execute(sa.update(tables.EVENTS).where(tables.EVENTS.c.lease_id == lease.id)
                           .values(due_at=NOON, waits=1))
        wait_queue.postpone(connection, [lease.id], NOON, NOON + hours(2))
        found = leases.get(connection, lease.id).event(event_kinds.ACQUIRE)
    assert (found.due_at, found.waits) == (NOON + hours(2), 0)


def test_leases_that_retry_their_start_are_woken_apart_from_the_queue(database):
    lease = db_rows.saved(database, db_rows.a_lease())
    with database.writer() as connection:
        assert not wait_queue.who_waits(connection).leases
        events.add(connection, [events.new(lease.id, event_kinds.HEAL, NOON + hours(1), NOON)])
        acquisitions.heal(connection, lease, NOON)
        assert wait_queue.who_waits(connection).leases
        assert wait_queue.first(connection) is None
        assert not wait_queue.is_healing_due(connection, NOON)
        wait_queue.wake_healing(connection, NOON)
        assert wait_queue.is_healing_due(connection, NOON)


def test_allocations_held_back_by_queued_leases_can_be_released_and_others_cannot(database):
    first, second, served = (sought(database) for _ in range(3))
    ids = db_rows.hosts(database, 'a', 'b', 'c')
    with database.writer() as connection:
        for lease, key in zip((first, second, served), ids, strict=True):
            own = [records.Allocation(lease.reservations[0].id, key, NOON, NOON + hours(1))]
            allocations.add(connection, own)
        assert set(wait_queue.holders(connection, first.id)) == {second.id, served.id}
        acquisitions.leave(connection, served.id, NOON)
        wait_queue.release_held(connection, [second.id, served.id])
        assert [len(leases.get(connection, each.id).reservations[0].resource_ids)
                for each in (first, second, served)] == [1, 0, 1]


def test_events_that_were_not_read_stay_and_none_is_updated_if_no_lease_waits(database):
    lease = sought(database)
    [host] = db_rows.hosts(database, 'a')
    made = []

    def note(_connection, statement, *_arguments):
        if isinstance(statement, sa.Update | sa.Delete):
            made.append(str(statement))
    sa.event.listen(database.engine, 'before_execute', note)
    with database.writer() as connection:
        wait_queue.wake_healing(connection, NOON)
        wait_queue.release_held(connection, [lease.id])
        assert made == []
        allocations.add(connection, [records.Allocation(
            lease.reservations[0].id, host, NOON, NOON + hours(1))])
        events.add(connection, [events.new(lease.id, event_kinds.HEAL, NOON + hours(1), NOON)])
        wait_queue.release_held(connection, [lease.id])
        acquisitions.heal(connection, lease, NOON)
        wait_queue.wake_healing(connection, NOON)
    sa.event.remove(database.engine, 'before_execute', note)
    # MariaDB would lock all rows that a subquery reads.
    assert len(made) == 3
    assert not any('SELECT' in each for each in made)
