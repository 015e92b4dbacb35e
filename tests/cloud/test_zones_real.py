# SPDX-License-Identifier: Apache-2.0
"""Leases of hosts in availability zones on the real Nova: two zones with two hosts each."""
import leased as servers
import pytest
import scene as scenes
import zoning

from climate.client import errors

ZONES = ('az1', 'az2')


@pytest.fixture(scope='module')
def zones(climate, people, cloud):
    """{zone: its two hosts}; the hosts were enrolled while they were in the zones."""
    names = cloud.compute_hosts
    found = {'az1': set(names[:2]), 'az2': set(names[2:4])}
    with zoning.zones(scenes.Scene(cloud, people), found):
        yield found


def in_zone(name):
    return ['==', '$availability_zone', name]


def of(lease):
    """The id of the only reservation of a lease."""
    [found] = lease['reservations']
    return found['id']


def lands(scene, zone, hosts, reservation=None, person='demo', **more):
    """A server that names a zone is on one of these hosts, and in that zone."""
    server = scene.boot(person, reservation, zone=zone, **more)
    assert server.status == 'ACTIVE', server.fault
    assert server.compute_host in hosts
    assert server.availability_zone == zone
    return server


def refused(scene, zone, reservation=None, person='demo', **more):
    """Assert that no host takes a server that names a zone."""
    server = scene.boot(person, reservation, zone=zone, **more)
    assert server.status == 'ERROR', server.compute_host
    assert 'No valid host' in server.fault['message']
    scene.remove(server.id)


def end(scene, lease):
    scene.climate().leases.end(lease['id'])
    scene.wait(lease['id'], 'terminated', 120)


@pytest.mark.parametrize('zone', ZONES)
def test_hosts_are_leased_by_zone_and_a_boot_may_name_the_zone(scene, admin, zones, zone):
    assert {each['hypervisor_hostname']: each['availability_zone']
            for each in scene.climate('admin').hosts.list()
            } == {host: zone for zone, hosts in zones.items() for host in hosts}
    lease = scene.lease(hosts=(2, 2), where=(in_zone(zone),))
    assert scene.hosts_in(of(lease)) == zones[zone]
    assert scene.aggregate(of(lease)).availability_zone is None
    assert zoning.of_nova(admin) == zones
    [other] = set(ZONES) - {zone}
    server = lands(scene, zone, zones[zone], of(lease))
    assert scene.boot('demo', of(lease)).compute_host in zones[zone]
    refused(scene, other, of(lease))
    refused(scene, zone)
    refused(scene, zone, of(lease), 'alt')
    end(scene, lease)
    assert not scene.exists(server.id)
    assert scene.hosts_in('freepool') == zones['az1'] | zones['az2']
    refused(scene, zone, of(lease))
    assert zoning.of_nova(admin) == zones


def test_a_lease_over_both_zones_is_extended_grows_and_shrinks(scene, zones):
    lease = scene.lease(hosts=(3, 3))
    mine = scene.hosts_in(of(lease))
    for zone, hosts in zones.items():
        lands(scene, zone, hosts & mine, of(lease))
    before = lease['end']
    assert scene.climate().leases.extend(lease['id'], by='5m')['end'] > before
    for count in (4, 2):
        scene.climate().leases.update(lease['id'], reservations=[
            {'id': of(lease), 'min': count, 'max': count}])
        scenes.until(lambda count=count: len(scene.hosts_in(of(lease))) == count,
                     f'{count} hosts in the aggregate', 60)
        scene.wait(lease['id'], 'active')
    end(scene, lease)
    assert scene.hosts_in('freepool') == zones['az1'] | zones['az2']


def test_a_swapped_host_is_replaced_by_one_of_its_zone(scene, zones):
    lease = scene.lease(where=(in_zone('az1'),))
    [first] = scene.hosts_in(of(lease))
    hosts = scene.climate('admin').hosts
    scene.afterwards(lambda: hosts.update(hosts.find(first)['id'], in_order=True))
    scene.climate().leases.swap(lease['id'], first)
    scenes.until(lambda: scene.hosts_in(of(lease)) == zones['az1'] - {first},
                 'the other host of the zone', 60)
    scene.wait(lease['id'], 'active')
    lands(scene, 'az1', zones['az1'] - {first}, of(lease))
    end(scene, lease)


def test_a_server_in_a_zone_moves_sleeps_and_wakes_there_and_leaves_an_image(
        scene, admin, demo, zones, image_of):
    lease = scene.lease(hosts=(3, 3), where=(['or', in_zone('az1'), in_zone('az2')],),
                        reservation={'before_end': 'snapshot'})
    mine = scene.hosts_in(of(lease))
    [zone] = [name for name, hosts in zones.items() if hosts <= mine]
    server = lands(scene, zone, zones[zone], of(lease))

    def settled(status, *hosts):
        def look():
            found = admin.compute.get_server(server)
            return found if found.status == status and not found.task_state and (
                not hosts or found.compute_host in hosts) else None
        return scenes.until(look, f'the server to be {status}')
    admin.compute.live_migrate_server(server, host=None, block_migration='auto')
    settled('ACTIVE', *(zones[zone] - {server.compute_host}))
    demo.compute.shelve_server(server)
    settled('SHELVED_OFFLOADED')
    demo.compute.unshelve_server(server)
    settled('ACTIVE', *zones[zone])
    end(scene, lease)
    image_of(server)
    assert not scene.exists(server.id)


def test_capacity_for_instances_is_leased_by_zone(scene, zones):
    lease = scene.climate().leases.create(scene.name(), duration='10m', reservations=[{
        'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 128, 'disk_gb': 1,
        'amount': 2, 'affinity': False,
        'resource_properties': '["==", "$availability_zone", "az2"]'}])
    scene.remember(lease['id'])
    scene.wait(lease['id'], 'active')
    lands(scene, 'az2', zones['az2'], flavor=of(lease))
    refused(scene, 'az1', flavor=of(lease))
    end(scene, lease)


def test_a_server_with_a_lease_for_later_wakes_in_the_zone_that_it_was_booted_in(
        scene, create, zones, admin):
    host = sorted(zones['az2'])[-1]
    hosts = scene.climate('admin').hosts
    rack = hosts.find(host)['rack']
    hosts.delete(hosts.find(host)['id'])
    scene.afterwards(lambda: hosts.create(host, {'rack': rack}))
    shown = create({'start': scenes.in_seconds(40), 'duration': '10m', 'on_end': 'delete'},
                   '--availability-zone', 'az2')
    leased = servers.Leased(scene, shown)
    leased.settled('SHELVED_OFFLOADED')
    found = leased.settled('ACTIVE', 90)
    assert found.compute_host in zones['az2'] - {host}
    leased.lease('active')
    found = admin.compute.get('/servers/' + leased.id, microversion='2.96').json()['server']
    assert found['pinned_availability_zone'] == 'az2'
    scene.climate().leases.end(leased.lease_id)
    leased.lease('terminated')


def test_a_lease_says_that_a_zone_has_too_few_hosts(scene, zones):
    with pytest.raises(errors.Conflict, match='Only 2 of 3'):
        scene.lease(hosts=(3, 3), where=(in_zone('az2'),))


def test_the_audit_finds_that_leases_in_zones_and_the_cloud_agree(scene, zones, audit):
    scene.lease(hosts=(1, 1), where=(in_zone('az1'),))
    scene.lease(hosts=(2, 2), where=(in_zone('az2'),))
    assert 'The cloud and the database agree' in audit()
