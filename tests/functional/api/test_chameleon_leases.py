# SPDX-License-Identifier: Apache-2.0
"""Leases as clients of Chameleon's fork of Blazar list them, with the hosts of one lease."""
import pytest
from support import builders
from support import thinning

from climate.policies import hosts


@pytest.fixture
def lease_ids(api, enrol_hosts, manager):
    """The ids of leases "a" to "d" by name; "d" is of another project, and "a" runs."""
    enrol_hosts(4)
    created = {}
    for name in 'abcd':
        answer = api.post('/v1/leases', builders.a_body(
            name=name, start='now' if name == 'a' else '2030-05-02 12:00', end='2030-05-03 12:00'),
            token=builders.STRANGER if name == 'd' else builders.DEMO)
        assert answer.status_int == 201, answer.text
        created[name] = answer.json['lease']['id']
        manager.clock.advance(builders.seconds(1))
    manager.run()
    return created


def names(answer):
    assert answer.status_int == 200, answer.text
    return ''.join(each['name'] for each in answer.json['leases'])


@pytest.mark.parametrize(('query', 'listed'), thinning.few([
    ('', 'abc'), ('status=ACTIVE', 'a'), ('status=PENDING', 'bc'), ('status=active', 'a'),
    ('status=ACTIVE&status=PENDING', 'abc'), ('status=ERROR', ''), ('limit=2', 'ab'),
    ('limit=99', 'abc'), ('lease_name=b', 'b'), ('lease_name=zzz', ''), ('project_id=demo', 'abc'),
    ('status=PENDING&limit=1', 'b'), ('all_tenants=False', 'abc')], 5))
def test_the_filters_of_chameleons_client_select_leases(api, lease_ids, query, listed):
    answer = api.get(f'/v1/leases?{query}')
    assert names(answer) == listed
    assert set(answer.json) == {'leases'}


@pytest.mark.parametrize(('query', 'listed'), [
    ('', 'abcd'), ('all_tenants=True', 'abcd'), ('project_id=other', 'd'),
    ('all_tenants=True&project_id=demo', 'abc'), ('lease_name=d', 'd')])
def test_an_administrator_filters_the_leases_of_all_projects(api, lease_ids, query, listed):
    assert names(api.get(f'/v1/leases?{query}', token=builders.ADMIN)) == listed


def test_a_page_begins_after_the_marker(api, lease_ids):
    assert names(api.get(f'/v1/leases?marker={lease_ids["a"]}')) == 'bc'
    assert names(api.get(f'/v1/leases?limit=1&marker={lease_ids["a"]}')) == 'b'


@pytest.mark.parametrize(('query', 'status', 'text'), [
    ('limit=0', 400, 'limit: '), ('limit=x', 400, 'limit: '), ('limit=-1', 400, 'limit: '),
    ('status=BROKEN', 400, 'status: '), ('all_tenants=perhaps', 400, 'all_tenants: '),
    ('lease_name=%01', 400, 'lease_name: '), ('project_id=other', 403, 'get_all_projects'),
    ('all_tenants=True', 403, 'get_all_projects'), ('marker=nobody', 404, 'nobody')])
def test_a_wrong_filter_is_refused_by_its_name(api, query, status, text):
    answer = api.get(f'/v1/leases?{query}')
    assert answer.status_int == status
    assert text in answer.json['error_message']


def test_a_member_does_not_page_after_a_lease_of_another_project(api, lease_ids):
    assert api.get(f'/v1/leases?marker={lease_ids["d"]}').status_int == 404


@pytest.mark.parametrize('version', [None, '1.1'])
def test_a_lease_lists_its_hosts_as_the_list_of_hosts_does(api, lease_ids, version):
    admin = {'token': builders.ADMIN, 'version': version}
    lease = api.get(f'/v1/leases/{lease_ids["a"]}', token=builders.ADMIN, version='1.1').json
    [number] = lease['lease']['reservations'][0]['resources']
    answer = api.get(f'/v1/leases/{lease_ids["a"]}/hosts', **admin)
    assert answer.json == {'hosts': [api.get(f'/v1/os-hosts/{number}', **admin).json['host']]}


def test_the_resources_with_some_ids_are_read_without_the_others_of_the_pool(enrol_hosts, manager):
    enrol_hosts(4)
    read = manager.client.get_resources(builders.an_admin(), 'host', [4, 2, 99])
    assert [resource.name for resource in read] == ['small-1', 'small-3']
    assert manager.client.get_resources(builders.an_admin(), 'address', [4, 2]) == []


def test_a_lease_without_networks_and_devices_lists_none(api, lease_ids):
    for kind in ('networks', 'devices'):
        answer = api.get(f'/v1/leases/{lease_ids["a"]}/{kind}', token=builders.ADMIN)
        assert (answer.status_int, answer.json) == (200, {kind: []})
    assert api.get(f'/v1/leases/{lease_ids["a"]}/devices').json == {'devices': []}


def test_a_member_sees_the_hosts_of_a_lease_only_if_policy_shows_hosts(
        conf, manager, lease_ids, tmp_path, api):
    answer = api.get(f'/v1/leases/{lease_ids["a"]}/hosts')
    assert answer.status_int == 403
    assert hosts.GET in answer.json['error_message']
    assert 'small' not in answer.text
    rules = tmp_path / 'policy.yaml'
    rules.write_text(f'"{hosts.GET}": "rule:project_reader_or_admin"\n')
    conf.set_override('policy_file', str(rules), group='oslo_policy')
    opened = builders.Api(conf, manager)
    [host] = opened.get(f'/v1/leases/{lease_ids["a"]}/hosts').json['hosts']
    assert host['hypervisor_hostname'].startswith('small-')
    assert opened.get(f'/v1/leases/{lease_ids["d"]}/hosts').status_int == 404


@pytest.mark.parametrize('kind', ['hosts', 'networks', 'devices'])
def test_the_resources_of_a_lease_that_the_caller_may_not_see_are_not_found(api, lease_ids, kind):
    for lease_id in (lease_ids['d'], 'nobody', 'x' * 99):
        assert api.get(f'/v1/leases/{lease_id}/{kind}').status_int == 404
    assert api.post(f'/v1/leases/{lease_ids["a"]}/{kind}', {}).status_int == 405
    assert api.get(f'/v1/leases/{lease_ids["a"]}/{kind}/1').status_int == 405


def test_properties_say_that_their_values_need_not_differ(api):
    call = {'token': builders.ADMIN}
    made = api.post('/v1/os-hosts', {'name': 'compute-1', 'gpu': 'A100'}, **call)
    assert made.status_int == 201, made.text
    listed = {'property': 'gpu', 'private': False, 'values': ['A100']}
    path = '/v1/os-hosts/properties'
    assert api.get(f'{path}?detail=True', **call).json == {
        'resource_properties': [{**listed, 'is_unique': False}]}
    assert api.get(f'{path}?detail=true', version='1.1', **call).json == {
        'resource_properties': [listed]}
    changed = api.call('PATCH', f'{path}/gpu', {'private': True, 'is_unique': False}, **call)
    assert changed.status_int == 200, changed.text
    refused = api.call('PATCH', f'{path}/gpu', {'private': False, 'is_unique': True}, **call)
    assert refused.status_int == 400
    assert 'is_unique' in refused.json['error_message']
