# SPDX-License-Identifier: Apache-2.0
"""The resources OS::Blazar::Lease and OS::Blazar::Host of a real Heat."""
import importlib.metadata

import api_options
import leaks
import pytest
import stack_scene

LEASE = ('name', 'start_date', 'end_date', 'created_at', 'status', 'degraded', 'user_id',
         'project_id', 'reservations', 'events')
HOST = ('hypervisor_hostname', 'hypervisor_type', 'hypervisor_version', 'vcpus', 'cpu_info',
        'memory_mb', 'local_gb', 'service_name', 'reservable', 'created_at')


@pytest.fixture
def kinds():
    return leaks.COMPUTE + leaks.STACK


@pytest.fixture(autouse=True)
def row(cloud, record_property):
    """Heat is in the virtualenv of the cloud."""
    [path] = cloud.venv.glob('lib/python*/site-packages/openstack_heat-*.dist-info')
    record_property('consumer', (
        'Heat', importlib.metadata.Distribution.at(path).version))


@pytest.fixture
def opened(cloud, scene, tmp_path):
    """Members may list hosts, because Heat lists them before it creates a lease."""
    with api_options.changed(cloud, opened=api_options.MEMBERS_LIST_HOSTS, folder=tmp_path):
        yield


def template(kind, properties, attributes):
    """A template with one resource, whose outputs are the attributes."""
    return {**stack_scene.template(it={'type': kind, 'properties': properties}), 'outputs': {
        name: {'value': {'get_attr': ['it', name]}} for name in attributes}}


def lease(name, *reservations):
    return template('OS::Blazar::Lease', {
        'name': name, 'start_date': '2031-01-01 10:00', 'end_date': '2031-01-01 12:00',
        'reservations': list(reservations)}, LEASE)


@pytest.mark.usefixtures('opened')
def test_a_member_leases_hosts_and_instances_with_a_stack(scene, demo):
    heat, name = stack_scene.Heat(demo), scene.name()
    stack_id = heat.create(scene, name, lease(
        name, {'resource_type': 'physical:host', 'min': 1, 'max': 1,
               'resource_properties': '["==", "$rack", "left"]'},
        {'resource_type': 'virtual:instance', 'amount': 2, 'vcpus': 1, 'memory_mb': 256,
         'disk_gb': 1}))
    shown = heat.outputs(stack_id)
    assert set(shown) == set(LEASE)
    assert (shown['name'], shown['status'], shown['start_date']) == (
        name, 'PENDING', '2031-01-01T10:00:00.000000')
    host, instances = shown['reservations']
    assert (host['resource_type'], instances['resource_type']) == (
        'physical:host', 'virtual:instance')
    assert (instances['affinity'], instances['amount']) == (False, 2)
    assert demo.compute.get_server_group(instances['server_group_id'])
    assert [each['name'] for each in scene.climate().leases.list()] == [name]
    heat.delete(stack_id)
    assert list(scene.climate().leases.list()) == []


def test_a_member_who_may_not_list_hosts_reads_which_policy_is_missing(scene, demo):
    with pytest.raises(Exception, match='climate:oshosts:get'):
        stack_scene.Heat(demo).create(scene, scene.name(), lease(
            scene.name(), {'resource_type': 'physical:host', 'min': 1, 'max': 1}))


def test_an_administrator_enrols_a_host_with_a_stack(scene, admin, open_host):
    heat = stack_scene.Heat(admin)
    stack_id = heat.create(scene, scene.name(), template(
        'OS::Blazar::Host', {'name': open_host, 'extra_capability': {'gpu': 'A100'}},
        (*HOST, 'extra_capability')))
    host = scene.climate('admin').hosts.find(open_host)
    assert host['gpu'] == 'A100'
    shown = heat.outputs(stack_id)
    # Blazar shows each extra capability as a field of its own, so Heat finds none of this name.
    assert set(HOST) <= set(shown)
    assert shown.get('extra_capability') is None
    assert (shown['hypervisor_hostname'], shown['vcpus']) == (open_host, 16)
    heat.delete(stack_id)
    assert open_host not in {each['hypervisor_hostname']
                             for each in scene.climate('admin').hosts.list()}
