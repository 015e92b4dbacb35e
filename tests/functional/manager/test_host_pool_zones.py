# SPDX-License-Identifier: Apache-2.0
"""Hosts of a cloud with availability zones: they are enrolled with their zone, and keep it."""
import acts
import pytest
import stacks
from support import builders
from support import thinning

from climate import errors
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.audit import comparison
from climate.manager.audit import repairs
from climate.plugins.compute import aggregates

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def _zone_of(manager, host):
    return acts.nova(manager).hypervisor(host).availability_zone


@pytest.fixture
def zones(manager):
    """Two hosts in each of two zones, and two in none; all of them are enrolled."""
    nova = acts.nova(manager)
    for zone, names in {'az1': ('compute-1', 'compute-2'),
                        'az2': ('compute-3', 'compute-4')}.items():
        nova.add_hosts(nova.ensure_aggregate(f'hosts of {zone}', zone=zone), names)
    manager.enrol(6)
    return manager


def _leased(manager, count=1, criteria=None, start=NOON, **more):
    request = builders.hosts(count, **{**({} if criteria is None else {
        'resource_properties': criteria}), **more})
    lease = manager.book(request, start=start, end=start + hours(4))
    return manager.expect(lease, lifecycle.ACTIVE, start + minutes(1))


def _in_zone(*names):
    parts = ', '.join(f'["=", "$availability_zone", "{name}"]' for name in names)
    return f'["or", {parts}]' if len(names) > 1 else parts


def _boots(manager, lease):
    """The owner's server lands on the hosts of the lease; nobody else's does."""
    own = acts.aggregate(manager, lease)
    hint = {'reservation': own.name}
    assert manager.cloud.boot('demo', 'mine', hint).host in own.hosts
    for host in own.hosts:
        for project, others in (('demo', None), ('eve', hint), ('demo', {'reservation': 'r9'})):
            with pytest.raises(errors.Conflict):
                manager.cloud.boot(project, 'not there', others, host=host)


@pytest.mark.parametrize('later', thinning.few([hours(0), hours(2)], 1))
@pytest.mark.parametrize(('names', 'hosts'), [
    (('az1',), {'compute-1', 'compute-2'}), (('az2',), {'compute-3', 'compute-4'}),
    (('az1', 'az2'), {'compute-1', 'compute-2', 'compute-3', 'compute-4'})])
def test_hosts_of_zones_are_leased_by_zone_and_keep_it(zones, names, hosts, later):
    lease = _leased(zones, len(hosts), _in_zone(*names), NOON + later)
    own = acts.aggregate(zones, lease)
    assert (own.zone, set(own.hosts)) == (None, hosts)
    assert {_zone_of(zones, each) for each in hosts} == set(names)
    _boots(zones, lease)
    zones.expect(lease, lifecycle.TERMINATED, lease.end + minutes(5))
    assert acts.aggregate(zones, lease) is None
    assert len(acts.freepool(zones)) == 6
    assert {_zone_of(zones, each) for each in hosts} == set(names)


def test_hosts_without_a_zone_get_that_of_their_reservation(zones):
    lease = _leased(zones, 2, _in_zone('nova'))
    own = acts.aggregate(zones, lease)
    assert (own.zone, set(own.hosts)) == (f'climate_{own.name}', {'compute-5', 'compute-6'})
    _boots(zones, lease)


def test_a_lease_of_hosts_with_and_without_a_zone_has_none(zones):
    lease = _leased(zones, 6)
    assert acts.aggregate(zones, lease).zone is None
    assert _zone_of(zones, 'compute-1') == 'az1'
    _boots(zones, lease)


def test_with_never_no_lease_has_a_zone(zones, conf):
    conf.set_override('reservation_zone', 'never', group='nova')
    lease = _leased(zones, 2, _in_zone('nova'))
    assert acts.aggregate(zones, lease).zone is None
    assert _zone_of(zones, 'compute-5') == 'nova'
    _boots(zones, lease)


def test_with_always_a_host_in_a_zone_is_not_enrolled(manager, conf):
    conf.set_override('reservation_zone', 'always', group='nova')
    nova = acts.nova(manager)
    nova.add_hosts(nova.ensure_aggregate('east', zone='east'), ['compute-1'])
    with pytest.raises(errors.ResourceInUse, match='reservation_zone = where_none'):
        manager.enrol(1)


