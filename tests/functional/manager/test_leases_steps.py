# SPDX-License-Identifier: Apache-2.0
"""A lease with steps goes on while nobody else needs its resources, and then ends as announced."""
import acts
import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import journal
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import maintenance_windows
from climate.domain import records
from climate.manager.limits import books as limit_books

NOON, at, hours, minutes = builders.NOON, builders.at, builders.hours, builders.minutes
HOUR = 3600
STRANGER = builders.a_member('eve', 'other')


@pytest.fixture
def stepping(manager):
    """A running lease of one of two hosts, which goes on in steps of an hour."""
    manager.enrol(2)
    return manager.active(end=at(2), while_free_seconds=HOUR)


def rows(manager, table):
    with manager.database.reader() as connection:
        return connection.execute(sa.select(table)).all()


def told(manager, event_type='lease.last_step'):
    """Return the payloads of the notifications of a type."""
    return [row.payload for row in rows(manager, tables.OUTBOX) if row.event_type == event_type]


def history(manager, lease, what):
    with manager.database.reader() as connection:
        return [line for line in journal.history(connection, lease.id) if line.what == what]


def wait(manager, *reservations, caller=STRANGER, **more):
    return manager.create(builders.a_lease(
        *reservations, end=None, duration_seconds=HOUR,
        acquire=records.AcquireRequest('wait', **more)), caller)


def test_a_lease_is_extended_one_step_before_its_end(manager, stepping):
    manager.run_until(at(1) - builders.seconds(1))
    assert manager.lease(stepping).end == at(2)
    manager.run_until(at(1))
    assert manager.lease(stepping).end == at(3)
    manager.run_until(at(2.5))
    lease = manager.lease(stepping)
    assert (lease.end, lease.state) == (at(4), lifecycle.ACTIVE)
    assert [line.who for line in history(manager, lease, 'extend')] == ['climate'] * 2
    assert lease.extended_count == 0


def test_a_booking_of_others_ends_the_steps_and_the_owner_is_notified_a_step_before(
        manager, stepping):
    other = manager.create(builders.a_lease(builders.hosts(2), start=at(3.5), end=at(5)), STRANGER)
    manager.run_until(at(2))
    lease = manager.lease(stepping)
    assert (lease.end, lease.while_free_seconds) == (at(3), None)
    [payload] = told(manager)
    assert 'It ends at 2030-05-01 15:00 UTC' in payload['reason']
    assert payload['lease_id'] == lease.id
    manager.expect(stepping, lifecycle.TERMINATED, at(3))
    assert manager.expect(other, lifecycle.ACTIVE, at(3.5))
    assert len(told(manager)) == 1


@pytest.mark.usefixtures('rare_polls')
@pytest.mark.parametrize('acquire', [
    {'type': 'wait'}, {'type': 'retries', 'retries': 99, 'retry_pause_seconds': 60}])
def test_a_waiting_lease_comes_before_the_next_step(manager, stepping, acquire):
    waiting = manager.create(builders.a_lease(
        builders.hosts(2), duration_seconds=HOUR, acquire=records.AcquireRequest(**acquire)),
        STRANGER)
    manager.run_until(at(1))
    assert manager.lease(stepping).end == at(2)
    [payload] = told(manager)
    assert payload['reason'].endswith('another lease waits for such resources.')
    [line] = history(manager, stepping, 'last step')
    assert waiting.id in line.why and waiting.id not in line.owner_why
    manager.expect(waiting, lifecycle.ACTIVE, at(2) + minutes(2))


@pytest.mark.usefixtures('rare_polls')
def test_a_lease_that_waits_for_other_resources_does_not_end_the_steps(manager, stepping):
    host = manager.client.create_resource(builders.an_admin(), 'host', 'compute-3',
                                          {'gpu': 'A100'})
    assert host.name == 'compute-3'
    manager.create(builders.a_lease(builders.hosts(1, criteria='["=", "$gpu", "A100"]'),
                                    end=at(9)), STRANGER)
    wait(manager, builders.hosts(1, criteria='["=", "$gpu", "A100"]'))
    manager.run_until(at(1))
    assert manager.lease(stepping).end == at(3)


@pytest.mark.usefixtures('rare_polls')
def test_a_lease_whose_wait_ends_earlier_does_not_end_the_steps(manager, stepping):
    wait(manager, builders.hosts(2), not_after=at(1.5))
    manager.run_until(at(1))
    assert manager.lease(stepping).end == at(3)


def test_an_offer_ends_the_steps(manager, stepping):
    manager.run_until(at(1) - minutes(1))
    manager.hold(builders.a_lease(builders.hosts(2), start=at(2), end=at(3)), STRANGER)
    manager.run_until(at(1))
    assert manager.lease(stepping).while_free_seconds is None


def test_steps_begin_after_the_start_of_a_lease_that_is_shorter_than_a_step(manager):
    manager.enrol(1)
    lease = manager.book(start=at(1), end=at(2), while_free_seconds=4 * HOUR)
    manager.run_until(at(1))
    assert manager.lease(lease).end == at(6)


@pytest.mark.usefixtures('rare_polls')
def test_a_waiting_lease_gets_its_steps_when_it_has_its_resources(manager):
    manager.enrol(1)
    manager.active(end=at(2))
    waiting = manager.create(builders.a_lease(
        duration_seconds=2 * HOUR, while_free_seconds=HOUR,
        acquire=records.AcquireRequest('wait')))
    manager.expect(waiting, lifecycle.ACTIVE, at(2))
    manager.run_until(at(3))
    assert manager.lease(waiting).end == at(5)


