# SPDX-License-Identifier: Apache-2.0
"""The adapter of Nova, against canned answers."""
import json

import pytest

from climate import errors
from climate.cloud import models

AGGREGATE = models.Aggregate(id=7, name='r1', zone='climate_r1', hosts=(), metadata={})


def _hypervisor(name, host=None, number=1):
    return {'id': f'uuid-{number}', 'hypervisor_hostname': name, 'vcpus': 16,
            'memory_mb': 32768, 'local_gb': 200, 'hypervisor_type': 'QEMU',
            'hypervisor_version': 8002000, 'cpu_info': {'arch': 'x86_64'}, 'state': 'up',
            'status': 'enabled',
            'service': {'host': host or name, 'id': 's', 'disabled_reason': None}}


def _aggregate(hosts=(), **fields):
    return {'id': 7, 'name': 'r1', 'availability_zone': 'climate_r1', 'hosts': list(hosts),
            'metadata': {'availability_zone': 'climate_r1'}, **fields}


def _refusal(status, message):
    return {'status_code': status, 'json': {'error': {'code': status, 'message': message}}}


@pytest.fixture
def nova(canned):
    return canned.cloud().as_service().nova


@pytest.fixture
def hypervisors(canned):
    """callable(hypervisors…): set the answer of Nova's search."""
    def answer(*found):
        canned.http.get(f'{canned.NOVA}/os-hypervisors/detail', json={'hypervisors': found})
        canned.http.get(f'{canned.NOVA}/os-services', json={'services': [
            {'id': 'x', 'host': each['service']['host'], 'zone': 'nova'} for each in found]})
    return answer


@pytest.fixture
def moves(canned):
    """callable({host: answer}): set the answers of Nova to changes of membership."""
    def answer(by_host):
        def respond(request, context):
            [action] = request.json().values()
            reply = by_host.get(action.get('host'), {'json': {'aggregate': _aggregate()}})
            context.status_code = reply.get('status_code', 200)
            return reply['json']
        canned.http.post(f'{canned.NOVA}/os-aggregates/7/action', json=respond)
    return answer


def test_a_hypervisor_is_found_by_its_exact_name(nova, hypervisors, canned):
    hypervisors(_hypervisor('compute-10', number=1), _hypervisor('compute-1', 'host-1', number=2))
    found = nova.hypervisor('compute-1')
    assert found == models.Hypervisor(
        name='compute-1', service_host='host-1', vcpus=16, memory_mb=32768, disk_gb=200,
        hypervisor_type='QEMU', hypervisor_version=8002000,
        cpu_info=json.dumps({'arch': 'x86_64'}), availability_zone='nova', up=True, enabled=True)
    [asked] = canned.asked('GET', '/os-hypervisors/detail')
    assert asked.headers['OpenStack-API-Version'] == 'compute 2.87'


@pytest.mark.parametrize(('hypervisor_id', 'version'), [
    ('7', '2.52'), ('2f1b7a0c-9a5f-4a4e-9f1e-7d6a3f1f0a11', '2.87')])
def test_the_name_of_a_hypervisor_is_found_by_its_id(nova, canned, hypervisor_id, version):
    canned.http.get(f'{canned.NOVA}/os-hypervisors/{hypervisor_id}',
                    json={'hypervisor': _hypervisor('compute-1')})
    assert nova.hypervisor_name(hypervisor_id) == 'compute-1'
    [asked] = canned.asked('GET', f'/os-hypervisors/{hypervisor_id}')
    assert asked.headers['OpenStack-API-Version'] == f'compute {version}'


def test_a_name_that_is_not_an_id_is_the_hostname(nova):
    assert nova.hypervisor_name('compute-1') == 'compute-1'


@pytest.mark.parametrize('status', [400, 404])
def test_an_id_that_nova_does_not_know_is_not_found(nova, canned, status):
    canned.http.get(f'{canned.NOVA}/os-hypervisors/7', **_refusal(status, 'no'))
    with pytest.raises(errors.ResourceNotFound, match='7'):
        nova.hypervisor_name('7')


def test_a_name_that_is_only_part_of_others_is_not_found(nova, hypervisors):
    hypervisors(_hypervisor('compute-10'))
    with pytest.raises(errors.ResourceNotFound, match='compute-1 was not found'):
        nova.hypervisor('compute-1')


def test_a_name_that_matches_nothing_is_not_found(nova, canned):
    canned.http.get(f'{canned.NOVA}/os-hypervisors/detail', status_code=404)
    with pytest.raises(errors.ResourceNotFound):
        nova.hypervisor('compute-1')


def test_two_hypervisors_of_one_name_are_ambiguous(nova, hypervisors):
    hypervisors(_hypervisor('compute-1', number=1), _hypervisor('compute-1', 'b', number=2))
    with pytest.raises(errors.ResourceAmbiguous):
        nova.hypervisor('compute-1')


