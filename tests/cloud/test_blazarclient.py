# SPDX-License-Identifier: Apache-2.0
"""python-blazarclient as it comes from PyPI, command by command, on the real cloud."""
import json

import client_story
import consumer as consumers
import pytest
import scene as scenes

HOST_LIST = ['id', 'hypervisor_hostname', 'vcpus', 'memory_mb', 'local_gb']
HOST = {*HOST_LIST, 'service_name', 'cpu_info', 'hypervisor_type', 'hypervisor_version',
        'availability_zone', 'trust_id', 'reservable', 'status', 'created_at', 'updated_at'}
LEASE_LIST = ['id', 'name', 'start_date', 'end_date']
LEASE = {*LEASE_LIST, 'user_id', 'project_id', 'trust_id', 'status', 'degraded', 'created_at',
         'updated_at', 'reservations', 'events'}
RESERVATION = {'id', 'lease_id', 'resource_id', 'resource_type', 'status', 'missing_resources',
               'resources_changed', 'created_at', 'updated_at', 'min', 'max',
               'hypervisor_properties', 'resource_properties', 'before_end'}
EVENT = {'id', 'lease_id', 'event_type', 'time', 'status', 'created_at', 'updated_at'}
FLOATING_IP = {'id', 'floating_network_id', 'subnet_id', 'floating_ip_address', 'reservable',
               'created_at', 'updated_at'}
NOBODY = '3b1f1c0e-0000-4000-8000-000000000000'


@pytest.fixture(scope='module', params=[
    '4.5.0', pytest.param('4.6.0', marks=pytest.mark.consumers)])
def client(request, cloud):
    """The client alone, without the commands of Climate's own."""
    program = consumers.Consumer(cloud, f'python-blazarclient=={request.param}',
                                 'python-openstackclient')
    program.install()
    return program


@pytest.fixture(scope='module')
def run(client):
    with client.commands() as run:
        yield run


@pytest.fixture(autouse=True)
def row(client, record_property):
    record_property('consumer', (client.name, client.version))


@pytest.fixture
def blazar(run, scene):
    """The command ``blazar``."""
    return consumers.Commands(run, 'blazar')


@pytest.fixture
def openstack(run, scene):
    """The command ``openstack`` with the client's plug-in."""
    return consumers.Commands(run, 'openstack')


def _part(value):
    """The objects in a field: the client shows each as JSON text, one under the other."""
    if not isinstance(value, str):
        return value
    found, rest, decoder = [], value, json.JSONDecoder()
    while rest:
        one, length = decoder.raw_decode(rest)
        found.append(one)
        rest = rest[length:].lstrip()
    return found


def test_hosts_are_withdrawn_enrolled_described_and_listed(blazar, cloud):
    name = cloud.compute_hosts[-1]
    assert f'Deleted host: {name}' in blazar('host-delete', name)[0]
    made = blazar.read('host-create', name, '--extra', 'rack=right')
    assert {*made} == HOST | {'rack'}
    assert made['id'].isdigit()
    assert (made['hypervisor_hostname'], made['vcpus'], made['rack']) == (name, 16, 'right')
    assert json.loads(made['cpu_info'])['arch'] == 'x86_64'
    assert blazar.read('host-show', name) == made
    assert blazar.read('host-show', made['id']) == made
    assert f'Updated host: {name}' in blazar('host-update', name, '--extra', 'rack=left')[0]
    assert blazar.read('host-show', name)['rack'] == 'left'
    blazar('host-update', name, '--extra', 'rack=right')
    listed = blazar.read('host-list')
    assert [[*each] for each in listed] == [HOST_LIST] * len(cloud.compute_hosts)
    assert [each['hypervisor_hostname'] for each in listed] == cloud.compute_hosts


def test_a_refused_host_has_a_reason(blazar, cloud):
    name = cloud.compute_hosts[0]
    assert 'Host compute was not found' in blazar.refused('host-create', 'compute')
    assert 'enrolled already' in blazar.refused('host-create', name)
    assert 'Extra capability key too long' in blazar.refused(
        'host-update', name, '--extra', f'{"k" * 65}=1')
    assert 'vcpus' in blazar.refused('host-update', name, '--extra', 'vcpus=2')
    assert 'Host 999 was not found' in blazar.refused('host-show', '999')
    assert "name 'compute'" in blazar.refused('host-show', 'compute')
    assert 'Host 999 was not found' in blazar.refused('host-delete', '999')
    assert 'climate:oshosts:get' in blazar.refused('host-list', person='demo')


