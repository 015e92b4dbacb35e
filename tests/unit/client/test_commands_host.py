# SPDX-License-Identifier: Apache-2.0
"""The commands about hosts, properties, allocations and services, run as a user runs them."""
import pytest
from unit.client import canned

URL = canned.URL


@pytest.fixture
def hosts(requests_mock):
    """A service that has the host cmp-3."""
    requests_mock.get(f'{URL}/os-hosts', json={'hosts': [canned.a_host()]})
    requests_mock.get(f'{URL}/os-hosts/3', json={'host': canned.a_host()})
    requests_mock.put(f'{URL}/os-hosts/3', json={'host': canned.a_host()})
    requests_mock.post(f'{URL}/os-hosts', json={'host': canned.a_host()}, status_code=201)
    requests_mock.delete(f'{URL}/os-hosts/3', status_code=204)
    return requests_mock


def test_a_host_is_enrolled_with_properties(run, hosts):
    outcome = run('host', 'create', 'cmp-3', '--property', 'gpu=True', '--property', 'rack=a=b')
    assert outcome.code == 0, outcome.err
    assert hosts.last_request.json() == {'name': 'cmp-3', 'gpu': 'True', 'rack': 'a=b'}


def test_hosts_are_listed(run, hosts):
    assert run('host', 'list', '-f', 'json').json == [{
        'id': '3', 'hypervisor_hostname': 'cmp-3', 'vcpus': 32, 'memory_mb': 65536,
        'local_gb': 500}]


def test_a_host_is_shown_with_its_properties(run, hosts):
    assert run('host', 'show', 'cmp-3', '-f', 'json').json['gpu'] == 'True'


def test_more_columns_of_a_list_are_those_that_the_service_has(run, hosts):
    outcome = run('host', 'list', '--long')
    assert 'reservable' in outcome.out
    assert not {'status', 'None'} & set(outcome.out.split())


def test_the_traits_of_a_host_are_lines_for_people_and_a_list_for_programs(run, hosts):
    traits = [line.split('|')[2].strip() for line in run('host', 'show', '3').out.splitlines()
              if 'HW_CPU' in line]
    assert traits == ['HW_CPU_X86_AVX2', 'HW_CPU_X86_VMX']
    assert run('host', 'show', '3', '-f', 'json').json['traits'] == traits


def test_properties_are_set_and_unset(run, hosts):
    assert run('host', 'set', 'cmp-3', '--property', 'rack=7', '--unset', 'gpu').code == 0
    assert hosts.last_request.json() == {'rack': '7', 'gpu': None}


@pytest.mark.parametrize('words', [
    ('host', 'set', 'cmp-3', '--unset', 'gpuu'), ('property', 'unset', 'gpuu', '--host', 'cmp-3'),
    ('host', 'set', 'cmp-3', '--property', 'rack=7', '--unset', 'gpu', '--unset', 'gpuu')])
def test_an_unknown_property_cannot_be_unset(run, hosts, words):
    outcome = run(*words)
    assert outcome.code == 1
    assert ('Host cmp-3 has no property "gpuu"; nothing was changed. "climate host show cmp-3" '
            'shows its properties.') in outcome.err
    assert 'PUT' not in [call.method for call in hosts.request_history]


@pytest.mark.parametrize('word, reservable', [('--disable', False), ('--enable', True)])
def test_a_host_is_taken_out_of_use_and_back(run, hosts, word, reservable):
    assert run('host', 'set', 'cmp-3', word).code == 0
    assert hosts.last_request.json() == {'reservable': reservable}


def test_setting_nothing_is_refused(run, hosts):
    outcome = run('host', 'set', 'cmp-3')
    assert (outcome.code, hosts.call_count) == (2, 0)
    assert '--property gpu=True' in outcome.err


def test_hosts_are_deleted_by_name_or_id(run, hosts):
    assert run('host', 'delete', 'cmp-3', '3').code == 0
    assert [call.method for call in hosts.request_history].count('DELETE') == 2


@pytest.mark.parametrize('words, query', [
    (['--detail'], {'detail': ['true']}),
    (['--all'], {'detail': ['true'], 'all': ['true']})])
def test_properties_are_listed_for_administrators(run, requests_mock, words, query):
    requests_mock.get(f'{URL}/os-hosts/properties', json={'resource_properties': [
        {'property': 'gpu', 'private': False, 'values': ['False', 'True']}]})
    found = run('property', 'list', *words, '-f', 'json').json
    assert requests_mock.last_request.qs == query
    assert found == [{'property': 'gpu', 'private': False, 'values': ['False', 'True']}]


