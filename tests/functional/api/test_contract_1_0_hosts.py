# SPDX-License-Identifier: Apache-2.0
"""Hosts, their properties and allocations at REST 1.0."""
import json
from urllib import parse

import pytest
from support import builders
from support import thinning

from climate import errors

HOST = {'id': str, 'hypervisor_hostname': str, 'service_name': str, 'vcpus': int,
        'memory_mb': int, 'local_gb': int, 'cpu_info': str, 'hypervisor_type': str,
        'hypervisor_version': int, 'availability_zone': str, 'trust_id': type(None),
        'reservable': bool, 'status': type(None), 'created_at': str, 'updated_at': type(None)}


@pytest.fixture
def call(api):
    """Makes a request as an administrator; returns the answer."""
    return lambda method, path, body=None, **options: api.call(
        method, f'/v1/os-hosts{path}', body, token=builders.ADMIN, **options)


def test_a_host_has_the_fields_of_the_contract_and_its_properties_as_text(call):
    answer = call('POST', '', {'name': 'compute-1', 'gpu': 'A100', 'slots': 4, 'ssd': True})
    assert answer.status_int == 201
    host = answer.json['host']
    assert {name: type(value) for name, value in host.items()} == {
        **HOST, 'gpu': str, 'slots': str, 'ssd': str}
    assert (host['gpu'], host['slots'], host['ssd']) == ('A100', '4', 'True')
    assert host['id'].isdigit()
    assert host['created_at'] == '2030-05-01 12:00:00'
    assert isinstance(json.loads(host['cpu_info']), dict)
    assert call('GET', f'/{host["id"]}').json == {'host': host}
    assert call('GET', '').json == {'hosts': [host]}
    assert call('GET', '?nonsense=9').json == {'hosts': [host]}


@pytest.mark.parametrize(('query', 'listed'), thinning.few([
    ('rack=left', '13'), ('rack=left&rack=right', '123'), ('rack=LEFT&reservable=False', '3'),
    ('reservable=true', '12'), ('hypervisor_hostname=compute-2', '2'), ('vcpus=9999', ''),
    ('rack=none', ''), ('limit=2', '12'), ('limit=1&marker=1', '2'), ('marker=2', '3'),
    ('limit=1&rack=right', '2'), ('status=None', ''), ('sort=id&detail=1', '123')], 6))
def test_the_query_selects_hosts_by_the_values_of_their_fields(call, query, listed):
    for number, rack in (('1', 'left'), ('2', 'right'), ('3', 'left')):
        assert call('POST', '', {'name': f'compute-{number}', 'rack': rack}).status_int == 201
    assert call('PUT', '/3', {'reservable': 'False'}).status_int == 200
    answer = call('GET', f'?{query}')
    assert answer.status_int == 200, answer.text
    assert ''.join(host['id'] for host in answer.json['hosts']) == listed


@pytest.mark.parametrize(('query', 'status', 'text'), [
    ('limit=0', 400, 'limit: '), ('limit=many', 400, 'limit: '), ('marker=many', 404, 'many'),
    ('marker=%01', 400, 'marker: ')])
def test_a_wrong_page_of_hosts_is_refused_by_its_name(call, query, status, text):
    answer = call('GET', f'?{query}')
    assert answer.status_int == status, answer.text
    assert text in answer.json['error_message']


@pytest.mark.parametrize('hypervisor', ['2', 2, 'compute-2'])
def test_a_host_is_enrolled_by_the_id_that_nova_has_for_it(call, hypervisor):
    answer = call('POST', '', {'id': hypervisor, 'gpu': 'A100'})
    assert answer.status_int == 201, answer.body
    host = answer.json['host']
    assert (host['id'], host['hypervisor_hostname'], host['gpu']) == ('1', 'compute-2', 'A100')
    assert call('POST', '', {'id': hypervisor}).status_int == 409


@pytest.mark.parametrize(('body', 'status'), [
    ({}, 403), ({'gpu': 'A100'}, 403), ({'id': '999'}, 404), ({'id': 'no-host'}, 404),
    ({'id': ''}, 400), ({'id': None}, 400), ({'id': True}, 400), ({'id': []}, 400),
    ({'id': 10 ** 30}, 400), ({'id': '9' * 200}, 404), ({'name': ''}, 400)])
def test_a_host_that_is_not_named_is_refused(call, body, status):
    answer = call('POST', '', body)
    assert answer.status_int == status, answer.body
    assert call('GET', '').json == {'hosts': []}


