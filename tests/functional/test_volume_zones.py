# SPDX-License-Identifier: Apache-2.0
"""Leases of volumes in a cloud whose storage back ends and hosts are in availability zones."""
import pytest
from support import builders
from support import every_type
from support import thinning

from climate import errors
from climate.domain import lifecycle
from climate.domain import records

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
SSD, HDD = 'storage-1@ssd#ssd', 'storage-2@hdd#hdd'


@pytest.fixture
def manager(manager):
    """Two back ends and four hosts: one half in az1, the other in az2; all are enrolled."""
    nova = manager.cloud.as_service().nova
    for zone, backend, hosts in (('az1', SSD, ('compute-1', 'compute-2')),
                                 ('az2', HDD, ('compute-3', 'compute-4'))):
        manager.cloud.machines.add_backend(backend, f'of {zone}', 200)
        manager.cloud.machines.put_in_zone(backend.partition('#')[0], zone)
        manager.client.create_resource(builders.an_admin(), 'backend', backend, {})
        nova.add_hosts(nova.ensure_aggregate(f'hosts of {zone}', zone=zone), hosts)
    manager.enrol(4)
    return manager


def _room(zone=None, **more):
    criteria = {} if zone is None else {
        'resource_properties': f'["=", "$availability_zone", "{zone}"]'}
    return records.ReservationRequest('virtual:volume', {
        'size_gb': 10, 'on_end': 'delete', **criteria, **more})


def _started(manager, *reservations, **more):
    lease = manager.book(*reservations, **more)
    return manager.expect(lease, lifecycle.ACTIVE, lease.start + minutes(2))


@pytest.mark.parametrize(('zone', 'backend'), [('az1', SSD), ('az2', HDD)])
def test_volumes_are_made_in_the_zone_of_their_back_end(manager, zone, backend):
    lease = _started(manager, _room(zone, amount=2), start=NOON + hours(1))
    volumes = manager.cloud.as_service().volumes
    assert [each.backend for each in volumes.every()] == [backend] * 2
    [volume_id, _] = lease.reservations[0].binding['volume_ids']
    assert volumes.volume(volume_id).zone == zone
    manager.run_until(lease.end + minutes(5))
    assert volumes.every() == []


def test_the_owner_of_a_leased_volume_type_names_no_zone(manager):
    lease = _started(manager, _room('az2', give='type'))
    [name] = lease.reservations[0].binding['volume_types']
    with every_type.by_hand(manager) as owner:
        owner.volumes.create('mine', 5, name, {})
    [volume] = manager.cloud.as_service().volumes.every()
    assert (volume.status, volume.backend) == ('available', HDD)


def test_the_zone_of_a_back_end_is_refreshed(manager):
    manager.cloud.machines.put_in_zone('storage-1@ssd', 'az2')
    pool = manager.core.registry.pool('backend')
    known = manager.client.list_resources(builders.an_admin(), 'backend')
    assert {name: each.facts['availability_zone'] for name, each in pool.survey(
        manager.cloud, known).items()} == {SSD: 'az2', HDD: 'az2'}


@pytest.fixture
def strict(manager, conf):
    """Configure Nova to attach volumes to servers in their zone only."""
    conf.set_override('cross_az_attach', False, group='nova')
    manager.cloud.keep_volumes_in_zones()
    return manager


def _hosts(count=1, zone=None, **more):
    criteria = {} if zone is None else {
        'resource_properties': f'["=", "$availability_zone", "{zone}"]'}
    return records.ReservationRequest(
        'physical:host', {'min': count, 'max': count, **criteria}, **more)


def _zones(manager, lease):
    """Return (the zones of the hosts of a lease, those of its back ends)."""
    found = {each.id: each for pool in ('host', 'backend')
             for each in manager.client.list_resources(builders.an_admin(), pool)}
    mine = [found[key] for each in lease.reservations for key in each.resource_ids]
    return [{each.facts['availability_zone'] for each in mine if each.pool == pool}
            for pool in ('host', 'backend')]


@pytest.mark.parametrize('in_order', thinning.few([1, -1], 1))
@pytest.mark.parametrize(('hosts', 'room', 'zones'), [
    (_hosts(1, 'az2'), _room(), [{'az2'}, {'az2'}]),
    (_hosts(1), _room('az2'), [{'az2'}, {'az2'}]),
    (_hosts(1), _room(), [{'az1'}, {'az1'}]),
    (_hosts(3), _room('az2'), [{'az1', 'az2'}, {'az2'}]),
    # The capacity of az1 is too small for it.
    (_hosts(2), _room(size_gb=300), None)])
def test_volumes_are_placed_in_a_zone_of_the_hosts_of_the_lease(
        strict, hosts, room, zones, in_order):
    if zones is None:
        strict.cloud.machines.add_backend('storage-3@large#large', 'large', 500)
        strict.cloud.machines.put_in_zone('storage-3@large', 'az2')
        strict.client.create_resource(builders.an_admin(), 'backend', 'storage-3@large#large', {})
        zones = [{'az2'}, {'az2'}]
    lease = _started(strict, *[hosts, room][::in_order])
    assert _zones(strict, lease) == zones
    strict.expect(lease, lifecycle.TERMINATED, lease.end + minutes(5))