def test_a_lease_grows_into_another_zone_and_its_host_is_swapped(zones):
    lease = _leased(zones, 2, _in_zone('az1', 'az2'))
    zones.change_reservation(lease, min=3, max=3)
    zones.run()
    assert len(acts.aggregate(zones, lease).hosts) == 3
    name = acts.aggregate(zones, lease).hosts[0]
    zones.client.swap_resource(builders.a_member(), lease.id, name)
    zones.run()
    own = acts.aggregate(zones, lease)
    assert len(own.hosts) == 3
    assert name not in own.hosts
    _boots(zones, zones.lease(lease))


@pytest.fixture
def without_zone(zones):
    """A lease of compute-5, which is in no zone; of that kind, no other host is free."""
    other = zones.book(builders.hosts(
        1, resource_properties='["=", "$hypervisor_hostname", "compute-6"]'))
    lease = _leased(zones, 1, _in_zone('nova'), max=1)
    zones.change_reservation(lease, resource_properties='')
    zones.run()
    assert acts.aggregate(zones, lease).hosts == ('compute-5',)
    return lease, other


def _swap(manager, lease):
    manager.client.swap_resource(builders.a_member(), lease.id, 'compute-5')


def _grow(manager, lease):
    manager.change_reservation(lease, min=2, max=2)


@pytest.mark.parametrize('change', [_swap, _grow])
def test_a_change_takes_no_host_that_nova_refuses_for_its_zone(zones, without_zone, change):
    lease, other = without_zone
    with pytest.raises(errors.NotEnough, match='availability_zone'):
        change(zones, lease)
    zones.run()
    assert acts.aggregate(zones, lease).hosts == ('compute-5',)
    assert zones.lease(lease).state == lifecycle.ACTIVE
    zones.delete(other)
    zones.run()
    change(zones, lease)
    zones.run()
    assert 'compute-6' in acts.aggregate(zones, lease).hosts
    assert zones.lease(lease).state == lifecycle.ACTIVE
    _boots(zones, zones.lease(lease))


def test_a_host_is_swapped_while_nova_does_not_answer(zones, without_zone):
    lease, other = without_zone
    zones.delete(other)
    zones.run()
    zones.cloud.faults.fail('nova.aggregates', 1, errors.CloudUnreachable(
        service='Nova', reason='no'))
    _swap(zones, lease)
    zones.run()
    zones.expect(lease, lifecycle.ACTIVE, NOON + minutes(30))
    assert acts.aggregate(zones, lease).hosts == ('compute-6',)


def test_a_host_with_a_server_is_not_handed_over(zones):
    lease = zones.book(
        builders.hosts(1, resource_properties=_in_zone('az1')), start=NOON + hours(1),
        end=NOON + hours(2))
    zones.cloud.boot('others', 'stray', host='compute-1', forced=True)
    lease = zones.expect(lease, lifecycle.ACTIVE, NOON + hours(1) + minutes(1))
    assert acts.aggregate(zones, lease).hosts == ('compute-2',)


def test_a_closed_aggregate_without_a_zone_lets_nobody_in(zones):
    lease = _leased(zones, 1, _in_zone('az1'))
    own = acts.aggregate(zones, lease)
    aggregates.close(zones.core.conf, acts.nova(zones), own)
    for hint in (None, {'reservation': own.name}):
        with pytest.raises(errors.Conflict):
            zones.cloud.boot('demo', 'late', hint, host=own.hosts[0])


@pytest.mark.parametrize(('first', 'second'), [('compute-1', 'compute-5'),
                                               ('compute-5', 'compute-1')])
def test_a_substitute_after_the_staging_may_be_in_another_zone(zones, first, second):
    hosts = {each.name: each for each in zones.client.list_resources(builders.an_admin(), 'host')}
    acts.disable(zones, hosts[second])
    criteria = f'["or", {acts.named(hosts[first])}, {acts.named(hosts[second])}]'
    lease = zones.book(
        builders.hosts(1, resource_properties=criteria), start=NOON + hours(1),
        end=NOON + hours(2))
    zones.run_until(NOON + hours(1) - builders.seconds(5))
    assert acts.aggregate(zones, lease).hosts == ()
    acts.enable(zones, hosts[second])
    zones.cloud.mark_host(first, up=False)
    lease = zones.expect(lease, lifecycle.ACTIVE, NOON + hours(1) + minutes(1))
    own = acts.aggregate(zones, lease)
    assert (own.hosts, own.zone) == (
        (second,), None if second == 'compute-1' else f'climate_{own.name}')
    assert own.metadata == {'climate:owner': 'demo', 'climate:reservation': own.name}
    assert [each.name for each in acts.nova(zones).aggregates()].count(own.name) == 1
    zones.cloud.mark_host(first, up=True)
    _boots(zones, lease)