def test_from_1_1_on_a_host_is_enrolled_by_its_name_only(call):
    assert call('POST', '', {'id': '2'}, version='1.1').status_int == 400


def test_properties_of_a_host_are_added_and_changed(call, manager):
    [host] = manager.enrol(1, gpu='A100')
    answer = call('PUT', f'/{host.id}', {'gpu': 'H100', 'ssd': 'yes'})
    assert answer.status_int == 200
    assert (answer.json['host']['gpu'], answer.json['host']['ssd']) == ('H100', 'yes')
    assert call('PUT', f'/{host.id}', {}).status_int == 400


def test_a_host_is_withdrawn_unless_a_lease_has_it(api, call, manager):
    used, _ = manager.enrol(2)
    api.post('/v1/leases', builders.a_body(least=1))
    refused = call('DELETE', f'/{used.id}')
    assert refused.status_int == 409
    gone = call('DELETE', '/2')
    assert (gone.status_int, gone.body) == (204, b'')
    assert call('GET', '/2').status_int == 404
    assert [host['id'] for host in call('GET', '').json['hosts']] == ['1']


def test_a_host_comes_back_under_a_new_number(call):
    first = call('POST', '', {'name': 'compute-1'}).json['host']['id']
    call('DELETE', f'/{first}')
    second = call('POST', '', {'name': 'compute-1'}).json['host']['id']
    assert int(second) > int(first)


def test_allocations_list_every_host_and_repeat_no_time_limit_for_a_lease(api, call, manager):
    manager.enrol(2)
    lease = api.post('/v1/leases', builders.a_body()).json['lease']
    [reservation] = lease['reservations']
    given = {'id': reservation['id'], 'lease_id': lease['id'],
             'start_date': '2030-05-01T12:00:00.000000',
             'end_date': '2030-05-01T13:00:00.000000'}
    both = [{'resource_id': '1', 'reservations': [given]},
            {'resource_id': '2', 'reservations': []}]
    none = [{'resource_id': each, 'reservations': []} for each in '12']
    assert call('GET', '/allocations').json == {'allocations': both}
    assert call('GET', '/allocations?nonsense=1').json == {'allocations': both}
    assert call('GET', '/1/allocation').json == {'allocation': both[0]}
    assert call('GET', '/2/allocation').json == {'allocation': both[1]}
    manager.run_until(builders.at(5))
    assert call('GET', '/allocations').json == {'allocations': none}
    for query, wanted in ((f'lease_id={lease["id"]}', both), ('lease_id=x', none),
                          (f'reservation_id={reservation["id"]}', both),
                          ('reservation_id=x', none)):
        assert call('GET', f'/allocations?{query}').json == {'allocations': wanted}
        assert call('GET', f'/1/allocation?{query}').json == {'allocation': wanted[0]}


def test_properties_are_listed_with_values_when_asked(call, manager):
    manager.enrol(1, gpu='A100', ssd='yes')
    call('POST', '', {'name': 'compute-2', 'gpu': 'H100'})
    names = {'resource_properties': [{'property': 'gpu'}, {'property': 'ssd'}]}
    for query in ('', '?detail=', '?detail=False', '?all=True'):
        assert call('GET', f'/properties{query}').json == names
    assert call('GET', '/properties?detail=True').json == {'resource_properties': [
        {'property': 'gpu', 'private': False, 'values': ['A100', 'H100'],
         'is_unique': False},
        {'property': 'ssd', 'private': False, 'values': ['yes'], 'is_unique': False}]}


def test_a_private_property_is_listed_for_admins_who_ask_for_all(call, manager):
    manager.enrol(1, gpu='A100', ssd='yes')
    changed = call('PATCH', '/properties/gpu', {'private': True})
    assert changed.status_int == 200
    shown = changed.json['resource_property']
    assert shown == {'id': shown['id'], 'resource_type': 'physical:host', 'property_name': 'gpu',
                     'private': True, 'created_at': '2030-05-01T12:00:00.000000',
                     'updated_at': '2030-05-01T12:00:00.000000'}
    assert isinstance(shown['id'], str)
    assert call('GET', '/properties').json == {'resource_properties': [{'property': 'ssd'}]}
    assert call('GET', '/properties?all=1&detail=1').json['resource_properties'][0] == {
        'property': 'gpu', 'private': True, 'values': ['A100'], 'is_unique': False}


def test_a_property_is_renamed_by_no_body(call, manager):
    manager.enrol(1, gpu='A100')
    answer = call('PATCH', '/properties/gpu', {'private': True, 'property_name': 'x', 'id': 9})
    assert answer.json['resource_property']['property_name'] == 'gpu'
    assert call('PATCH', '/properties/x', {'private': True}).status_int == 404


