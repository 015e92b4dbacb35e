# SPDX-License-Identifier: Apache-2.0
"""Servers that are booted with a lease, from the hints to their end, on the real cloud.

The moments lie closer together than those that people write, or the tests would take minutes.
"""
import contextlib
import json
import os
import signal
import time

import pytest
import scene as scenes

from tools.cloud import processes

FLAVOR = 'm1.nano'
ROOM = {'resource_type': 'virtual:instance', 'vcpus': 1, 'disk_gb': 1, 'amount': 1}


class Leased:
    """A server that was booted by somebody's command line, and its lease.

    :ivar id: of the server.
    """

    def __init__(self, scene, shown):
        self.scene = scene
        self.id = shown['id']
        self.lease_id = shown['properties']['climate:lease_id']
        scene.remember(self.lease_id)

    def look(self):
        return self.scene.people['admin'].compute.get_server(self.id)

    def settled(self, status, seconds=30):
        """The server, as soon as it has that status and no task any more."""
        def seen():
            found = self.look()
            assert found.status != 'ERROR', found.fault
            return found if found.status == status and not found.task_state else None
        return scenes.until(seen, f'server {self.id} to be {status}', seconds)

    def marked(self, text):
        """Wait until the server says of itself that it is RESERVED or ACTIVE."""
        scenes.until(lambda: self.look().metadata.get('climate:status') == text,
                     f'server {self.id} to be marked {text}')

    def lease(self, status, seconds=60):
        return self.scene.wait(self.lease_id, status, seconds)

    @property
    def reservation_id(self):
        lease = self.scene.climate('admin').leases.get(self.lease_id)
        return lease['reservations'][0]['id']

    def images(self):
        """The images that were made at the end."""
        admin = self.scene.people['admin']
        return [each for each in admin.image.images()
                if each.properties.get('climate_key') == self.reservation_id]

    def active_image(self, owner):
        """The one image, when it is active; it belongs to that project."""
        [image] = scenes.until(
            lambda: [each for each in self.images() if each.status == 'active'],
            'the image to be active', 60)
        assert image.owner == owner
        return image

    def gone(self, seconds):
        scenes.until(lambda: not self.scene.exists(self.id), f'server {self.id} to be gone',
                     seconds)


@pytest.fixture
def create(scene, cloud):
    """callable(lease_params, *words): what the command line shows of a new server."""
    def run(params, *words, person='demo'):
        hints = [] if params is None else [
            '--hint', 'reserved=True', '--hint', f'lease_params={json.dumps(params)}']
        output, _ = scenes.run(
            cloud, scenes.BIN / 'openstack', 'server', 'create', '--flavor', FLAVOR, '--image',
            'tiny', '--nic', 'none', *hints, *words, scene.name(), '-f', 'json', OS_CLOUD=person)
        shown = json.loads(output)
        scene.remember_server(shown['id'])
        return shown
    return run


@pytest.fixture
def boot(scene, create):
    """callable(**lease_params): a Leased server of project demo."""
    return lambda **params: Leased(scene, create(params))


@pytest.fixture
def forget_images(scene):
    """callable(leased): delete the images of a leased server when the test is over."""
    def later(leased):
        def forget():
            for image in leased.images():
                scene.people['admin'].image.delete_image(image)
        scene.afterwards(forget)
    return later


@pytest.fixture
def big_flavor(scene, admin):
    """callable(MiB): the id of a flavor of that size."""
    def make(memory):
        flavor = admin.compute.create_flavor(name=scene.name(), vcpus=1, ram=memory, disk=1)
        scene.afterwards(lambda: admin.compute.delete_flavor(flavor))
        return flavor.id
    return make


def memory_of(admin, host):
    """How much memory servers can have on a host, in MiB."""
    [provider] = admin.placement.resource_providers(name=host)
    found = admin.session.get(f'/resource_providers/{provider.id}/inventories',
                              endpoint_filter={'service_type': 'placement'}).json()
    found = found['inventories']['MEMORY_MB']
    return int((found['total'] - found['reserved']) * found['allocation_ratio'])


def kill_manager(cloud):
    """Kill the manager, and start another."""
    for member in processes.members(processes.pid_of(cloud, 'climate-manager')):
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)
    scenes.tool(cloud, 'climate-up')


def test_a_server_with_a_lease_from_now_is_imaged_at_its_end_and_gone(
        boot, scene, demo, open_host, forget_images):
    leased = boot(name='lease1', start='now', end=scenes.in_seconds(20))
    forget_images(leased)
    server = leased.settled('ACTIVE')
    assert server.compute_host == open_host
    [reservation] = leased.lease('active')['reservations']
    assert reservation['resource_id'] == leased.id
    leased.marked('ACTIVE')
    image = leased.active_image(demo.current_project_id)
    leased.gone(15)
    print(f'gone {scenes.seconds_since(image.updated_at):.1f} s after the image was active')
    assert leased.lease('terminated')['reservations'][0]['status'] == 'deleted'
    assert [each.id for each in leased.images()] == [image.id]