def test_by_default_volumes_are_placed_in_any_zone(manager):
    lease = _started(manager, _hosts(1, 'az2'), _room())
    assert _zones(manager, lease) == [{'az2'}, {'az1'}]


def test_volumes_for_no_hosts_are_placed_in_any_zone(strict):
    assert _zones(strict, _started(strict, _room())) == [set(), {'az1'}]


@pytest.mark.parametrize(('hosts', 'room'), [
    (_hosts(1, 'az1'), _room('az2')), (_hosts(1, 'az2'), _room(size_gb=150)),
    (_hosts(3, 'az1'), _room())])
def test_a_lease_whose_volumes_find_no_room_in_a_zone_of_its_hosts_says_so(strict, hosts, room):
    _started(strict, _room('az2', size_gb=100))
    with pytest.raises(errors.NotEnough) as caught:
        strict.book(hosts, room)
    if hosts.request['min'] == 1:
        assert 'same availability_zone as a host of the lease' in caught.value.message


def test_a_swap_keeps_hosts_and_volumes_in_one_zone(strict):
    lease = _started(strict, _hosts(1), _room('az2'), end=NOON + hours(5))
    [host] = [each.name for each in strict.client.list_resources(builders.an_admin(), 'host')
              if each.held_by is not None]
    strict.client.swap_resource(builders.a_member(), lease.id, host)
    strict.run()
    assert _zones(strict, strict.lease(lease)) == [{'az2'}, {'az2'}]
    held = {each.name for each in strict.client.list_resources(builders.an_admin(), 'host')
            if each.held_by is not None}
    assert held == {'compute-3', 'compute-4'} - {host}


def _server_in(manager, zone):
    """Return a running server of the project demo on a host of a zone that is not enrolled."""
    nova = manager.cloud.as_service().nova
    nova.add_hosts(nova.aggregate(f'hosts of {zone}'), ['compute-5'])
    return manager.cloud.boot('demo', 'mine', host='compute-5', flavor='1')


def _leased(server, **more):
    return records.ReservationRequest('virtual:instance', {
        'resource_id': server.id, 'on_end': 'suspend'}, label='vm', **more)


def test_a_server_that_sleeps_gets_a_volume_in_the_zone_in_which_it_wakes_up(strict):
    server = _server_in(strict, 'az2')
    room = records.ReservationRequest('virtual:volume', _room(attach=True).request,
                                      depends_on=('vm',))
    lease = _started(strict, _leased(server), room, start=NOON + hours(1))
    hosts, back_ends = _zones(strict, lease)
    assert hosts == back_ends
    server = strict.cloud.as_service().servers.server(server.id)
    [volume] = strict.cloud.as_service().volumes.every()
    assert (volume.status, volume.server_ids) == ('in-use', (server.id,))
    assert {strict.cloud.as_service().nova.hypervisor(server.host).availability_zone} == hosts


@pytest.mark.parametrize('zone', ['az1', 'az2'])
def test_a_volume_is_attached_in_the_zone_of_a_running_server_or_the_lease_says_why(strict, zone):
    server = _server_in(strict, 'az2')
    room = records.ReservationRequest('virtual:volume', _room(zone, attach=True).request,
                                      depends_on=('vm',))
    lease = strict.book(_leased(server), room, end=NOON + hours(5))
    strict.run_until(NOON + minutes(10))
    lease = strict.lease(lease)
    if zone == 'az2':
        assert lease.state == lifecycle.ACTIVE, lease.reason
        return
    assert 'is in the availability zone az1, and no server' in str(lease.reason)
    assert 'a volume in that zone' in str(lease.reason)


def test_a_lease_of_two_zones_keeps_what_it_has_once_nova_keeps_volumes_in_zones(manager, conf):
    lease = _started(manager, _hosts(1, 'az2'), _room('az1'), end=NOON + hours(2))
    conf.set_override('cross_az_attach', False, group='nova')
    manager.change(lease, end=NOON + hours(3))
    assert manager.lease(lease).end == NOON + hours(3)


def test_servers_on_leased_hosts_outside_all_zones_get_volumes_of_the_default_zone(strict):
    strict.client.create_resource(builders.an_admin(), 'host', 'compute-6', {})
    lease = _started(strict, _hosts(1, 'nova'), end=NOON + hours(5))
    server = strict.cloud.boot('demo', 'mine', {'reservation': lease.reservations[0].id})
    volume_id = every_type.own_volume(strict)
    with every_type.by_hand(strict) as owner:
        owner.attachments.attach_volume(server.id, volume_id)
    assert strict.cloud.as_service().volumes.volume(volume_id).status == 'in-use'