def _server(zone):
    """A request for a server that is booted with its lease, as the middleware sends it."""
    return builders.a_server(
        flavor_id='2', resource_properties=f'["==", "$availability_zone", "{zone}"]')


def _sleeps_and_wakes(manager, request, server):
    """The server that a lease for later is bound to, after the start."""
    lease = manager.book(request, start=NOON + hours(2), end=NOON + hours(4))
    if request.request['resource_id'] is None:
        manager.client.bind_reservation(builders.a_member(), lease.reservations[0].id, server.id)
    manager.run_until(NOON + hours(1))
    found = manager.cloud.as_service().servers.server(server.id)
    assert found.status == 'SHELVED_OFFLOADED'
    lease = manager.expect(lease, lifecycle.ACTIVE, NOON + hours(2) + minutes(1))
    return manager.cloud.as_service().servers.server(server.id)


@pytest.mark.parametrize('exists', [True, False])
@pytest.mark.parametrize(('zone', 'hosts'), [('az1', {'compute-1', 'compute-2'}),
                                             ('az2', {'compute-3', 'compute-4'})])
def test_a_leased_server_wakes_in_the_zone_that_its_user_asked_for(zones, zone, hosts, exists):
    zones.cloud.add_host('open')
    nova = acts.nova(zones)
    nova.add_hosts(nova.ensure_aggregate(f'hosts of {zone}'), ['open'])
    server = zones.cloud.boot('demo', 'vm', {'availability_zone': zone}, host='open', flavor='2')
    request = records.ReservationRequest(
        'virtual:instance', {'resource_id': server.id}) if exists else _server(zone)
    found = _sleeps_and_wakes(zones, request, server)
    assert (found.status, found.zone) == ('ACTIVE', zone)
    assert found.host in hosts


def test_a_leased_server_of_a_zone_without_capacity_is_refused(zones):
    _leased(zones, 2, _in_zone('az1'))
    with pytest.raises(errors.NotEnough, match='availability_zone'):
        zones.book(_server('az1'), start=NOON + hours(2), end=NOON + hours(3))


def test_a_leased_server_keeps_its_criteria(zones):
    lease = zones.book(_server('az1'), start=NOON + hours(2), end=NOON + hours(4))
    [reservation] = lease.reservations
    zones.change_reservation(lease, on_end='delete')
    with pytest.raises(errors.BadField, match='keeps the criteria'):
        zones.change_reservation(lease, resource_properties='["==", "$availability_zone", "az2"]')
    zones.change_reservation(
        lease, resource_properties=reservation.request['resource_properties'])


def test_an_audit_finds_cloud_and_database_agree_on_zones(zones):
    _leased(zones, 2, _in_zone('az1', 'az2'))
    _leased(zones, 1, _in_zone('nova'), NOON + hours(1))
    assert comparison.Auditor(zones.core).compare() == []


def test_an_audit_puts_back_a_host_that_left_an_aggregate_without_a_zone(zones):
    lease = _leased(zones, 1, _in_zone('az1'))
    own = acts.aggregate(zones, lease)
    acts.nova(zones).remove_hosts(own, own.hosts)
    repairs.Repairs(zones.core).make(comparison.Auditor(zones.core).compare())
    assert acts.aggregate(zones, lease) == own
    assert comparison.Auditor(zones.core).compare() == []


def test_a_stack_for_a_zone_of_its_lease_says_that_there_is_none(zones):
    template = stacks.template({'zone': {'type': 'string', 'default': 'nova'}},
                               vm=stacks.server(flavor='2', availability_zone={
                                   'get_param': 'zone'}))
    lease = zones.book(
        records.ReservationRequest('physical:host', builders.hosts(
            1, resource_properties=_in_zone('az1')).request, label='metal'),
        records.ReservationRequest('virtual:stack', {
            'template': template, 'zone_parameter': 'zone'}, depends_on=('metal',)))
    zones.run_until(NOON + minutes(1))
    assert 'another lease with hint_parameter' in stacks.told(zones, lease)
    assert zones.cloud.stacks() == []