def test_a_lease_is_made_shown_changed_and_deleted(blazar, scene, cloud):
    name = scene.name()
    made = blazar.read(
        'lease-create', name, '--start-date', '2031-01-01 10:00', '--end-date', '2031-01-01 12:00',
        '--physical-reservation',
        'min=1,max=2,hypervisor_properties=[">=", "$vcpus", "2"],'
        'resource_properties=["==", "$rack", "left"]', person='demo')
    scene.remember(made['id'])
    assert {*made} == LEASE
    assert made['status'] == 'PENDING'
    assert made['start_date'] == '2031-01-01T10:00:00.000000'
    [reservation] = _part(made['reservations'])
    assert {*reservation} >= RESERVATION
    assert json.loads(reservation['hypervisor_properties']) == ['>=', '$vcpus', '2']
    events = _part(made['events'])
    assert all({*event} == EVENT for event in events)
    assert sorted(event['event_type'] for event in events) == [
        'before_end_lease', 'end_lease', 'start_lease']
    shown = blazar.read('lease-show', name, person='demo')
    assert {key: shown[key] for key in ('id', 'name', 'reservations')} == {
        key: made[key] for key in ('id', 'name', 'reservations')}
    [listed] = [each for each in blazar.read('lease-list', person='demo')
                if each['id'] == made['id']]
    assert [*listed] == LEASE_LIST

    given = [each for each in blazar.read('allocation-list', 'host', '--lease-id', made['id'])
             if each['reservations']]
    assert len(given) == 2
    assert {*given[0]} == {'resource_id', 'reservations'}

    def change(*words):
        said, _warnings = blazar('lease-update', made['id'], *words, person='demo')
        assert f'Updated lease: {made["id"]}' in said
        return blazar.read('lease-show', made['id'], person='demo')
    assert change('--name', f'{name}-b')['name'] == f'{name}-b'
    assert change('--prolong-for', '1h')['end_date'] == '2031-01-01T13:00:00.000000'
    assert change('--reduce-by', '90m')['end_date'] == '2031-01-01T11:30:00.000000'
    assert 'End date must be later than start date.' in blazar.refused(
        'lease-update', made['id'], '--reduce-by', '5h', person='demo')
    assert change('--defer-by', '30m')['start_date'] == '2031-01-01T10:30:00.000000'
    [changed] = _part(change('--reservation', f'id={reservation["id"]},max=1')['reservations'])
    assert changed['max'] == 1
    assert f'Deleted lease: {name}-b' in blazar('lease-delete', f'{name}-b', person='demo')[0]
    assert 'was not found' in blazar.refused('lease-show', made['id'], person='demo')


def test_a_lease_that_starts_now_holds_hosts_until_it_is_deleted(blazar, scene, cloud):
    name = scene.name()
    made = blazar.read('lease-create', name, '--physical-reservation', 'min=1,max=1',
                       person='demo')
    scene.remember(made['id'])
    [reservation] = _part(made['reservations'])
    scenes.until(lambda: blazar.read('lease-show', name, person='demo')['status'] == 'ACTIVE',
                 'the lease to be ACTIVE')
    server = scene.boot('demo', reservation['id'])
    assert server.compute_host in scene.hosts_in(reservation['id'])
    assert f'Deleted lease: {name}' in blazar('lease-delete', name, person='demo')[0]
    assert not scene.exists(server.id)
    assert scene.hosts_in('freepool') == set(cloud.compute_hosts)


