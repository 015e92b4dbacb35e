# SPDX-License-Identifier: Apache-2.0
"""Leased volumes in availability zones, where Nova attaches volumes of the same zone only."""
import leaks
from openstack import exceptions
import pytest
import scene as scenes
import stored
import zoning

from tools.cloud import configure
from tools.cloud import processes
from tools.cloud import services

pytestmark = pytest.mark.services

#: A host of Cinder in the zone, and its back end.
MACHINE, BACKEND, ZONE, OTHER = 'zoned', 'zoned@zoned#zoned', 'az1', 'az2'


@pytest.fixture
def kinds():
    return leaks.COMPUTE + leaks.VOLUME


@pytest.fixture(scope='module')
def zones(climate, people, cloud):
    """{zone: its two hosts}; Nova attaches no volume of another zone."""
    names = cloud.compute_hosts
    found = {ZONE: names[:2], OTHER: names[2:4]}
    with zoning.zones(scenes.Scene(cloud, people), found):
        yield found


@pytest.fixture(scope='module')
def strict(cloud, people, tmp_path_factory):
    """Nova attaches volumes of the same zone only."""
    def restart(**environment):
        scenes.run(cloud, scenes.PYTHON, '-m', 'tools.cloud', 'restart', 'nova', **environment)
        scenes.until(lambda: _is_up(people['admin']), 'Nova to be back', 90, 1)
    path = tmp_path_factory.mktemp('nova') / 'extra.conf'
    path.write_text('[cinder]\ncross_az_attach = False\n')
    restart(CLOUD_NOVA_EXTRA=str(path))
    yield
    restart()


def _is_up(admin):
    try:
        return all(each.state == 'up' for each in admin.compute.services(binary='nova-compute'))
    except exceptions.SDKException:
        return False


@pytest.fixture
def backend_in_zone(scene, cloud, admin):
    """The back end of a host of Cinder in the zone, enrolled."""
    configure.storage_host(cloud, MACHINE, 10)
    with (cloud.conf / 'cinder' / f'{MACHINE}.conf').open('a') as written:
        written.write(f'backend_availability_zone = {ZONE}\n')
    process = f'{services.STORAGE_HOST}{MACHINE}'
    services.start(cloud, process)
    scene.afterwards(lambda: services.forget_storage_host(cloud, MACHINE))
    scene.afterwards(lambda: processes.stop(cloud, process))
    scenes.until(lambda: BACKEND in {each.name for each in admin.block_storage.backend_pools()},
                 'Cinder to list the back end', 120, pause=1)
    pool = scene.climate('admin').pool('backend')
    made = pool.create(BACKEND, {})
    scene.afterwards(lambda: pool.delete(made['id']))
    return made


def test_leased_volumes_are_in_the_zone_of_their_back_end_and_attached_there_only(
        scene, zones, strict, backend_in_zone, demo):
    assert backend_in_zone['availability_zone'] == ZONE
    storage = stored.Storage(scene)
    lease = storage.lease({'size_gb': 1, 'on_end': 'delete',
                           'resource_properties': f'["==", "$availability_zone", "{ZONE}"]'})
    [volume] = storage.volumes(lease)
    assert (volume.status, volume.host, volume.availability_zone) == ('available', BACKEND, ZONE)
    hosts = scene.lease(hosts=(3, 3))
    reservation = hosts['reservations'][0]['id']
    near, far = (scene.boot('demo', reservation, zone=zone) for zone in (ZONE, OTHER))
    assert (near.status, far.status) == ('ACTIVE', 'ACTIVE')
    with pytest.raises(exceptions.BadRequestException, match='availability_zone'):
        demo.compute.create_volume_attachment(far.id, volume_id=volume.id)
    assert storage.still(volume.id).status == 'available'
    demo.compute.create_volume_attachment(near.id, volume_id=volume.id)
    scenes.until(lambda: storage.still(volume.id).status == 'in-use', 'it to be attached')
    storage.end(lease)
    assert not storage.exists(volume.id)
