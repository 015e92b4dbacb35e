# SPDX-License-Identifier: Apache-2.0
"""Real computes sleep and wake up in time, switched by emulated Redfish BMCs."""
import os
import socket
import subprocess
import sys

import pytest
import scene as scenes

from tools.cloud import bmc
from tools.cloud import climate_service
from tools.cloud import processes
from tools.cloud import settings

_ENERGY = """
[energy]
driver = redfish
bmc_file = {file}
poll_seconds = 1
lead_minutes = 0
wake_minutes = 1
spare = 0
min_awake_minutes = 0
min_asleep_minutes = 1
cycles_per_day = 100
"""


@pytest.fixture
def bmcs(cloud, tmp_path):
    """The path of the file that names the BMCs of the computes, which answer."""
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    state = tmp_path / 'emulator'
    state.mkdir()
    with (tmp_path / 'bmc.log').open('wb') as output:
        served = subprocess.Popen(
            [sys.executable, '-m', 'tools.cloud.bmc', str(port), str(state)],
            cwd=settings.CHECKOUT, env=os.environ.copy(), stdout=output, stderr=output)
    scenes.until(lambda: processes.answers(f'http://127.0.0.1:{port}/redfish/v1'), 'the BMCs')
    path = tmp_path / 'bmcs.yaml'
    path.write_text(''.join(
        f'{name}: {{address: "http://127.0.0.1:{port}", username: admin, password: secret, '
        f'system: /redfish/v1/Systems/{bmc.identity(name)}}}\n' for name in cloud.compute_hosts))
    path.chmod(0o600)
    yield path
    served.terminate()
    served.wait()


@pytest.fixture
def hosts(scene, cloud, bmcs):
    """The hosts of the client library; the manager lets them sleep. Afterwards all are awake."""
    def restart(more=''):
        processes.stop(cloud, 'climate-manager')
        climate_service.write_conf(cloud)
        with climate_service.conf_file(cloud).open('a') as written:
            written.write(more)
        climate_service.start(cloud, 'climate-manager')
    found = scene.climate('admin').hosts
    restart(_ENERGY.format(file=bmcs))
    yield found
    restart(_ENERGY.format(file=bmcs).replace('spare = 0', 'spare_percent = 100'))
    scenes.until(lambda: _states(found) == {'awake'}, 'all hosts to be awake', 180)
    restart()


def _states(hosts):
    return {each.get('power_state') for each in hosts.list()}


def test_hosts_sleep_and_one_wakes_up_in_time_for_its_lease(scene, cloud, hosts):
    scenes.until(lambda: _states(hosts) == {'asleep'}, 'all hosts to sleep', 120)
    assert not any(processes.pid_of(cloud, f'nova-{name}') for name in cloud.climate_hosts)
    start = scenes.in_seconds(90)
    made = scene.climate().leases.create(scene.name(), start=start, duration='5m', reservations=[
        {'resource_type': 'physical:host', 'min': 1, 'max': 1}])
    scene.remember(made['id'])
    scene.wait(made['id'], 'active', 180)
    late = scenes.seconds_since(start)
    assert late < 15, f'It started {late} s late.'
    server = scene.boot(reservation=made['reservations'][0]['id'])
    assert server is not None


def test_a_lease_of_now_waits_for_its_host_and_starts(scene, hosts):
    scenes.until(lambda: _states(hosts) == {'asleep'}, 'all hosts to sleep', 120)
    scene.lease(active=True)
    assert 'awake' in _states(hosts)
