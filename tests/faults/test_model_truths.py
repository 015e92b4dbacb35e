# SPDX-License-Identifier: Apache-2.0
"""The invariants of the model fail after an action that breaks them."""
import model_cloud
import model_idle
import model_lifecycles
import model_records
import model_truths
import pytest
import sqlalchemy as sa
from support import builders

from climate.db import tables
from climate.domain import event_kinds
from climate.domain import records
from climate.domain.clearing import plans

LATER = {'start': builders.at(2), 'end': builders.at(3)}


@pytest.fixture
def lease(manager):
    """A lease of a host that runs, beside one of another host to come; all is true of them."""
    manager.enrol(2)
    found = manager.book()
    manager.book(**LATER)
    manager.run()
    _look(manager)
    return manager.lease(found)


def _look(manager, cleaning=0, booted_for=None):
    recorded = model_records.read(manager.database)
    model_truths.check(recorded, None, manager.clock(), builders.minutes(cleaning))
    model_cloud.check(manager.cloud, recorded, booted_for or {})


def write(manager, statement):
    with manager.database.writer() as connection:
        connection.execute(statement)


def _refused(manager, words, **options):
    with pytest.raises(AssertionError, match=words):
        _look(manager, **options)


def test_rows_are_read_oldest_first_wherever_the_database_has_them(manager, lease):
    ids = list(model_records.read(manager.database).leases)
    for place, lease_id in enumerate(reversed(ids)):
        # PostgreSQL moves an updated row to another place.
        write(manager, sa.update(tables.LEASES).where(tables.LEASES.c.id == lease_id).values(
            created_at=builders.NOON + builders.minutes(place)))
    assert list(model_records.read(manager.database).leases) == ids[::-1]


def test_a_host_given_twice_is_seen(manager, lease):
    start = tables.ALLOCATIONS.c.start
    write(manager, sa.update(tables.ALLOCATIONS).values(
        resource_id=lease.reservations[0].resource_ids[0],
        start=sa.case((start > builders.NOON, lease.end - builders.minutes(1)), else_=start)))
    _refused(manager, 'given twice')


def test_a_host_that_is_not_cleaned_is_seen(manager, lease):
    write(manager, sa.update(tables.ALLOCATIONS).values(
        resource_id=lease.reservations[0].resource_ids[0]))
    _look(manager, cleaning=60)
    _refused(manager, 'Not cleaned', cleaning=61)


@pytest.mark.parametrize(('kind', 'words'), [(event_kinds.END, 'will never end'),
                                             (event_kinds.START, 'will never start')])
def test_an_event_that_is_missing_is_seen(manager, lease, kind, words):
    write(manager, sa.delete(tables.EVENTS).where(tables.EVENTS.c.kind == kind,
                                                  tables.EVENTS.c.status == 'UNDONE'))
    _refused(manager, words)


def test_a_host_that_nobody_holds_is_seen(manager, lease):
    write(manager, sa.update(tables.RESOURCES).values(held_by=None))
    _refused(manager, 'and holds')


def test_an_object_without_a_lease_is_seen(manager, lease):
    write(manager, sa.update(tables.RESERVATIONS).where(
        tables.RESERVATIONS.c.lease_id == lease.id).values(state='deleted'))
    recorded = model_records.read(manager.database)
    with pytest.raises(AssertionError, match='is over, and the cloud has something of it'):
        model_cloud.check(manager.cloud, recorded, {})


def test_a_stranger_on_a_leased_host_is_seen(manager, lease):
    server = manager.cloud.boot('demo', 'vm', {'reservation': lease.reservations[0].id})
    _look(manager, booted_for={server.id: lease.reservations[0].id})
    _refused(manager, 'is of nobody')


def test_a_host_outside_the_freepool_is_seen(manager, lease):
    nova = manager.cloud.as_service().nova
    nova.remove_hosts(nova.aggregate('freepool'), ['compute-2'])
    _refused(manager, 'not in the freepool')


@pytest.mark.parametrize('double', [True, False])
def test_a_notification_that_is_lost_or_doubled_is_seen(manager, lease, double):
    manager.run_until(LATER['end'])
    recorded = model_records.read(manager.database)
    model_lifecycles.what_happened_is_told(recorded, model_lifecycles.told(manager.database))
    ends = tables.OUTBOX.c.event_type == 'lease.event.end_lease'
    with manager.database.writer() as connection:
        row = connection.execute(sa.select(tables.OUTBOX).where(ends)).first()
        if double:
            connection.execute(sa.insert(tables.OUTBOX).values(
                at=row.at, event_type=row.event_type, payload=row.payload))
        else:
            connection.execute(sa.delete(tables.OUTBOX).where(tables.OUTBOX.c.id == row.id))
    with pytest.raises(AssertionError, match=f'has {2 if double else 0} notifications, not 1'):
        model_lifecycles.what_happened_is_told(recorded, model_lifecycles.told(manager.database))


@pytest.fixture
def waiting(manager, lease):
    """A lease that waits for more hosts than are free; one is held back for it."""
    found = manager.book(
        builders.hosts(2), duration_seconds=3600,
        acquire=records.AcquireRequest('wait', not_after=builders.at(1)))
    manager.run()
    _look(manager)
    return found