def test_an_earlier_end_ends_the_steps(manager, stepping):
    changed = manager.change(stepping, end=at(1.5))
    assert changed.while_free_seconds is None
    manager.expect(stepping, lifecycle.TERMINATED, at(1.5))
    assert not told(manager)


def test_a_later_end_moves_the_next_step(manager, stepping):
    manager.change(stepping, end=at(5))
    manager.run_until(at(4) - minutes(1))
    assert manager.lease(stepping).end == at(5)
    manager.run_until(at(4))
    assert manager.lease(stepping).end == at(6)


def test_a_step_of_0_ends_the_steps(manager, stepping):
    assert manager.change(stepping, while_free_seconds=0).while_free_seconds is None
    manager.expect(stepping, lifecycle.TERMINATED, at(2))
    assert not told(manager)


def test_a_lease_can_get_steps_while_it_runs(manager):
    manager.enrol(1)
    lease = manager.active(end=at(2))
    manager.change(lease, while_free_seconds=HOUR)
    manager.run_until(at(1))
    assert manager.lease(lease).end == at(3)


def test_steps_may_begin_again_after_the_last_one(manager, stepping):
    other = manager.create(builders.a_lease(builders.hosts(2), start=at(3), end=at(4)), STRANGER)
    manager.run_until(at(2))
    assert manager.lease(stepping).while_free_seconds is None
    manager.client.delete_lease(STRANGER, other.id)
    manager.run()
    manager.change(stepping, while_free_seconds=HOUR)
    manager.run()
    assert manager.lease(stepping).end == at(4)


@pytest.mark.parametrize('step', [1, 599, 366 * 86400 + 1, -600])
def test_a_step_that_is_too_short_or_too_long_is_refused(manager, step):
    manager.enrol(1)
    with pytest.raises(errors.BadField, match=r'^while_free: a step of'):
        manager.book(end=at(2), while_free_seconds=step)


def test_a_time_before_the_end_of_more_than_a_step_is_refused(manager):
    manager.enrol(1)
    with pytest.raises(errors.BadField, match=r'^before_end: .* is more than a step'):
        manager.book(end=at(5), before_end=at(3), while_free_seconds=HOUR)
    lease = manager.active(end=at(5), before_end=at(4), while_free_seconds=HOUR)
    with pytest.raises(errors.BadField, match=r'^before_end'):
        manager.change(lease, before_end=at(3))


def test_the_usual_time_before_the_end_is_at_most_a_step(manager):
    manager.enrol(1)
    lease = manager.active(end=at(5), while_free_seconds=HOUR // 2)
    assert lease.before_end == at(4.5)
    lease = manager.change(lease, while_free_seconds=HOUR // 4)
    assert lease.before_end == at(4.75)


def test_the_action_before_the_end_comes_only_before_the_last_end(manager):
    manager.enrol(1)
    lease = manager.active(end=at(2), before_end=at(1.5), while_free_seconds=HOUR)
    manager.create(builders.a_lease(start=at(4), end=at(5)), STRANGER)
    manager.expect(lease, lifecycle.TERMINATED, at(4))
    assert [payload['end'] for payload in told(manager, 'lease.event.before_end_lease')
            if payload['lease_id'] == lease.id] == [at(4).isoformat()]


def test_a_lease_in_error_makes_its_last_step(manager, stepping):
    with manager.database.writer() as connection:
        connection.execute(sa.update(tables.LEASES).values(state=lifecycle.ERROR))
    manager.run_until(at(1))
    assert manager.lease(stepping).end == at(2)
    [payload] = told(manager)
    assert 'the lease is in error' in payload['reason']


def test_steps_add_no_rows_however_often_a_lease_is_extended(manager, stepping):
    manager.run_until(at(20))
    assert manager.lease(stepping).end == at(22)
    assert len(rows(manager, tables.LATER_ASKS)) == 1
    assert len(rows(manager, tables.ALLOCATIONS)) == 1
    events = [event for event in rows(manager, tables.EVENTS)
              if event.kind == event_kinds.EXTEND]
    assert len(events) == 1


def test_a_limit_ends_the_steps_and_is_the_reason(manager, stepping):
    limit_books.LimitBooks(manager.core).create(builders.an_admin(), None, {'limits': [
        {'name': 'short', 'measure': 'lease_length', 'most': '3h'},
        {'name': 'staff', 'measure': 'roles', 'roles': ['staff']}]})
    manager.run_until(at(1))
    assert manager.lease(stepping).end == at(3)
    manager.run_until(at(2.5))
    assert manager.lease(stepping).end == at(3)
    [payload] = told(manager)
    assert 'Limit "short" (leases of at most 3h)' in str(payload)


def test_maintenance_ends_the_steps(manager, stepping):
    [reservation] = stepping.reservations
    manager.client.create_maintenance(builders.an_admin(), maintenance_windows.MaintenanceRequest(
        pool='host', resources=tuple(str(key) for key in reservation.resource_ids),
        start=at(2.5), end=at(4), reason='new fans'))
    manager.run_until(at(1))
    assert manager.lease(stepping).while_free_seconds is None


def test_a_change_just_before_a_step_is_written_is_not_overwritten(manager, stepping, meddling):
    """The step is tried again with the new end."""
    other = acts.Second(manager, meddling, owner='other')
    manager.clock.now = at(1)

    def change():
        manager.change(stepping, end=at(6))
    assert other.claim() == 1
    meddling.before_writer = change
    other.finish()
    lease = manager.lease(stepping)
    assert (lease.end, lease.while_free_seconds) == (at(6), HOUR)
    manager.run_until(at(5))
    assert manager.lease(stepping).end == at(7)
