# SPDX-License-Identifier: Apache-2.0
"""The unmodified filter of blazar-nova in a real nova-scheduler, with leases of Climate."""
import pytest
import scene as scenes

from tools.cloud import climate_service
from tools.cloud import configure

FILTER = 'blazarnova.scheduler.filters.blazar_filter.BlazarFilter'


@pytest.fixture(scope='module', autouse=True)
def stock_filter(cloud, tmp_path_factory):
    """The scheduler has that filter instead of ClimateFilter, configured as the pages say."""
    path = tmp_path_factory.mktemp('nova') / 'extra.conf'
    path.write_text(
        f'[filter_scheduler]\navailable_filters = {FILTER}\n'
        f'enabled_filters = {",".join(configure.FILTERS)},BlazarFilter\n'
        '[blazar:physical:host]\nblazar_owner = climate:owner\nblazar_az_prefix = climate_\n')
    restart = (scenes.PYTHON, '-m', 'tools.cloud', 'restart', 'nova-scheduler')
    scenes.run(cloud, *restart, CLOUD_NOVA_EXTRA=str(path))
    yield
    scenes.run(cloud, *restart)


@pytest.fixture
def always(cloud):
    """Each reservation has a zone."""
    climate_service.restart(cloud, 'climate-manager', '\n[nova]\nreservation_zone = always\n')
    yield
    climate_service.restart(cloud, 'climate-manager')


def refused(scene, person, reservation=None):
    server = scene.boot(person, reservation)
    assert server.status == 'ERROR', server.compute_host
    assert 'No valid host' in server.fault['message']
    scene.remove(server.id)


@pytest.mark.parametrize('zone', ['where_none', 'always'])
def test_the_stock_filter_lets_only_the_owner_boot_on_leased_hosts(scene, zone, request):
    if zone == 'always':
        request.getfixturevalue('always')
    lease = scene.lease(hosts=(2, 2))
    [reservation] = lease['reservations']
    mine = scene.hosts_in(reservation['id'])
    assert scene.aggregate(reservation['id']).availability_zone == f'climate_{reservation["id"]}'
    server = scene.boot('demo', reservation['id'])
    assert server.status == 'ACTIVE', server.fault
    assert server.compute_host in mine
    refused(scene, 'alt', reservation['id'])
    refused(scene, 'demo')
    scene.climate().leases.end(lease['id'])
    scene.wait(lease['id'], 'terminated')
    assert not scene.exists(server.id)
    refused(scene, 'demo', reservation['id'])


def test_the_stock_filter_places_servers_of_leased_instances(scene):
    lease = scene.climate().leases.create(scene.name(), duration='10m', reservations=[{
        'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 128, 'disk_gb': 1,
        'amount': 1, 'affinity': None}])
    scene.remember(lease['id'])
    scene.wait(lease['id'], 'active')
    [reservation] = lease['reservations']
    server = scene.boot('demo', flavor=reservation['id'])
    assert server.status == 'ACTIVE', server.fault
    assert server.compute_host in scene.hosts_in(reservation['id'])
    refused(scene, 'demo')


def test_with_it_a_host_of_a_zone_is_not_enrolled(scene, always, admin, open_host):
    aggregate = admin.compute.create_aggregate(name=scene.name(), availability_zone='az1')
    scene.afterwards(lambda: admin.compute.delete_aggregate(aggregate))
    admin.compute.add_host_to_aggregate(aggregate, open_host)
    scene.afterwards(lambda: admin.compute.remove_host_from_aggregate(aggregate, open_host))
    _out, said = scene.command('admin', 'host', 'create', open_host, code=1)
    assert 'reservation_zone = where_none' in said