def test_a_server_with_a_lease_from_later_sleeps_and_wakes_in_a_pool_that_is_full(
        boot, scene, admin, cloud, open_host, big_flavor):
    leased = boot(name='lease1', start=scenes.in_seconds(40), duration='10m', on_end='delete')
    leased.settled('SHELVED_OFFLOADED', 15)
    assert leased.look().metadata['climate:status'] == 'RESERVED'
    # All but the host where its room is, then the rest of that one, then the host of everybody.
    others = scene.lease(hosts=(2, 2))
    [held] = (set(cloud.compute_hosts) - {open_host}
              - scene.hosts_in(others['reservations'][0]['id']))
    rest = memory_of(admin, held) - admin.compute.find_flavor(FLAVOR).ram
    room = scene.climate().leases.create(scene.name(), duration='10m', reservations=[
        {**ROOM, 'memory_mb': rest}])
    scene.remember(room['id'])
    room = scene.wait(room['id'], 'active')
    inside = scene.boot('demo', flavor=room['reservations'][0]['id'])
    ordinary = scene.boot('demo', flavor=big_flavor(memory_of(admin, open_host)))
    assert (inside.compute_host, ordinary.compute_host) == (held, open_host)
    assert scene.boot('demo').status == 'ERROR'

    assert leased.look().status == 'SHELVED_OFFLOADED'
    assert leased.settled('ACTIVE', 60).compute_host == held
    leased.marked('ACTIVE')
    waited = scenes.seconds_since(leased.lease('active')['start'])
    print(f'awake and the lease active {waited:.1f} s after its start')
    scene.climate().leases.end(leased.lease_id)
    leased.lease('terminated')
    assert not scene.exists(leased.id)


@pytest.fixture
def nobody_enrolled(scene, cloud):
    """No host is in the pool during the test."""
    hosts = scene.climate('admin').hosts
    for name in cloud.compute_hosts:
        found = hosts.get(hosts.find(name)['id'])
        hosts.delete(found['id'])
        scene.afterwards(lambda name=name, rack=found['rack']: hosts.create(name, {'rack': rack}))


@pytest.fixture
def nova_conf(scene, cloud, tmp_path):
    """callable(lines of [climate]): start nova-api anew with these in nova.conf."""
    def restart(text=''):
        path = tmp_path / 'extra.conf'
        path.write_text(f'[climate]\n{text}\n')
        scenes.run(cloud, scenes.PYTHON, '-m', 'tools.cloud', 'restart', 'nova-api',
                   CLOUD_NOVA_EXTRA=str(path))
    yield restart
    scenes.tool(cloud, 'restart', 'nova-api')


def test_servers_get_a_lease_by_default_where_nobody_offers_hosts(
        create, scene, alt, nobody_enrolled, nova_conf):
    nova_conf('default_lease = true\ndefault_lease_days = 7\n'
              f'default_lease_exempt_projects = {alt.current_project_id}')
    leased = Leased(scene, create(None))
    leased.settled('ACTIVE')
    lease = leased.lease('active')
    assert lease['name'] == f'lease-{leased.look().name}'
    assert 0 <= scenes.seconds_since(lease['start']) < 60
    assert scenes.days_between(lease['start'], lease['end']) == 7
    named = Leased(scene, create(None, '--hint', 'lease_params={"name": "mine"}'))
    assert named.lease('active')['name'] == 'mine'
    exempt = create(None, person='alt')
    assert 'climate:lease_id' not in exempt['properties']
    nova_conf()
    assert 'climate:lease_id' not in create(None)['properties']
    assert scene.booted(exempt['id']).status == 'ACTIVE'


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
    params = json.dumps({'name': name, 'duration': '10m', 'on_end': 'delete'})
    _, said = scenes.run(
        cloud, scenes.BIN / 'openstack', 'server', 'create', '--flavor', FLAVOR, '--image', 'tiny',
        '--nic', 'none', '--hint', 'reserved=True', '--hint', f'lease_params={params}', name,
        code=1, OS_CLOUD='demo')
    assert 'Connection' in said
    scenes.tool(cloud, 'restart', 'nova-api')
    [lease] = [each for each in scene.climate().leases.list() if each['name'] == name]
    scene.remember(lease['id'])
    if moment == 'before':
        # Nothing came of it, and nobody will: it waits in vain.
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
        kill_manager(cloud)
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
    kill_manager(cloud)
    leased.gone(60)
    leased.lease('terminated')
    assert len(leased.images()) == 1
