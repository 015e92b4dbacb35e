# SPDX-License-Identifier: Apache-2.0
"""Leases of hosts when something goes wrong at the wrong moment, on the real cloud."""
import time

import scene as scenes


def test_a_lease_whose_user_was_deleted_still_ends_cleanly(scene, guest, admin, cloud, image_of):
    lease = scene.lease('guest', reservation={'before_end': 'snapshot'})
    reservation = lease['reservations'][0]['id']
    server = scene.boot('guest', reservation)
    assert server.status == 'ACTIVE'
    admin.identity.delete_user(guest)
    scene.climate('admin').leases.end(lease['id'])
    lease = scene.wait(lease['id'], 'terminated')
    assert not scene.exists(server.id)
    assert image_of(server)
    assert scene.aggregate(reservation) is None
    assert scene.hosts_in('freepool') == set(cloud.compute_hosts)


def test_a_lease_waits_for_its_host_while_a_server_of_the_one_before_is_being_deleted(scene, cloud):
    name, rack = cloud.compute_hosts[-1], ['==', '$rack', 'right']
    start, end = scenes.in_seconds(3), scenes.in_seconds(15)
    # Both before the first one starts: a host in use now is not allocated for the next minute.
    first = scene.lease(where=(rack,), duration=None, start=start, end=end, active=False)
    second = scene.lease('alt', where=(rack,), start=end, active=False)
    scene.wait(first['id'], 'active')
    server = scene.boot('demo', first['reservations'][0]['id'])
    assert server.compute_host == name
    with scenes.frozen(cloud, f'nova-{name}'):
        scene.wait(first['id'], 'terminating')
        time.sleep(3)
        assert scene.climate().leases.get(first['id'])['status'] == 'terminating'
        assert scene.climate('alt').leases.get(second['id'])['status'] in (
            'to_be_started', 'starting')
        assert scene.exists(server.id)
        assert scene.hosts_in(second['reservations'][0]['id']) == set()
    began = time.monotonic()
    scene.wait(first['id'], 'terminated')
    scene.wait(second['id'], 'active')
    print(f'host handed on {time.monotonic() - began:.1f} s after its nova-compute woke up')
    assert scene.hosts_in(second['reservations'][0]['id']) == {name}
    assert scene.boot('alt', second['reservations'][0]['id']).compute_host == name


def test_a_lease_whose_manager_is_killed_while_it_starts_becomes_active_all_the_same(scene, cloud):
    with scenes.frozen(cloud, 'nova-api'):
        lease = scene.lease(hosts=(2, 2), active=False)
        scene.wait(lease['id'], 'starting')
        scenes.kill_manager(cloud)
    began = time.monotonic()
    scenes.tool(cloud, 'climate-up')
    scene.wait(lease['id'], 'active')
    print(f'active {time.monotonic() - began:.1f} s after the manager was killed')
    reservation = lease['reservations'][0]['id']
    assert len(scene.hosts_in(reservation)) == 2
    assert scene.boot('demo', reservation).compute_host in scene.hosts_in(reservation)
