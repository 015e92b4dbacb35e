# SPDX-License-Identifier: Apache-2.0
"""The stage of a lease: objects of its start that are created before it and not usable yet."""
import pytest
from support import builders
from support import cloud_points

from climate import errors
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records

NOON, hours = builders.NOON, builders.hours
LATER = {'start': NOON + hours(2), 'end': NOON + hours(4)}
SIZES = {'vcpus': 2, 'memory_mb': 2048, 'disk_gb': 10, 'amount': 2, 'affinity': None}
# The calls that give the project access. Each start checks that the hosts are up.
OPENING_CALLS = {
    'virtual:instance': {'nova.services': 1, 'nova.add_host': 1, 'placement.set_slots': 1,
                         'nova.allow_flavor': 1},
    'flavor:instance': {'nova.services': 1, 'nova.add_host': 1, 'placement.set_slots': 1,
                        'nova.allow_flavor': 1},
    'physical:host': {'nova.services': 1, 'nova.aggregates': 1, 'nova.add_host': 1,
                      'nova.remove_host': 1},
}
REQUESTS = {'virtual:instance': {**SIZES, 'affinity': True},
            'flavor:instance': {'flavor_id': '2', 'amount': 1, 'affinity': None},
            'physical:host': {'min': 1, 'max': 1}}


@pytest.fixture
def pool(manager):
    manager.enrol(2)
    return manager


def sized(**more):
    return records.ReservationRequest('virtual:instance', {**SIZES, **more})


def later(pool, *reservations):
    """A lease for later, as it is once it was staged."""
    lease = pool.book(*reservations, **LATER)
    pool.run_until(LATER['start'] - builders.minutes(2))
    lease = pool.lease(lease)
    assert lease.event(event_kinds.STAGE).status == lifecycle.EVENT_DONE
    return lease


def started(pool, lease):
    return pool.expect(lease, lifecycle.ACTIVE, LATER['start'])


def made(pool, lease):
    """(hosts in the aggregate, the private flavor, whether demo may use it) of a lease."""
    [reservation] = lease.reservations
    services = pool.cloud.as_service()
    flavors = {each.id: each for each in services.flavors.every()}
    return (services.nova.aggregate(reservation.id).hosts, flavors.get(reservation.id),
            services.flavors.flavor(reservation.id, 'demo') is not None)


@pytest.mark.parametrize('resource_type', sorted(OPENING_CALLS))
def test_a_start_makes_only_the_calls_that_open_the_door(pool, resource_type):
    before = pool.cloud.leftovers()
    lease = later(pool, records.ReservationRequest(resource_type, REQUESTS[resource_type]))
    calls = []
    pool.cloud.faults.on_point = lambda name, when: calls.append((name, when))
    lease = started(pool, lease)
    pool.cloud.faults.on_point = None
    made = [name for name, when in calls if when == 'before' and not name.startswith('keystone')]
    wanted = dict(OPENING_CALLS[resource_type])
    if REQUESTS[resource_type].get('affinity'):
        wanted['nova.server_group'] = 1
    assert {name: made.count(name) for name in made} == wanted
    pool.expect(lease, lifecycle.TERMINATED, LATER['end'] + hours(1))
    assert pool.cloud.leftovers() == before


def test_staged_objects_are_invisible(pool):
    lease = later(pool, sized())
    hosts, flavor, may_use = made(pool, lease)
    assert (hosts, flavor.vcpus, may_use) == ((), 2, False)
    assert lease.state == lifecycle.PENDING
    told = [each.what for each in pool.client.lease_history(builders.a_member(), lease.id)]
    assert told == ['create']
    with pytest.raises(errors.NotFound):
        pool.cloud.boot('demo', 'one', flavor=lease.reservations[0].id)


def test_a_request_that_changes_after_it_was_staged_is_staged_anew(pool):
    lease = later(pool, sized())
    pool.change_reservation(lease, vcpus=4)
    lease = started(pool, lease)
    hosts, flavor, may_use = made(pool, lease)
    assert (len(hosts), flavor.vcpus, may_use) == (1, 4, True)


def test_a_request_that_changes_in_the_last_moment_starts_as_it_is_then(pool):
    lease = later(pool, sized())
    pool.run_until(LATER['start'] - builders.seconds(5))
    pool.change_reservation(lease, vcpus=4)
    _, flavor, may_use = made(pool, started(pool, lease))
    assert (flavor.vcpus, may_use) == (4, True)


@pytest.mark.parametrize('asked', [sized(), builders.hosts(1)])
def test_a_staged_lease_that_is_deleted_leaves_nothing(pool, asked):
    before, freepool = pool.cloud.leftovers(), set(
        pool.cloud.as_service().nova.aggregate('freepool').hosts)
    lease = later(pool, asked)
    pool.delete(lease)
    pool.run()
    assert pool.cloud.leftovers() == before
    assert [(each.name, set(each.hosts)) for each in pool.cloud.aggregates()] == [
        ('freepool', freepool)]


@pytest.mark.parametrize('asked', [sized(), builders.hosts(1)])
def test_a_start_recreates_staged_objects_that_somebody_deleted(pool, asked):
    lease = later(pool, asked)
    nova = pool.cloud.as_service().nova
    nova.delete_aggregate(nova.aggregate(lease.reservations[0].id))
    pool.cloud.as_service().flavors.delete(lease.reservations[0].id)
    pool.expect(lease, lifecycle.ACTIVE, LATER['start'] + builders.minutes(1))
    assert len(made(pool, lease)[0]) == 1


