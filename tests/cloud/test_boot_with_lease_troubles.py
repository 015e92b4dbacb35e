# SPDX-License-Identifier: Apache-2.0
"""Servers with a lease when something goes wrong at the wrong moment, on the real cloud."""
import time

import leased as servers
import pytest
import scene as scenes


@pytest.fixture
def killed(scene, cloud):
    """callable(moment): have nova-api killed at the next boot, "before" or "after" Nova's part."""
    flag = cloud.run / 'kill-nova-api'
    yield flag.write_text
    flag.unlink(missing_ok=True)


@pytest.mark.parametrize('moment', ['before', 'after'])
def test_nova_api_is_killed_while_it_boots_a_server_with_a_lease(
        scene, cloud, admin, killed, open_host, moment):
    killed(moment)
    name = scene.name()
    params = {'name': name, 'duration': '10m', 'on_end': 'delete'}
    _, said = scenes.run(cloud, *servers.command(name, params), code=1, OS_CLOUD='demo')
    assert 'Connection' in said
    scenes.tool(cloud, 'restart', 'nova-api')
    [lease] = [each for each in scene.climate().leases.list() if each['name'] == name]
    scene.remember(lease['id'])
    if moment == 'before':
        # The lease waits for a server that is never created.
        scene.wait(lease['id'], 'terminated')
        assert not list(admin.compute.servers(all_projects=True, name=name))
        return
    [server] = admin.compute.servers(all_projects=True, name=name)
    scene.remember_server(server.id)
    [reservation] = scene.wait(lease['id'], 'active')['reservations']
    assert reservation['resource_id'] == server.id
    assert scene.booted(server.id).status == 'ACTIVE'
    scene.climate().leases.end(lease['id'])
    scene.wait(lease['id'], 'terminated')
    assert not scene.exists(server.id)


def test_the_manager_is_killed_at_each_step_of_a_leased_server(
        boot, scene, cloud, demo, open_host, forget_images):
    leased = boot(start=scenes.in_seconds(40), duration='10m')
    forget_images(leased)

    def kill_when(look, what):
        scenes.until(look, what, 60, pause=0.02)
        scenes.replace_manager(cloud)
    kill_when(lambda: 'shelv' in str(leased.look().task_state) or 'SHELVED' in leased.look().status,
              'it to be put to sleep')
    leased.settled('SHELVED_OFFLOADED', 40)
    # Without a manager the scheduler may refuse to wake it: then that is tried again.
    kill_when(lambda: leased.look().task_state, 'it to be woken')
    leased.settled('ACTIVE', 60)
    leased.lease('active')
    leased.marked('ACTIVE')
    scene.climate().leases.end(leased.lease_id)
    kill_when(leased.images, 'it to be imaged')
    leased.active_image(demo.current_project_id)
    time.sleep(1)
    scenes.replace_manager(cloud)
    leased.gone(60)
    leased.lease('terminated')
    assert len(leased.images()) == 1
