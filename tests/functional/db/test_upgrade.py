# SPDX-License-Identifier: Apache-2.0
"""The database of an earlier release is upgraded: nothing is lost, and what runs ends well."""
import itertools

import kept
import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.cmd import audit
from climate.db import migrate
from climate.db import tables
from climate.domain import acquire
from climate.domain import lifecycle
from climate.domain import records

hours, minutes = builders.hours, builders.minutes
UPGRADE = builders.NOON + hours(1)
ADMIN, DEMO = builders.an_admin(), builders.a_member()

# {minutes after the upgrade began: {state: the leases that are in it then}}.
COURSE = {
    2: {lifecycle.ACTIVE: ['is to start', 'cut short while it started', 'could not start',
                           'waits for its server', 'best effort, clears its host',
                           'best effort, has only a plan', 'runs on one host'],
        lifecycle.PENDING: ['is to put its server to sleep', 'wakes its server soon'],
        lifecycle.ACQUIRING: ['waits first, for four', 'waits second', 'is tried again'],
        lifecycle.TERMINATED: ['runs with a flavor', 'runs with a server that is gone',
                               'runs with room, affinity False', 'best effort, has its host']},
    26: {lifecycle.ACTIVE: ['starts soon with several', 'starts soon with room',
                            'starts soon with a flavor', 'wakes its server soon',
                            'is to put its server to sleep', 'is tried again',
                            'waits first, for four', 'runs for another project'],
         lifecycle.ACQUIRING: ['waits second', 'waits with several'],
         lifecycle.TERMINATED: ['runs on one host', 'runs with nothing', 'has the queue, 4',
                                'runs with a known server', 'started on a substitute']},
    45: {lifecycle.ACTIVE: ['starts later on two hosts'],
         lifecycle.TERMINATED: ['runs on three hosts', 'runs with several reservations',
                                'runs with room, affinity True', 'starts soon with several',
                                'runs with room, affinity None', 'could not start']},
    56: {lifecycle.ACTIVE: ['waits second', 'waits with several']},
}
NEVER_HAD = {'timed out': lifecycle.TIMEDOUT, 'tries used up': lifecycle.ERROR}


@pytest.fixture
def manager(conf, database, clock, tmp_path):
    """The manager that is started after the upgrade, a minute after the last one was ended."""
    builders.drop_everything(database)
    migrate.upgrade(database, kept.RELEASE)
    kept.load(database)
    migrate.upgrade(database)
    kept.restore_cloud(tmp_path / 'cloud.sqlite')
    conf.set_override('state', str(tmp_path / 'cloud.sqlite'), group='simulated')
    conf.set_override('lent_aggregate', 'lent', group='acquire')
    # A waiting lease is woken when resources are released, and needs no try each minute.
    conf.set_override('wait_look_seconds', 600, group='acquire')
    clock.now = UPGRADE + minutes(1)
    found = builders.Manager(conf, database, clock)
    yield found
    found.cloud.close()


def by_name(manager):
    """{name: Lease} of all leases, deleted ones too."""
    listed = manager.client.list_leases(ADMIN, records.LeaseQuery(deleted=True))
    return {each.name: manager.client.get_lease(ADMIN, each.id) for each in listed}


def given(lease):
    """{reservation id: sorted ids of the resources that it has}."""
    return {each.id: sorted(each.resource_ids) for each in lease.reservations}


def change(manager, name, **fields):
    """PUT: the lease of that name after LeaseChanges of those fields."""
    lease = by_name(manager)[name]
    return manager.client.update_lease(
        DEMO, lease.id, records.LeaseChanges(**fields))


def hosts(use, count):
    return builders.hosts(count, criteria=f'["=", "$use", "{use}"]')


def assert_nothing_is_allocated_twice(manager):
    with manager.database.reader() as connection:
        rows = connection.execute(sa.select(tables.ALLOCATIONS).where(
            tables.ALLOCATIONS.c.released_at.is_(None))).all()
    for one, other in itertools.combinations(rows, 2):
        assert (one.resource_id != other.resource_id or not (one.whole or other.whole)
                or one.end <= other.start or other.end <= one.start), (one, other)


def assert_no_drift(manager):
    assert audit.examine(manager.core, False, lambda seconds: None) == 0