def test_a_refused_lease_has_a_reason(blazar, scene):
    def refused(*words):
        return blazar.refused('lease-create', scene.name(), *words, person='demo')
    until_noon = ('--start-date', '2031-01-01 10:00', '--end-date', '2031-01-01 12:00')
    assert 'Only 4 of 9 hosts' in refused(
        *until_noon, '--physical-reservation', 'min=9,max=9')
    # The client checks the dates of a new lease itself.
    assert 'The lease parameters are incorrect.' in refused(
        '--start-date', '2031-01-01 10:00', '--end-date', '2031-01-01 09:00',
        '--physical-reservation', 'min=1,max=1')
    assert '"rock"' in refused(
        *until_noon, '--physical-reservation',
        'min=1,max=1,resource_properties=["==", "$rock", "left"]')
    assert f'Lease {NOBODY} was not found' in blazar.refused('lease-show', NOBODY)
    assert f'Lease {NOBODY} was not found' in blazar.refused('lease-delete', NOBODY)
    assert f'Lease {NOBODY} was not found' in blazar.refused(
        'lease-update', NOBODY, '--name', 'other')
    assert "name 'nothing-of-that-name'" in blazar.refused(
        'lease-update', 'nothing-of-that-name', '--prolong-for', '1h')


def test_a_lease_over_a_limit_is_refused_with_a_readable_reason(
        blazar, openstack, scene, limit_book):
    limit_book({'name': 'two-hours', 'measure': 'lease_length', 'most': '2h'})
    name, dates = scene.name(), ('--start-date', '2031-01-01 10:00', '--end-date')
    reason = ('Limit "two-hours" (leases of at most 2h): this lease would last 3h. '
              'Ask for an end until 2031-01-01 12:00 UTC.')
    assert reason in blazar.refused('lease-create', name, *dates, '2031-01-01 13:00',
                                    '--physical-reservation', 'min=1,max=1', person='demo')
    assert reason in openstack.refused(
        'reservation', 'lease', 'create', name, *dates, '2031-01-01 13:00', '--reservation',
        'resource_type=physical:host,min=1,max=1', person='demo')
    made = blazar.read('lease-create', name, *dates, '2031-01-01 12:00',
                       '--physical-reservation', 'min=1,max=1', person='demo')
    scene.remember(made['id'])
    assert reason in blazar.refused('lease-update', name, '--prolong-for', '1h', person='demo')
    assert blazar.read('lease-show', name, person='demo')['end_date'] == made['end_date']


def test_properties_and_allocations_are_listed(blazar, cloud):
    assert blazar.read('host-property-list') == [{'property': 'rack'}]
    [detailed] = blazar.read('host-property-list', '--detail')
    assert [*detailed] == ['property', 'private', 'property_values']
    blazar('host-property-set', 'rack', '--private')
    try:
        assert blazar.read('host-property-list', '--all') == [{'property': 'rack'}]
        assert 'rack' not in blazar('host-property-list')[0]
        # The client looks among the public ones only.
        assert 'does not exist' in blazar.refused('host-property-show', 'rack')
    finally:
        blazar('host-property-set', 'rack', '--public')
    assert blazar.read('host-property-show', 'rack')['private'] is False
    allocations = blazar.read('allocation-list', 'host')
    assert [[*each] for each in allocations] == [
        ['resource_id', 'reservations']] * len(cloud.compute_hosts)
    one = blazar.read('allocation-show', 'host', allocations[0]['resource_id'])
    assert one['resource_id'] == allocations[0]['resource_id']
    assert 'No host has a property "rock"' in blazar.refused(
        'host-property-set', 'rock', '--private')
    assert 'Host 999 was not found' in blazar.refused('allocation-show', 'host', '999')
    assert 'climate:oshosts:get_allocations' in blazar.refused(
        'allocation-list', 'host', person='demo')


def test_the_plug_in_of_openstack_does_the_same(openstack, scene, cloud):
    listed = openstack.read('reservation', 'host', 'list')
    assert [[*each] for each in listed] == [HOST_LIST] * len(cloud.compute_hosts)
    name = scene.name()
    made = openstack.read(
        'reservation', 'lease', 'create', name, '--start-date', '2031-01-01 10:00',
        '--end-date', '2031-01-01 12:00', '--reservation',
        'resource_type=physical:host,min=1,max=1', person='demo')
    scene.remember(made['id'])
    assert {*made} == LEASE
    openstack('reservation', 'lease', 'set', name, '--prolong-for', '1h', person='demo')
    shown = openstack.read('reservation', 'lease', 'show', name, person='demo')
    assert shown['end_date'] == '2031-01-01T13:00:00.000000'
    openstack('reservation', 'lease', 'delete', name, person='demo')
    assert 'Only 4 of 9 hosts' in openstack.refused(
        'reservation', 'lease', 'create', name, '--reservation',
        'resource_type=physical:host,min=9,max=9', person='demo')


