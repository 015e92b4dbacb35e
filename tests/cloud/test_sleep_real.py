# SPDX-License-Identifier: Apache-2.0
"""Real computes sleep and wake up in time, switched by emulated Redfish BMCs."""
import powered
import pytest
import scene as scenes

from tools.cloud import processes


@pytest.fixture
def hosts(scene, cloud, tmp_path):
    """The hosts of the client library; the manager lets them sleep. Afterwards all are awake."""
    found = scene.climate('admin').hosts
    with powered.bmcs(cloud, tmp_path, cloud.compute_hosts) as path, powered.sleeping(
            cloud, path, lambda: _states(found) == {'awake'}):
        yield found


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
    made = scene.lease(active=False)
    # That a host is up is not believed for [energy] settle_seconds, 90, after it fell asleep.
    scene.wait(made['id'], 'active', 180)
    assert 'awake' in _states(hosts)
