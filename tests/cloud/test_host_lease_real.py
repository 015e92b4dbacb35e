# SPDX-License-Identifier: Apache-2.0
"""Leases of hosts from their start to their end, on the real cloud."""
import time

import pytest
import scene as scenes

from climate.client import errors

LEFT = ['==', '$rack', 'left']
ROOM = ['>=', '$memory_mb', '1024']


def test_a_member_leases_two_of_four_hosts_uses_them_and_gives_them_back(scene, cloud, demo):
    everything = set(cloud.compute_hosts)
    trusts = scene.trusts()
    name = scene.name()
    lease = scene.command(
        'demo', 'lease', 'create', name, '--hosts', '2', '--duration', '10m',
        '--require', 'memory_mb>=1024', '--require', 'rack==left')
    scene.remember(lease['id'])
    reservation = lease['reservations'][0]['id']
    scenes.until(lambda: len(scene.hosts_in(reservation)) == 2, 'two hosts in the aggregate', 5)
    waited = scenes.seconds_since(scene.climate().leases.get(lease['id'])['start'])
    print(f'two hosts in the aggregate {waited:.1f} s after the start of the lease')
    assert waited <= 5
    lease = scene.wait(lease['id'], 'active')
    mine = scene.hosts_in(reservation)
    assert mine < everything - {cloud.compute_hosts[-1]}
    aggregate = scene.aggregate(reservation)
    assert aggregate.metadata['climate:owner'] == demo.current_project_id
    assert aggregate.availability_zone == f'climate_{reservation}'
    assert scene.hosts_in('freepool') == everything - mine
    assert lease['project_id'] == demo.current_project_id
    assert scene.trusts() == trusts

    inside = scene.boot('demo', reservation)
    assert (inside.status, inside.compute_host in mine) == ('ACTIVE', True)
    for refused in (scene.boot('demo'), scene.boot('alt', reservation)):
        assert refused.status == 'ERROR'
        assert 'No valid host' in refused.fault['message']
        scene.remove(refused.id)

    end = lease['end']
    lease = scene.command('demo', 'lease', 'extend', name, '--by', '5m')
    assert scene.climate().leases.get(lease['id'])['end'] > end

    began = time.monotonic()
    scene.command('demo', 'lease', 'end', name, '--wait', '--yes')
    print(f'all released {time.monotonic() - began:.1f} s after "lease end" began')
    assert not scene.exists(inside.id)
    assert scene.hosts_in('freepool') == everything
    assert scene.aggregate(reservation) is None
    shown = scene.command('demo', 'lease', 'show', name)
    assert shown['status'] == 'terminated'
    assert shown['reservations'][0]['status'] == 'deleted'


def test_a_server_boots_on_its_reservation_the_moment_the_lease_is_active(scene):
    for _ in range(2):
        lease = scene.lease()
        reservation = lease['reservations'][0]['id']
        server = scene.boot('demo', reservation)
        assert server.status == 'ACTIVE', server.fault
        assert {server.compute_host} == scene.hosts_in(reservation)
        scene.climate().leases.end(lease['id'])
        scene.wait(lease['id'], 'terminated')
        assert not scene.exists(server.id)


def test_a_running_lease_grows_and_shrinks_and_its_servers_leave_the_hosts_it_loses(scene, cloud):
    lease = scene.lease()
    [reservation] = lease['reservations']
    first = scene.hosts_in(reservation['id'])

    def resize(count):
        scene.climate().leases.update(lease['id'], reservations=[
            {'id': reservation['id'], 'min': count, 'max': count}])
        scenes.until(lambda: len(scene.hosts_in(reservation['id'])) == count,
                     f'{count} hosts in the aggregate')
        scene.wait(lease['id'], 'active')
    resize(3)
    assert first < scene.hosts_in(reservation['id'])
    servers = [scene.boot('demo', reservation['id'], wait=False) for _ in range(3)]
    servers = [scene.booted(server.id) for server in servers]
    assert {server.status for server in servers} == {'ACTIVE'}
    resize(1)
    kept = scene.hosts_in(reservation['id'])
    assert scene.hosts_in('freepool') == set(cloud.compute_hosts) - kept
    for server in servers:
        assert scene.exists(server.id) == (server.compute_host in kept)


def test_before_the_end_an_image_of_each_server_is_made_for_its_project(scene, demo):
    lease = scene.lease(reservation={'before_end': 'snapshot'})
    server = scene.boot('demo', lease['reservations'][0]['id'])
    scene.climate().leases.update(lease['id'], before_end=scenes.in_seconds(2))
    image = scenes.until(lambda: demo.image.find_image(f'reserved_{server.name}'), 'the image')
    scene.afterwards(lambda: demo.image.delete_image(image))
    image = scenes.until(
        lambda: next((each for each in [demo.image.get_image(image.id)]
                      if each.status == 'active'), None), 'the image to be active')
    assert image.owner == demo.current_project_id
    assert scene.climate().leases.get(lease['id'])['status'] == 'active'


def test_a_host_with_a_server_on_it_is_not_enrolled(scene, open_host):
    server = scene.boot('demo')
    assert (server.status, server.compute_host) == ('ACTIVE', open_host)
    _out, said = scene.command('admin', 'host', 'create', open_host, code=1)
    assert f'Host {open_host}' in said
    assert 'servers run on it (1)' in said
    assert open_host not in scene.hosts_in('freepool')


def test_a_lease_that_finds_no_room_says_how_much_there_is(scene):
    with pytest.raises(errors.Conflict, match='Only 3 of 4'):
        scene.lease(hosts=(4, 4), where=(LEFT, ROOM))
    with pytest.raises(errors.BadRequest, match='rock'):
        scene.lease(where=(['==', '$rock', 'left'],))


def test_a_member_enrols_nothing(scene, cloud):
    _out, said = scene.command('demo', 'host', 'create', cloud.compute_hosts[0], code=1)
    assert 'climate:oshosts:post' in said