def test_floating_ips_are_enrolled_leased_and_withdrawn(blazar, openstack, scene, admin):
    network_id = admin.network.find_network('public').id
    made = blazar.read('floatingip-create', network_id, '172.24.4.207')
    scene.afterwards(lambda: [scene.climate('admin').pool('address').delete(each['id'])
                              for each in list(scene.climate('admin').pool('address').list())])
    assert {*made} == FLOATING_IP
    assert (made['floating_network_id'], made['floating_ip_address'], made['reservable']) == (
        network_id, '172.24.4.207', True)
    shown = blazar.read('floatingip-show', made['id'], person='demo')
    assert {**shown, 'created_at': None} == {**made, 'created_at': None}
    assert blazar.read('floatingip-list', person='demo') == [
        {key: made[key] for key in ('id', 'floating_ip_address', 'floating_network_id')}]
    assert openstack.read('reservation', 'floatingip', 'list')[0]['id'] == made['id']

    name = scene.name()
    lease = blazar.read(
        'lease-create', name, '--reservation',
        f'resource_type=virtual:floatingip,network_id={network_id},amount=1,'
        'required_floatingips=["172.24.4.207"]', person='demo')
    scene.remember(lease['id'])
    [reservation] = _part(lease['reservations'])
    assert (reservation['resource_type'], reservation['network_id'], reservation['amount'],
            reservation['required_floatingips']) == (
        'virtual:floatingip', network_id, 1, ['172.24.4.207'])
    scenes.until(lambda: blazar.read('lease-show', name, person='demo')['status'] == 'ACTIVE',
                 'the lease to be ACTIVE')
    [there] = admin.network.ips(floating_ip_address='172.24.4.207')
    assert f'reservation:{reservation["id"]}' in there.tags
    assert 'lease' in blazar.refused('floatingip-delete', made['id'])
    assert 'Only 0 of 1 addresses' in blazar.refused(
        'lease-create', scene.name(), '--reservation',
        f'resource_type=virtual:floatingip,network_id={network_id}', person='demo')
    blazar('lease-update', name, '--prolong-for', '1h', person='demo')
    assert f'Deleted lease: {name}' in blazar('lease-delete', name, person='demo')[0]
    scenes.until(lambda: not list(admin.network.ips(floating_ip_address='172.24.4.207')),
                 'the floating IP to be gone')
    assert f'Deleted floatingip: {made["id"]}' in blazar('floatingip-delete', made['id'])[0]
    assert blazar.read('floatingip-list') == []


def test_a_refused_floating_ip_has_a_reason(blazar, scene, admin):
    network_id = admin.network.find_network('public').id
    for address, words in (('172.24.4.1', 'gateway'), ('172.24.4.100', 'allocation pool'),
                           ('10.0.0.1', 'no subnet'), ('nonsense', 'floating_ip_address')):
        assert words in blazar.refused('floatingip-create', network_id, address)
    assert 'floating_network_id' in blazar.refused('floatingip-create', NOBODY, '172.24.4.207')
    assert 'climate:floatingips:post' in blazar.refused(
        'floatingip-create', network_id, '172.24.4.207', person='demo')
    assert 'was not found' in blazar.refused('floatingip-show', '999')
    assert 'network_id' in blazar.refused(
        'lease-create', scene.name(), '--reservation',
        f'resource_type=virtual:floatingip,network_id={NOBODY},amount=1', person='demo')


@pytest.mark.consumers
@pytest.mark.parametrize('program', ['blazar', 'openstack'])
def test_every_command_works(client, run, scene, cloud, admin, program):
    known = client_story.names(client)[program]
    story = client_story.Story(consumers.Commands(run, program), known, scene)
    story.play(cloud.compute_hosts[-1], admin.network.find_network('public').id)
    assert story.used == known