def test_a_lease_that_waits_and_is_not_tried_any_more_is_seen(manager, waiting):
    write(manager, sa.delete(tables.EVENTS).where(tables.EVENTS.c.lease_id == waiting.id))
    _refused(manager, 'is forgotten')


def test_a_lease_that_waits_and_stands_in_no_line_is_seen(manager, waiting):
    write(manager, sa.update(tables.ACQUISITIONS).values(waits_for=None))
    with pytest.raises(AssertionError):
        _look(manager)


def test_a_lease_that_was_given_up_and_has_something_is_seen(manager, lease):
    later = manager.book(start=builders.at(5), end=builders.at(6))
    write(manager, sa.insert(tables.ACQUISITIONS).values(
        lease_id=later.id, type='wait', notify_at=[], created_at=builders.NOON))
    write(manager, sa.delete(tables.EVENTS).where(tables.EVENTS.c.lease_id == later.id))
    write(manager, sa.update(tables.LEASES).values(state='TIMEDOUT').where(
        tables.LEASES.c.id == later.id))
    _refused(manager, 'was not acquired, and has something')


def _others(manager, strangers=(), disabled=None):
    recorded = model_records.read(manager.database)
    model_cloud.nobody_else_suffers(manager.cloud, recorded, strangers, disabled or {})


def test_a_server_of_others_that_is_lost_is_seen(manager):
    server = manager.cloud.boot('other', 'vm')
    _others(manager, [server.id])
    manager.cloud.delete_server(server.id)
    with pytest.raises(AssertionError, match='was lost'):
        _others(manager, [server.id])


def test_a_service_that_was_enabled_behind_its_administrator_is_seen(manager):
    manager.cloud.mark_host('compute-1', enabled=False, reason='ill')
    _others(manager, disabled={'compute-1': 'ill'})
    manager.cloud.mark_host('compute-1', enabled=True)
    with pytest.raises(AssertionError, match='an administrator has disabled it'):
        _others(manager, disabled={'compute-1': 'ill'})


def test_a_disabled_service_without_a_clearing_is_seen(manager, waiting):
    manager.cloud.as_service().computes.disable('compute-1', plans.fence_of(waiting.id))
    _others(manager)
    manager.delete(waiting)
    manager.run()
    with pytest.raises(AssertionError):
        _others(manager)


def test_an_allocation_to_nobody_is_seen(manager, lease):
    start = builders.at(5)
    offer = manager.hold(builders.a_lease(start=start, end=start + builders.hours(1)))
    _look(manager)
    write(manager, sa.update(tables.OFFERS).where(tables.OFFERS.c.id == offer.id).values(
        place=None))
    _refused(manager, 'is to nobody')


def test_a_lease_that_was_taken_back_with_a_server_on_it_is_seen(manager, lease):
    server = manager.cloud.boot('demo', 'vm', {'reservation': lease.reservations[0].id})
    recorded, booted = model_records.read(manager.database), {server.id: lease.reservations[0].id}
    model_idle.nothing_in_use_is_taken_back(set(), recorded, booted, {server.id})
    model_idle.nothing_in_use_is_taken_back({lease.id}, recorded, booted, set())
    with pytest.raises(AssertionError, match='was reclaimed with server'):
        model_idle.nothing_in_use_is_taken_back({lease.id}, recorded, booted, {server.id})


def test_an_exempt_lease_that_was_taken_back_is_seen(manager, lease):
    model_idle.nothing_exempt_is_taken_back(
        model_idle.taken_back(manager.database), {lease.id: 0})
    write(manager, sa.insert(tables.HISTORY).values(
        lease_id=lease.id, at=builders.NOON, who='climate', what=event_kinds.RECLAIM,
        why='Nothing ran on it since 2030-05-01 12:00 UTC, so it ends now.'))
    with pytest.raises(AssertionError, match='is exempt, and was reclaimed'):
        model_idle.nothing_exempt_is_taken_back(
            model_idle.taken_back(manager.database), {lease.id: 0})


@pytest.fixture
def staged(manager, lease):
    """A lease of instances that is staged and has not begun."""
    found = manager.book(
        builders.instances(vcpus=2, memory_mb=1024),
        start=LATER['end'], end=LATER['end'] + builders.hours(1))
    manager.run_until(LATER['end'] - builders.minutes(1))
    _look(manager)
    return manager.lease(found).reservations[0]


def test_a_host_in_the_aggregate_of_a_lease_to_come_is_seen(manager, staged):
    nova = manager.cloud.as_service().nova
    nova.add_hosts(nova.aggregate(staged.id), nova.aggregate('freepool').hosts[:1])
    _refused(manager, 'is of a lease to come')


def test_a_flavor_that_may_be_used_too_early_is_seen(manager, staged):
    manager.cloud.as_service().flavors.allow(staged.id, 'demo')
    _refused(manager, 'may use .* of a lease to come')


def test_a_flavor_of_other_sizes_than_were_leased_is_seen(manager, staged):
    manager.run_until(LATER['end'])
    _look(manager)
    with manager.cloud.state() as connection:
        connection.execute('UPDATE flavors SET vcpus = 1 WHERE id = ?', (staged.id,))
    _refused(manager, 'is not of')