@pytest.mark.parametrize('names', [['a', 'a.json'], ['a.json'], ['a.json', 'a.json.json']])
def test_a_property_whose_name_ends_in_json_is_changed(call, manager, names):
    manager.enrol(1, **dict.fromkeys(names, 'x'))
    for name in names:
        for path in (f'/properties/{name}', f'/properties/{name}.json'):
            changed = call('PATCH', path, {'private': True})
            assert changed.status_int == 200
            # A path that ends in .json means the property of that name, if there is one.
            exact = path.removeprefix('/properties/')
            expected = exact if exact in names else name
            assert changed.json['resource_property']['property_name'] == expected


def test_a_property_whose_name_has_a_dot_is_found(call, manager):
    manager.enrol(1, **{'hw.gpu': 'A100', 'logo.png': 'x'})
    for name in ('hw.gpu', 'logo.png'):
        answer = call('PATCH', f'/properties/{name}', {'private': True})
        assert answer.json['resource_property']['property_name'] == name


def test_a_property_has_any_name_that_a_url_may_have(call, manager):
    names = ('nvidia.com/gpu', '/a', 'a//b', 'properties', 'allocations', 'power', 'patch',
             '__class__', '_limit', 'ignored', '..', '%2e', 'a?b', 'é')
    manager.enrol(1, **dict.fromkeys(names, 'x'), a='x')
    for name in names:
        answer = call('PATCH', f'/properties/{parse.quote(name, safe="")}', {'private': True})
        assert answer.json['resource_property']['property_name'] == name
    assert call('GET', '/properties').json == {'resource_properties': [{'property': 'a'}]}


def test_a_name_that_begins_another_name_is_that_host_only(call, manager):
    manager.cloud.add_host('compute-10')
    host = call('POST', '', {'name': 'compute-1'}).json['host']
    assert host['hypervisor_hostname'] == 'compute-1'
    assert call('POST', '', {'name': 'compute-10'}).status_int == 201
    assert call('DELETE', f'/{host["id"]}').status_int == 204
    assert call('POST', '', {'name': 'compute'}).status_int == 404
    assert [each['hypervisor_hostname'] for each in call('GET', '').json['hosts']] == [
        'compute-10']


def test_a_host_is_refused_with_the_reason(call, manager):
    manager.cloud.add_host('twin', 'one')
    manager.cloud.add_host('twin', 'two')
    manager.cloud.boot('demo', 'server', host='compute-2')
    call('POST', '', {'name': 'compute-1'})
    for body, status, told in (
            ({'name': 'compute-1'}, 409, 'enrolled already, as 1'),
            ({'name': 'compute-2'}, 409, 'servers run on it (1)'),
            ({'name': 'twin'}, 409, 'More than one'), ({'name': 'nowhere'}, 404, 'nowhere'),
            ({}, 403, 'Name the host'), ({'name': ''}, 400, 'name'),
            ({'name': 'compute-3', 'vcpus': '9'}, 400, 'vcpus'),
            ({'name': 'compute-3', 'gpu': ['A100']}, 400, 'gpu'),
            ({'name': 'compute-3', 'gpu': 'x' * 513}, 400, 'gpu')):
        answer = call('POST', '', body)
        assert answer.status_int == status, answer.body
        assert told in answer.json['error_message']
    assert call('POST', '', {'name': 'compute-3'}).status_int == 201


@pytest.mark.parametrize('word', [False, 'False', 'false'])
def test_a_host_is_taken_out_of_use_and_back(call, manager, word):
    [host] = manager.enrol(1, rack='7')
    answer = call('PUT', f'/{host.id}', {'reservable': word, 'rack': '8'})
    assert answer.status_int == 200, answer.body
    assert answer.json['host']['reservable'] is False
    assert answer.json['host']['rack'] == '8'
    with pytest.raises(errors.NotEnough):
        manager.book()
    assert call('PUT', f'/{host.id}', {'reservable': True}).json['host']['reservable'] is True
    manager.book()


def test_the_size_of_a_host_is_not_overridden_by_a_property(call, manager):
    [host] = manager.enrol(1)
    for name in ('vcpus', 'memory_mb', 'hypervisor_hostname', 'id', 'status', 'reservable'):
        answer = call('PUT', f'/{host.id}', {name: '1'})
        assert answer.status_int == 400
        assert name in answer.json['error_message']
    assert call('GET', f'/{host.id}').json['host']['vcpus'] == 16