def test_every_lease_reads_as_before(manager):
    found = by_name(manager)
    waiting = found['waits for its server']
    assert 'waits for its server, at most until' in waiting.reason
    # This reason is made by the read; no lease of the older release has it in its row.
    leases = [waiting.explained(None) if each is waiting else each for each in found.values()]
    reservations = [each for lease in leases for each in lease.reservations]
    acquisitions = [lease.acquisition for lease in leases if lease.acquisition]
    allocated = kept.resource_ids()
    assert kept.told(leases, kept.LEASE) == kept.fields('leases', kept.LEASE)
    assert kept.told(reservations, kept.RESERVATION) == kept.fields(
        'reservations', kept.RESERVATION)
    assert [given(lease) for lease in leases] == [
        {each.id: allocated.get(each.id, []) for each in lease.reservations} for lease in leases]
    assert kept.told([each for lease in leases for each in lease.events],
                     kept.EVENT) == kept.fields('events', kept.EVENT)
    assert kept.told(acquisitions, kept.ACQUISITION) == kept.fields(
        'acquisitions', kept.ACQUISITION, lambda row: row['type'] in acquire.LASTING)


@pytest.mark.proof
def test_every_history_reads_as_before(manager):
    for lease in by_name(manager).values():
        told = manager.client.lease_history(ADMIN, lease.id)
        assert kept.told(told, kept.HISTORY) == kept.fields(
            'history', kept.HISTORY, lambda row, key=lease.id: row['lease_id'] == key)


def test_resources_read_as_before(manager):
    found = manager.client.list_resources(ADMIN, 'host')
    assert kept.told(found, kept.RESOURCE) == kept.fields(
        'resources', kept.RESOURCE, lambda row: 'withdrawn_at' not in row)
    assert {(each.id, *pair) for each in found for pair in (
        *each.properties.items(), *each.facts.items())} == kept.property_values()
    assert kept.told(manager.client.list_properties(ADMIN, 'host'), (
        'id', 'name', 'private')) == kept.fields(
            'properties', ('id', 'name', 'private'), lambda row: not row['fact'])


def test_unsent_notifications_are_sent_as_they_were_written(manager):
    with manager.database.reader() as connection:
        assert connection.execute(sa.select(
            tables.OUTBOX.c.id, tables.OUTBOX.c.event_type, tables.OUTBOX.c.payload).order_by(
                tables.OUTBOX.c.id)).all() == [
            (row['id'], row['event_type'], row['payload']) for row in kept.ROWS['outbox']]


@pytest.mark.proof
def test_allocations_stay_allocated(manager):
    known, now = set(kept.resource_ids()), kept.as_text(manager.clock())
    shown = [each for _, found in manager.client.list_allocations(ADMIN, 'host')
             for each in found if kept.as_text(each.end) > now]
    offered = {part.id for offer in manager.client.list_offers(DEMO) for part in offer.request}
    assert kept.told(shown, kept.ALLOCATION) == kept.fields(
        'allocations', kept.ALLOCATION, lambda row: row['reservation_id'] in known - offered
        and 'released_at' not in row and row['end'] > now)
    later = {'start': UPGRADE + minutes(41), 'end': UPGRADE + minutes(50)}
    # Two of the seven are allocated to others then.
    with pytest.raises(errors.NotEnough):
        manager.book(hosts('whole', 6), **later)
    manager.book(hosts('whole', 5), **later)
    assert_nothing_is_allocated_twice(manager)


@pytest.mark.proof
def test_leases_that_run_across_the_upgrade_end_well(manager):
    _boot_what_is_waited_for(manager)
    for at, course in COURSE.items():
        manager.run_until(UPGRADE + minutes(at))
        manager.expire()
        leases = by_name(manager)
        assert {name: leases[name].state for names in course.values() for name in names} == {
            name: state for state, names in course.items() for name in names}, at
        assert_nothing_is_allocated_twice(manager)
        assert_no_drift(manager)
    manager.run_until(UPGRADE + hours(2))
    leases = by_name(manager)
    assert {name: each.state for name, each in leases.items()} == {
        name: NEVER_HAD.get(name, lifecycle.TERMINATED) for name in leases}
    assert leases['runs with room, affinity False'].deleted_at is not None
    _is_as_if_nothing_had_been(manager)


def _boot_what_is_waited_for(manager):
    lease = by_name(manager)['waits for its server']
    manager.cloud.boot('demo', 'awaited', {'reservation': list(given(lease))}, flavor='1',
                       metadata={'climate:lease_id': lease.id})


