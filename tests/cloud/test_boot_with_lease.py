# SPDX-License-Identifier: Apache-2.0
"""Servers that are booted with a lease, from the hints to their end, on the real cloud.

The start and end times are closer together than those of users, or the tests would take minutes.
"""
import leased as servers
import pytest
import scene as scenes

ROOM = {'resource_type': 'virtual:instance', 'vcpus': 1, 'disk_gb': 1, 'amount': 1}


@pytest.fixture
def big_flavor(scene, admin):
    """callable(MiB): the id of a flavor of that size."""
    def make(memory):
        flavor = admin.compute.create_flavor(name=scene.name(), vcpus=1, ram=memory, disk=1)
        scene.afterwards(lambda: admin.compute.delete_flavor(flavor))
        return flavor.id
    return make


def memory_of(admin, host):
    """Return the memory for servers on a host, in MiB."""
    [provider] = admin.placement.resource_providers(name=host)
    found = admin.session.get(f'/resource_providers/{provider.id}/inventories',
                              endpoint_filter={'service_type': 'placement'}).json()
    found = found['inventories']['MEMORY_MB']
    return int((found['total'] - found['reserved']) * found['allocation_ratio'])


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
    # All but the host of its allocation, then the rest of that one, then the host of everybody.
    others = scene.lease(hosts=(2, 2))
    [held] = (set(cloud.compute_hosts) - {open_host}
              - scene.hosts_in(others['reservations'][0]['id']))
    rest = memory_of(admin, held) - admin.compute.find_flavor(servers.FLAVOR).ram
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
    """Keep all hosts out of the pool during the test."""
    hosts = scene.climate('admin').hosts
    for name in cloud.compute_hosts:
        found = hosts.get(hosts.find(name)['id'])
        hosts.delete(found['id'])
        scene.afterwards(lambda name=name, rack=found['rack']: hosts.create(name, {'rack': rack}))


@pytest.fixture
def nova_conf(scene, cloud, tmp_path):
    """callable(lines of [climate]): restart nova-api with these in nova.conf."""
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
    leased = servers.Leased(scene, create(None))
    leased.settled('ACTIVE')
    lease = leased.lease('active')
    assert lease['name'] == f'lease-{leased.look().name}'
    assert 0 <= scenes.seconds_since(lease['start']) < 60
    assert scenes.days_between(lease['start'], lease['end']) == 7
    named = servers.Leased(scene, create(None, '--hint', 'lease_params={"name": "mine"}'))
    assert named.lease('active')['name'] == 'mine'
    exempt = create(None, person='alt')
    assert 'climate:lease_id' not in exempt['properties']
    nova_conf()
    assert 'climate:lease_id' not in create(None)['properties']
    assert scene.booted(exempt['id']).status == 'ACTIVE'