def test_all_pages_of_hypervisors_are_read(nova, canned):
    canned.http.get(f'{canned.NOVA}/os-services', json={'services': []})
    canned.http.get(f'{canned.NOVA}/os-hypervisors/detail', [
        {'json': {'hypervisors': [_hypervisor('a', number=1)]}},
        {'json': {'hypervisors': [_hypervisor('b', number=2)]}}, {'json': {'hypervisors': []}}])
    assert [each.name for each in nova.hypervisors()] == ['a', 'b']
    markers = [each.qs.get('marker') for each in canned.asked('GET', '/os-hypervisors/detail')]
    assert markers == [None, ['uuid-1'], ['uuid-2']]


def test_servers_of_all_projects_are_listed_host_by_host(nova, canned):
    def answer(request, context):
        if 'marker' in request.qs:
            return {'servers': []}
        [host] = request.qs['host']
        return {'servers': [{'id': f's-{host}', 'name': 'vm', 'tenant_id': 'p', 'status': 'ACTIVE',
                             'OS-EXT-SRV-ATTR:host': host,
                             'OS-EXT-SRV-ATTR:hypervisor_hostname': f'{host}.example'}]}
    canned.http.get(f'{canned.NOVA}/servers/detail', json=answer)
    found = nova.servers_on(['a', 'b', 'c'])
    assert [(each.id, each.host) for each in found] == [('s-a', 'a'), ('s-b', 'b'), ('s-c', 'c')]
    assert [each.hypervisor for each in found] == ['a.example', 'b.example', 'c.example']
    assert all(each.qs['all_tenants'] == ['1'] for each in canned.asked('GET', '/servers/detail'))


def _server(**more):
    return {'id': 's', 'name': 'vm', 'tenant_id': 'p', 'status': 'ACTIVE', **more}


def test_servers_are_listed_with_their_hints(nova, canned):
    canned.http.get(f'{canned.NOVA}/servers/detail', [
        {'json': {'servers': [_server(scheduler_hints={'reservation': ['r1', 'r2']}),
                              _server(scheduler_hints=None), _server()]}},
        {'json': {'servers': []}}])
    found = nova.servers_on(['a'])
    assert [each.hints for each in found] == [{'reservation': ('r1', 'r2')}, {}, None]
    assert {each.headers['OpenStack-API-Version']
            for each in canned.asked('GET', '/servers/detail')} == {'compute 2.100'}


def test_hints_are_requested_once_from_a_nova_that_does_not_show_them(nova, canned):
    def answer(request, context):
        if request.headers['OpenStack-API-Version'] != 'compute 2.90':
            context.status_code = 406
            return {'computeFault': {'code': 406, 'message': 'Version 2.100 is not supported'}}
        return {'servers': [] if 'marker' in request.qs else [_server()]}
    canned.http.get(f'{canned.NOVA}/servers/detail', json=answer)
    assert [each.hints for _ in range(3) for each in nova.servers_on(['a'])] == [None] * 3
    versions = [each.headers['OpenStack-API-Version']
                for each in canned.asked('GET', '/servers/detail')]
    assert versions.count('compute 2.100') == 1


def test_deleting_an_absent_server_succeeds(nova, canned):
    canned.http.delete(f'{canned.NOVA}/servers/s1', status_code=404)
    nova.delete_server('s1')


def test_an_existing_aggregate_gets_only_the_differences(nova, canned):
    canned.http.get(f'{canned.NOVA}/os-aggregates', json={'aggregates': [
        _aggregate(metadata={'a': '1', 'other': 'x'})]})
    canned.http.post(f'{canned.NOVA}/os-aggregates/7/action', json={'aggregate': _aggregate(
        metadata={'a': '1', 'b': '2', 'other': 'x', 'availability_zone': 'climate_r1'})})
    found = nova.ensure_aggregate('r1', zone='climate_r1', metadata={'a': '1', 'b': '2'})
    assert found.metadata == {'a': '1', 'b': '2', 'other': 'x'}
    [asked] = canned.asked('POST', '/action')
    assert asked.json() == {'set_metadata': {'metadata': {'b': '2'}}}


def test_an_equal_aggregate_is_not_changed(nova, canned):
    canned.http.get(f'{canned.NOVA}/os-aggregates', json={'aggregates': [_aggregate(['h2', 'h1'])]})
    assert nova.ensure_aggregate('r1', zone='climate_r1').hosts == ('h1', 'h2')
    assert not canned.asked('POST', '/action')


def test_an_aggregate_that_another_manager_creates_at_the_same_time_is_used(nova, canned):
    canned.http.get(f'{canned.NOVA}/os-aggregates', [
        {'json': {'aggregates': []}}, {'json': {'aggregates': [_aggregate()]}}])
    canned.http.post(f'{canned.NOVA}/os-aggregates', status_code=409)
    assert nova.ensure_aggregate('r1', zone='climate_r1').id == 7