def _is_as_if_nothing_had_been(manager):
    """Check that no lease has left anything in the database or in the cloud."""
    assert_no_drift(manager)
    services, found = manager.cloud.as_service(), manager.client.list_resources(ADMIN, 'host')
    assert {(each.held_by, each.lent_to) for each in found} == {(None, None)}
    assert {each.name: set(each.hosts) for each in services.nova.aggregates()} == {
        'freepool': {each.name for each in found}, 'lent': {'lent-1', 'lent-2', 'lent-3'}}
    assert services.keystone.trusts() == []
    left = manager.cloud.leftovers()
    assert not any(left[kind] for kind in (
        'flavor_access', 'server_groups', 'server_metadata', 'inventories'))
    assert {each.name for each in manager.cloud.servers('other')} == {
        'theirs-1', 'theirs-2', 'theirs-3'}
    assert not any(each.end > manager.clock() for _, allocations in
                   manager.client.list_allocations(ADMIN, 'host') for each in allocations)


@pytest.mark.proof
def test_a_lease_whose_time_is_changed_keeps_what_it_has(manager):
    manager.run_until(UPGRADE + minutes(3))
    before = by_name(manager)
    after = {name: change(manager, name, **fields) for name, fields in (
        ('runs with several reservations', {'end': UPGRADE + minutes(50)}),
        ('runs on three hosts', {'end': UPGRADE + minutes(35)}),
        ('runs with room, affinity True', {'end': UPGRADE + minutes(45)}),
        ('starts soon with several', {'start': UPGRADE + minutes(22)}),
        ('starts later on two hosts', {'end': UPGRADE + minutes(70)}),
        ('could not start', {'end': UPGRADE + minutes(50)}))}
    assert {name: given(lease) for name, lease in after.items()} == {
        name: given(before[name]) for name in after}
    manager.run_until(UPGRADE + minutes(42))
    now = by_name(manager)
    for name, lease in after.items():
        assert now[name].state == (lifecycle.ACTIVE if lease.end > manager.clock()
                                   else lifecycle.TERMINATED), name
    assert_no_drift(manager)


@pytest.mark.proof
def test_a_lease_gets_more_beside_what_it_has(manager):
    manager.run_until(UPGRADE + minutes(3))
    for name, place, request in (('runs on three hosts', 0, {'min': 3, 'max': 3}),
                                 ('runs with several reservations', 1, {'amount': 2})):
        before = by_name(manager)[name]
        asked = records.ReservationRequest(None, request, id=before.reservations[place].id)
        change(manager, name, reservations=(asked,))
        manager.run()
        after = by_name(manager)[name]
        assert after.reservations[place].resource_ids != before.reservations[place].resource_ids
        for now, then in zip(after.reservations, before.reservations, strict=True):
            assert set(now.resource_ids) >= set(then.resource_ids)
    assert_no_drift(manager)


@pytest.mark.proof
def test_a_host_that_breaks_before_its_lease_starts_is_replaced_by_another(manager):
    lease = by_name(manager)['starts later on two hosts']
    broken, whole = lease.reservations[0].resource_ids
    manager.client.update_resource(ADMIN, 'host', broken, {}, reservable=False)
    manager.run_until(UPGRADE + minutes(41))
    lease = by_name(manager)['starts later on two hosts']
    assert lease.state == lifecycle.ACTIVE, lease.reason
    assert broken not in lease.reservations[0].resource_ids
    assert whole in lease.reservations[0].resource_ids


@pytest.mark.proof
def test_offers_that_are_held_are_held_on_until_they_expire_and_are_taken(manager):
    offers = manager.client.list_offers(DEMO)
    assert kept.told(offers, kept.OFFER) == kept.fields(
        'offers', kept.OFFER, lambda row: 'place' in row)
    first, second = (manager.client.get_offer(DEMO, each.id) for each in offers)
    manager.run_until(UPGRADE + minutes(10))
    manager.expire()
    with pytest.raises(errors.OfferExpired):
        manager.take(first)
    taken = manager.take(second)
    allocated = kept.resource_ids()
    assert given(taken) == {part.id: allocated[part.id] for part in second.request}
    manager.expect(taken, lifecycle.ACTIVE, UPGRADE + minutes(21))


@pytest.mark.proof
def test_a_request_that_was_answered_before_is_answered_with_the_same_lease(manager):
    [row] = kept.ROWS['idempotency_keys']
    again = manager.book(idempotency_key=row['key'], request_hash=row['request_hash'])
    assert again.id == row['lease_id'] == by_name(manager)['starts later on two hosts'].id


@pytest.mark.parametrize('version', ['1.0', 'latest'])
def test_every_lease_is_shown_over_rest(manager, conf, version):
    api = builders.Api(conf, manager)
    shown = api.get('/v1/leases', version=version).json['leases']
    assert {each['id'] for each in shown} == {
        row['id'] for row in kept.ROWS['leases']
        if row['project_id'] == 'demo' and 'deleted_at' not in row}
    for each in shown:
        assert api.get(f'/v1/leases/{each["id"]}', version=version).json['lease'] == each
