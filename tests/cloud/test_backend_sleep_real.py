# SPDX-License-Identifier: Apache-2.0
"""A real cinder-volume sleeps and wakes up in time, switched by an emulated Redfish BMC."""
import time

import leaks
import powered
import pytest
import scene as scenes
import stored

from tools.cloud import bmc
from tools.cloud import configure
from tools.cloud import processes
from tools.cloud import services

pytestmark = pytest.mark.services

#: A host of Cinder with nothing else on it, and its back end.
MACHINE, BACKEND, SIZE_GB = 'nap', 'nap@nap#nap', 10
REASON = 'climate: asleep to save energy'
CRITERION = '["==", "$nap", "yes"]'


@pytest.fixture
def kinds():
    return leaks.COMPUTE + leaks.VOLUME


@pytest.fixture
def storage_host(cloud, admin):
    """The name of the process of the host of Cinder, which runs; Cinder lists its back end."""
    process = bmc.process_of(cloud, MACHINE)
    configure.storage_host(cloud, MACHINE, SIZE_GB)
    services.start(cloud, process)
    scenes.until(lambda: BACKEND in {each.name for each in admin.block_storage.backend_pools()},
                 'Cinder to list the back end', 120, pause=1)
    yield process
    processes.stop(cloud, process)
    services.forget_storage_host(cloud, MACHINE)


@pytest.fixture
def napping(scene, cloud, storage_host, tmp_path):
    """The id of the back end, which is enrolled and may sleep. Afterwards all is awake."""
    climate = scene.climate('admin')
    pool = climate.pool('backend')
    made = pool.create(BACKEND, {'nap': 'yes'})

    def all_awake():
        return {each.get('power_state') for each in [*pool.list(), *climate.hosts.list()]} == {
            'awake'}
    names = [*cloud.compute_hosts, MACHINE]
    try:
        with powered.bmcs(cloud, tmp_path, names) as path, powered.sleeping(
                cloud, path, all_awake, wake_minutes=2):
            yield made['id']
    finally:
        pool.delete(made['id'])


@pytest.fixture
def power(scene, napping):
    """callable(): the state of the power of the back end."""
    pool = scene.climate('admin').pool('backend')
    return lambda: pool.get(napping)['power_state']


def _service(admin):
    """Return the service of the back end as Cinder shows it."""
    [found] = [each for each in admin.block_storage.get('/os-services').json()['services']
               if each['host'] == f'{MACHINE}@{MACHINE}']
    return found


def test_a_back_end_sleeps_and_wakes_up_in_time_for_its_lease(
        scene, storage, admin, cloud, storage_host, power):
    scenes.until(lambda: power() == 'asleep', 'the back end to sleep', 120)
    assert not processes.pid_of(cloud, storage_host)
    found = _service(admin)
    assert (found['status'], found['disabled_reason']) == ('disabled', REASON)
    start = scenes.in_seconds(180)
    lease = storage.lease({'size_gb': 1, 'on_end': 'delete', 'resource_properties': CRITERION},
                          active=False, start=start)
    scene.wait(lease['id'], 'active', 300)
    late = scenes.seconds_since(start)
    assert late < 15, f'It started {late} s late.'
    [volume] = storage.volumes(lease)
    assert (volume.status, volume.host) == ('available', BACKEND)
    assert _service(admin)['status'] == 'enabled'
    storage.end(lease)
    scenes.until(lambda: power() == 'asleep', 'the back end to sleep again', 120)


def test_a_lease_of_now_waits_for_its_back_end_and_starts(scene, storage, power):
    scenes.until(lambda: power() == 'asleep', 'the back end to sleep', 120)
    lease = storage.lease({'size_gb': 1, 'on_end': 'delete', 'resource_properties': CRITERION},
                          active=False)
    scene.wait(lease['id'], 'active', 240)
    assert power() == 'awake'
    storage.end(lease)


@pytest.fixture
def strange(scene, admin, storage_host):
    """The id of somebody else's volume on the back end, made before that is enrolled."""
    storage = stored.Storage(scene)
    kind = admin.block_storage.create_type(
        name=f'{MACHINE}-stranger', is_public=False, extra_specs={'volume_backend_name': MACHINE})
    admin.block_storage.add_type_access(kind.id, storage.project_id)
    made = storage.make(type_name=kind.name)
    assert made.status == 'available'
    yield made.id
    storage.drop(made.id)
    admin.block_storage.delete_type(kind.id)


def test_a_volume_of_somebody_else_keeps_the_back_end_awake(
        strange, storage, cloud, storage_host, power):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        assert power() in ('awake', 'falling_asleep')
        assert processes.pid_of(cloud, storage_host)
        time.sleep(0.5)
    storage.drop(strange)
    scenes.until(lambda: power() == 'asleep', 'the back end to sleep', 120)