def test_adding_a_member_again_succeeds(nova, canned, moves):
    moves({'a': _refusal(409, 'Aggregate 7 already has host a.')})
    canned.http.get(f'{canned.NOVA}/os-aggregates/7', json={'aggregate': _aggregate(['a', 'b'])})
    nova.add_hosts(AGGREGATE, ['a', 'b'])
    assert len(canned.asked('POST', '/action')) == 3
    assert 'set_metadata' in canned.asked('POST', '/action')[-1].json()


@pytest.mark.parametrize(('hosts', 'options', 'told'), [
    (['a'], {}, True), (['a'], {'alone': True}, False), (['a', 'b'], {'alone': True}, True)])
def test_the_scheduler_gets_the_hosts_unless_the_only_change_sends_them(
        nova, canned, moves, hosts, options, told):
    moves({})
    nova.add_hosts(AGGREGATE, hosts, **options)
    assert ('set_metadata' in canned.asked('POST', '/action')[-1].json()) is told


@pytest.mark.parametrize(('options', 'told'), [({}, True), ({'is_going': True}, False)])
def test_the_scheduler_does_not_get_the_hosts_of_an_aggregate_that_is_deleted_next(
        nova, canned, moves, options, told):
    moves({})
    nova.remove_hosts(AGGREGATE, ['a', 'b'], **options)
    assert ('set_metadata' in canned.asked('POST', '/action')[-1].json()) is told


def test_refused_hosts_are_named_and_the_other_hosts_are_added(nova, canned, moves):
    moves({'a': _refusal(409, 'The zone would change but the host already has 1 instance(s)'),
           'b': _refusal(409, 'One or more hosts already in availability zone(s) [x]')})
    canned.http.get(f'{canned.NOVA}/os-aggregates/7', json={'aggregate': _aggregate(['c'])})
    with pytest.raises(errors.ResourcesRefused) as caught:
        nova.add_hosts(AGGREGATE, ['a', 'b', 'c'])
    refused = caught.value.refused
    assert '1 instance' in refused['a'] and 'already in availability' in refused['b']
    assert refused.keys() == {'a', 'b'}
    assert len(canned.asked('POST', '/action')) == 4


def test_a_permanent_refusal_is_raised_before_a_busy_host(nova, canned, moves):
    moves({'a': _refusal(409, 'but the host already has 1 instance(s)'),
           'b': _refusal(404, 'Compute host b could not be found.')})
    canned.http.get(f'{canned.NOVA}/os-aggregates/7', json={'aggregate': _aggregate()})
    with pytest.raises(errors.ResourceNotFound, match='Host b'):
        nova.add_hosts(AGGREGATE, ['a', 'b'])


def test_removing_a_host_that_is_not_a_member_succeeds(nova, moves):
    moves({'a': _refusal(404, 'Aggregate 7 has no host a.')})
    nova.remove_hosts(AGGREGATE, ['a'])


def test_removing_a_host_with_servers_that_is_not_a_member_succeeds(nova, canned, moves):
    moves({'a': _refusal(409, 'but the host already has 1 instance(s)')})
    canned.http.get(f'{canned.NOVA}/os-aggregates/7', json={'aggregate': _aggregate()})
    nova.remove_hosts(AGGREGATE, ['a'])


def test_a_member_with_servers_is_busy(nova, canned, moves):
    moves({'a': _refusal(409, 'but the host already has 1 instance(s)')})
    canned.http.get(f'{canned.NOVA}/os-aggregates/7', json={'aggregate': _aggregate(['a'])})
    with pytest.raises(errors.StillBusy):
        nova.remove_hosts(AGGREGATE, ['a'])


def test_deleting_an_absent_aggregate_succeeds(nova, canned):
    canned.http.delete(f'{canned.NOVA}/os-aggregates/7', status_code=404)
    nova.delete_aggregate(AGGREGATE)


def test_quotas_have_the_limit_or_none_and_the_use(nova, canned):
    canned.http.get(f'{canned.NOVA}/os-quota-sets/p/detail', json={'quota_set': {
        'id': 'p', 'instances': {'limit': 10, 'in_use': 3, 'reserved': 1},
        'cores': {'limit': -1, 'in_use': 7, 'reserved': 0},
        'ram': {'limit': 51200, 'in_use': 512, 'reserved': 0}}})
    assert nova.quotas('p') == {'instances': models.Quota(10, 4), 'cores': models.Quota(None, 7),
                                'ram': models.Quota(51200, 512)}


def test_a_host_of_another_zone_is_an_error_and_not_busy(nova, canned, moves):
    moves({'a': _refusal(409, 'One or more hosts already in availability zone(s) [x]')})
    canned.http.get(f'{canned.NOVA}/os-aggregates/7', json={'aggregate': _aggregate()})
    with pytest.raises(errors.CloudError, match='already in availability zone') as caught:
        nova.add_hosts(AGGREGATE, ['a'])
    assert not isinstance(caught.value, errors.StillBusy)
