# SPDX-License-Identifier: Apache-2.0
"""Health, swaps and maintenance on the real cloud: a nova-compute stops and comes back."""
import pytest
import scene as scenes

from climate.client import errors

# service_down_time, [health] sick_after_seconds and some looks.
_PATIENCE = 200


@pytest.fixture
def hosts(scene):
    """The hosts as an administrator sees them."""
    return scene.climate('admin').hosts


def _state(hosts, name):
    return hosts.find(name)['health']['state']


def _wait(hosts, name, state):
    scenes.until(lambda: _state(hosts, name) == state, f'{name} to be {state}', _PATIENCE, 1)


def _hosts_of(hosts, lease):
    [reservation] = lease['reservations']
    return {hosts.get(key)['hypervisor_hostname'] for key in reservation['resources']}


def _services(scene, name):
    [found] = scene.people['admin'].compute.services(binary='nova-compute', host=name)
    return found


def test_a_lease_leaves_a_host_whose_nova_compute_stops(scene, cloud, hosts):
    lease = scene.lease(start=scenes.in_seconds(3600), active=False)
    [name] = _hosts_of(hosts, lease)
    with scenes.frozen(cloud, f'nova-{name}'):
        _wait(hosts, name, 'sick')
        scenes.until(lambda: _hosts_of(hosts, scene.climate().leases.get(lease['id'])) != {name},
                     'another host', 30, 1)
    assert 'moved' in [each['what'] for each in scene.climate().leases.history(lease['id'])]
    _wait(hosts, name, 'well')


def test_a_broken_host_is_swapped_and_another_is_booted_on(scene, hosts):
    lease = scene.lease()
    [reservation] = lease['reservations']
    [name] = _hosts_of(hosts, lease)
    server = scene.boot('demo', reservation['id'])
    scene.afterwards(lambda: hosts.update(hosts.find(name)['id'], in_order=True))
    scene.climate().leases.swap(lease['id'], name)
    after = scene.wait(lease['id'], 'active')
    assert _hosts_of(hosts, after) != {name}
    scenes.until(lambda: not scene.exists(server.id), 'the old server to be gone')
    scenes.until(lambda: scene.hosts_in(reservation['id']) == _hosts_of(hosts, after),
                 'the host to be handed over', 60, 1)
    assert name in scene.hosts_in('freepool')
    assert scene.boot('demo', reservation['id']).compute_host in _hosts_of(hosts, after)
    assert _state(hosts, name) == 'well'


def test_a_host_is_disabled_during_maintenance_and_enabled_after_it(scene, cloud, hosts):
    maintenances = scene.climate('admin').maintenances
    name = cloud.climate_hosts[0]
    found = maintenances.create('new firmware', start='now', end='+1h', hosts=[name])
    scenes.until(lambda: _services(scene, name).status == 'disabled', 'a closed host', 60, 1)
    assert _services(scene, name).disabled_reason.startswith('climate: maintenance ')
    assert [each['reason'] for each in hosts.find(name)['maintenances']] == ['new firmware']
    maintenances.delete(found['id'])
    scenes.until(lambda: _services(scene, name).status == 'enabled', 'an open host', 60, 1)
    with pytest.raises(errors.NotFound):
        maintenances.get(found['id'])
    assert _state(hosts, name) == 'well'


def test_a_host_that_an_administrator_disabled_stays_disabled(scene, cloud, hosts):
    compute, maintenances = scene.people['admin'].compute, scene.climate('admin').maintenances
    name = cloud.climate_hosts[0]
    service = _services(scene, name)
    compute.disable_service(service, disabled_reason='mine')
    scene.afterwards(lambda: compute.enable_service(service))
    found = maintenances.create('new firmware', start='now', end='+1h', hosts=[name])
    scenes.until(lambda: maintenances.get(found['id'])['windows'][0]['state'] == 'running',
                 'a window that runs', 60, 1)
    maintenances.delete(found['id'])
    scenes.until(lambda: found['id'] not in [each['id'] for each in maintenances.list()],
                 'the end of the maintenance', 60, 1)
    assert _services(scene, name).disabled_reason == 'mine'