def test_a_failed_stage_is_left_to_the_start(pool):
    pool.cloud.fail('nova.create_aggregate', 1000, errors.CloudError(service='Nova', reason='no'))
    lease = pool.book(sized(), **LATER)
    pool.run_until(LATER['start'] - builders.seconds(1))
    lease = pool.lease(lease)
    assert (lease.state, lease.reason) == (lifecycle.PENDING, None)
    pool.cloud.fail('nova.create_aggregate', 0, None)
    started(pool, lease)


def test_a_start_creates_everything_if_staging_is_off(pool):
    pool.core.conf.set_override('stage_seconds', 0, group='manager')
    lease = pool.book(sized(), **LATER)
    assert lease.event(event_kinds.STAGE) is None
    started(pool, lease)


def test_a_lease_that_starts_later_than_it_was_staged_for_stays_staged(pool):
    lease = later(pool, sized())
    pool.change(lease, start=LATER['start'] + hours(1))
    pool.run_until(LATER['start'])
    assert made(pool, pool.lease(lease))[0] == ()
    pool.expect(lease, lifecycle.ACTIVE, LATER['start'] + hours(1))


def flavor_of(pool, lease):
    return made(pool, lease)[1]


@pytest.mark.parametrize('seconds', [115, 5])
def test_a_changed_request_leaves_no_staged_objects(pool, seconds):
    """The result is the same with and without time for another stage."""
    pool.cloud.add_flavor('a', 'a', extra_specs={'quota:cpu_quota': '1000'})
    pool.cloud.add_flavor('b', 'b')
    lease = later(pool, builders.flavor_instances(flavor_id='a'))
    pool.run_until(LATER['start'] - builders.seconds(seconds))
    pool.change_reservation(lease, flavor_id='b')
    assert 'quota:cpu_quota' not in flavor_of(pool, started(pool, lease)).extra_specs


def test_an_affinity_that_is_taken_back_leaves_no_group(pool):
    before = pool.cloud.leftovers()
    lease = later(pool, sized(affinity=True))
    pool.cloud.fail('nova.delete_server_group', 1, errors.CloudError(service='Nova', reason='no'))
    pool.change_reservation(lease, affinity=None)
    lease = started(pool, lease)
    assert 'affinity_id' not in flavor_of(pool, lease).extra_specs
    nova = pool.cloud.as_service().nova
    assert 'affinity_id' not in nova.aggregate(lease.reservations[0].id).metadata
    pool.run_until(LATER['end'] + hours(1))
    assert pool.cloud.leftovers() == before


def test_a_change_during_a_stage_starts_as_it_is_then(pool):
    lease = pool.book(sized(), **LATER)

    def work():
        pool.change_reservation(lease, vcpus=4)
        # Another manager looks for something to do while the stage is slow.
        assert pool.event_loop.tick(pool.clock()) == 0
    did = cloud_points.once_at(pool.cloud, 'nova.create_flavor', work)
    assert flavor_of(pool, started(pool, lease)).vcpus == 4
    assert did


@pytest.mark.parametrize(('asked', 'point', 'changes'), [
    (sized(), 'nova.create_flavor', {}),
    (builders.hosts(1), 'nova.create_aggregate', {'start': LATER['start'] + hours(0.5)})])
def test_a_lease_that_is_changed_and_deleted_during_its_stage_leaves_nothing(
        pool, asked, point, changes):
    before = pool.cloud.leftovers()
    lease = pool.book(asked, **LATER)

    def work():
        if changes:
            pool.change(lease, **changes)
        else:
            pool.change_reservation(lease, vcpus=4)
        pool.delete(lease)
        pool.run()
    did = cloud_points.once_at(pool.cloud, point, work)
    pool.run_until(LATER['start'] + hours(1))
    assert did
    assert pool.cloud.leftovers() == before
    assert [each.name for each in pool.cloud.aggregates()] == ['freepool']


def test_a_stage_that_is_overtaken_by_a_change_writes_nothing_over_it(pool):
    lease = pool.book(sized(affinity=True), **LATER)

    def work():
        pool.clock.now = LATER['start'] - builders.seconds(6)
        pool.event_loop.prolong()
        pool.change_reservation(lease, affinity=False)
    did = cloud_points.once_at(pool.cloud, 'nova.create_flavor', work)
    pool.run_until(LATER['start'] - builders.seconds(2))
    [reservation] = pool.lease(lease).reservations
    assert did
    assert pool.cloud.as_service().flavors.has_group(reservation.binding['server_group_id'])


def test_a_stage_that_is_late_stops_for_the_start(pool):
    lease = pool.book(sized(), **LATER)

    def work():
        pool.clock.now = LATER['start']
        pool.event_loop.prolong()
    did = cloud_points.once_at(pool.cloud, 'nova.create_aggregate', work)
    pool.run_until(LATER['start'] + builders.minutes(1))
    assert did
    assert pool.lease(lease).state == lifecycle.ACTIVE


def test_no_answer_shows_what_is_staged(pool, conf):
    lease = later(pool, sized())
    api = builders.Api(conf, pool)
    without = builders.Api(conf, pool, plugins={})
    for version in ('1.0', '1.1'):
        for each in (api, without):
            [shown] = each.get(f'/v1/leases/{lease.id}', version=version).json['lease'][
                'reservations']
            assert records.STAGED not in shown