@pytest.mark.parametrize('word, private', [('--private', True), ('--public', False)])
def test_a_property_is_made_private_or_public(run, requests_mock, word, private):
    requests_mock.patch(f'{URL}/os-hosts/properties/gpu', json={
        'resource_property': {'id': '1', 'property_name': 'gpu', 'private': private}})
    assert run('property', 'set', 'gpu', word).code == 0
    assert requests_mock.last_request.json() == {'private': private}


def test_a_property_is_unset_on_hosts(run, hosts):
    assert run('property', 'unset', 'gpu', '--host', 'cmp-3').code == 0
    assert hosts.last_request.json() == {'gpu': None}


ALLOCATION = {'resource_id': '3', 'reservations': [{
    'id': 'r1', 'lease_id': 'l1', 'start': '2030-05-01T08:00:00Z',
    'end': '2030-05-01T10:00:00Z'}]}


def test_allocations_are_listed_by_lease_name(run, hosts):
    hosts.get(f'{URL}/leases', json={'leases': [canned.a_lease()]})
    hosts.get(f'{URL}/leases/{canned.LEASE_ID}', json={'lease': canned.a_lease()})
    asked = hosts.get(f'{URL}/os-hosts/allocations', json={'allocations': [ALLOCATION]})
    outcome = run('allocation', 'list', '--lease', 'demo', '--reservation', 'r1')
    assert asked.last_request.qs == {'lease_id': [canned.LEASE_ID], 'reservation_id': ['r1']}
    for words in ('2030-05-01 08:00 UTC to 2030-05-01 10:00 UTC', 'lease l1', 'reservation r1'):
        assert f' {words} ' in outcome.out


def test_allocations_have_the_names_of_hosts_as_far_as_they_are_enrolled(run, hosts):
    hosts.get(f'{URL}/os-hosts/allocations', json={'allocations': [
        ALLOCATION, {'resource_id': '9', 'reservations': []}]})
    found = run('allocation', 'list', '-f', 'json').json
    assert [(one['resource_id'], one['hypervisor_hostname']) for one in found] == [
        ('3', 'cmp-3'), ('9', '')]


def test_allocations_name_the_lease_and_its_owner(run, hosts):
    [reservation] = ALLOCATION['reservations']
    hosts.get(f'{URL}/os-hosts/allocations', json={'allocations': [{**ALLOCATION, 'reservations': [{
        **reservation, 'lease_name': 'demo', 'user_name': 'anna', 'user_id': 'u1',
        'project_name': None, 'project_id': 'p1'}]}]})
    out = run('allocation', 'list').out
    for words in ('lease demo', 'owner anna', 'project p1'):
        assert f' {words} ' in out


def test_several_places_on_one_host_are_counted_as_times(run, hosts):
    [reservation] = ALLOCATION['reservations']
    hosts.get(f'{URL}/os-hosts/allocations', json={'allocations': [
        {**ALLOCATION, 'reservations': [{**reservation, 'count': 10}]}]})
    out = run('allocation', 'list').out
    assert 'to 2030-05-01 10:00 UTC, 10 times' in out
    assert 'slots' not in out


def test_an_allocation_is_shown(run, hosts):
    hosts.get(f'{URL}/os-hosts/3/allocation', json={'allocation': ALLOCATION})
    assert run('allocation', 'show', 'cmp-3', '-f', 'json').json == {
        **ALLOCATION, 'hypervisor_hostname': 'cmp-3'}


def test_services_are_listed(run, requests_mock):
    service = {'id': 'one:8', 'binary': 'climate-manager', 'host': 'one', 'state': 'down',
               'since': '2030-05-01T08:00:00Z', 'last_seen': '2030-05-01T09:00:00Z',
               'running_events': 3, 'not_ready': None}
    requests_mock.get(f'{URL}/services', json={'services': [service]})
    del service['binary']
    assert run('service', 'list', '-f', 'json').json == [service]


def test_a_manager_that_is_not_ready_is_listed_as_such(run, requests_mock):
    requests_mock.get(f'{URL}/services', json={'services': [
        {'id': 'one:8', 'binary': 'climate-manager', 'host': 'one', 'state': 'up',
         'since': '2030-05-01T08:00:00Z', 'last_seen': '2030-05-01T09:00:00Z',
         'running_events': 0, 'not_ready': 'Keystone: the login is refused'}]})
    assert '| not ready |' in run('service', 'list').out
    assert 'the login is refused' in run('service', 'list', '--long').out
