# SPDX-License-Identifier: Apache-2.0
"""The adapter of flavors and server groups, against canned answers."""
import pytest

from climate import errors
from climate.cloud import models

SIZES = {'vcpus': 2, 'ram': 512, 'disk': 1, 'ephemeral': 0, 'swap': 0}


def _flavor(flavor_id, public=True, **specs):
    return {'flavor': {
        'id': flavor_id, 'name': 'a name', 'vcpus': 2, 'ram': 512, 'disk': 1, 'swap': 0,
        'OS-FLV-EXT-DATA:ephemeral': 3, 'os-flavor-access:is_public': public,
        'rxtx_factor': 1.0, 'extra_specs': specs}}


def _refusal(status):
    return {'status_code': status, 'json': {'error': {'code': status, 'message': 'no'}}}


@pytest.fixture
def flavors(canned):
    return canned.cloud().as_service().flavors


def test_a_public_flavor_is_there_for_everybody(flavors, canned):
    canned.http.get(f'{canned.NOVA}/flavors/f', json=_flavor('f', **{'a:b': 'c'}))
    found = flavors.flavor('f', 'demo')
    assert (found.id, found.ram, found.ephemeral, found.extra_specs) == (
        'f', 512, 3, {'a:b': 'c'})


def test_a_private_flavor_is_there_for_those_who_may_use_it(flavors, canned):
    canned.http.get(f'{canned.NOVA}/flavors/f', json=_flavor('f', public=False))
    canned.http.get(f'{canned.NOVA}/flavors/f/os-flavor-access', json={
        'flavor_access': [{'flavor_id': 'f', 'tenant_id': 'demo'}]})
    assert flavors.flavor('f', 'demo').id == 'f'
    assert flavors.flavor('f', 'other') is None


def test_an_unknown_flavor_is_none_and_its_id_cannot_leave_the_path(flavors, canned):
    canned.http.get(f'{canned.NOVA}/flavors/..%2Fservers', **_refusal(404))
    assert flavors.flavor('../servers', 'demo') is None


def test_a_flavor_is_created_once_and_gets_its_missing_extra_specs(flavors, canned):
    canned.http.get(f'{canned.NOVA}/flavors/r1', [
        _refusal(404), {'json': _flavor('r1', public=False, a='1')},
        {'json': _flavor('r1', public=False, a='1')}])
    canned.http.post(f'{canned.NOVA}/flavors', json=_flavor('r1', public=False))
    canned.http.post(f'{canned.NOVA}/flavors/r1/os-extra_specs', json={'extra_specs': {}})
    flavors.ensure('r1', 'reservation:r1', SIZES, {'a': '1', 'b': '2'})
    [made] = canned.asked('POST', '/flavors')
    assert made.json()['flavor'] == {
        'name': 'reservation:r1', 'id': 'r1', 'vcpus': 2, 'ram': 512, 'disk': 1, 'swap': 0,
        'OS-FLV-EXT-DATA:ephemeral': 0, 'rxtx_factor': 1.0,
        'os-flavor-access:is_public': False}
    [asked] = canned.asked('POST', '/os-extra_specs')
    assert asked.json() == {'extra_specs': {'b': '2'}}


@pytest.mark.parametrize(('sizes', 'specs', 'anew'), [
    ({}, {'a': '1'}, False), ({'vcpus': 4}, {'a': '1'}, True), ({}, {}, True),
    ({}, {'a': '2'}, True)])
def test_a_differing_flavor_is_recreated_if_it_must_match_exactly(
        flavors, canned, sizes, specs, anew):
    canned.http.get(f'{canned.NOVA}/flavors/r1', json=_flavor('r1', public=False, a='1'))
    canned.http.delete(f'{canned.NOVA}/flavors/r1', status_code=202)
    canned.http.post(f'{canned.NOVA}/flavors', json=_flavor('r1', public=False))
    canned.http.post(f'{canned.NOVA}/flavors/r1/os-extra_specs', json={'extra_specs': {}})
    wanted = {**SIZES, 'ephemeral': 3, **sizes}
    flavors.ensure('r1', 'reservation:r1', wanted, specs)
    assert canned.asked('DELETE', '/flavors/r1') == []
    flavors.ensure('r1', 'reservation:r1', wanted, specs, exactly=True)
    assert bool(canned.asked('DELETE', '/flavors/r1')) is anew
    assert bool(canned.asked('POST', '/flavors')) is anew


def test_granting_and_revoking_access_can_be_repeated(flavors, canned):
    canned.http.post(f'{canned.NOVA}/flavors/r1/action', [_refusal(409), _refusal(404)])
    flavors.allow('r1', 'demo')
    flavors.forbid('r1', 'demo')
    sent = [list(each.json()) for each in canned.asked('POST', '/flavors/r1/action')]
    assert sent == [['addTenantAccess'], ['removeTenantAccess']]


def test_deleting_an_absent_flavor_succeeds(flavors, canned):
    canned.http.delete(f'{canned.NOVA}/flavors/r1', **_refusal(404))
    flavors.delete('r1')


def test_the_servers_of_a_flavor_come_oldest_first(flavors, canned):
    server = {'id': 's', 'name': 'one', 'OS-EXT-SRV-ATTR:host': 'compute-1',
              'tenant_id': 'demo', 'status': 'ACTIVE'}
    canned.http.get(f'{canned.NOVA}/servers/detail', [
        {'json': {'servers': [server]}}, {'json': {'servers': []}}])
    assert [each.host for each in flavors.servers('r1')] == ['compute-1']
    asked = canned.asked('GET', '/servers/detail')[0].qs
    assert (asked['flavor'], asked['all_tenants'], asked['sort_dir']) == (['r1'], ['1'], ['asc'])


def test_a_server_group_is_found_by_its_name_and_policy_or_made(flavors, canned):
    groups = {'server_groups': [
        {'id': 'g0', 'name': 'reservation:r1', 'policy': 'anti-affinity'},
        {'id': 'g1', 'name': 'reservation:r1', 'policy': 'affinity'}]}
    canned.http.get(f'{canned.NOVA}/os-server-groups', [
        {'json': groups}, {'json': {'server_groups': []}}, {'json': {'server_groups': []}}])
    canned.http.post(f'{canned.NOVA}/os-server-groups', json={
        'server_group': {'id': 'g2', 'name': 'reservation:r2'}})
    assert flavors.ensure_group('reservation:r1', 'affinity') == 'g1'
    assert flavors.ensure_group('reservation:r2', 'anti-affinity') == 'g2'
    [made] = canned.asked('POST', '/os-server-groups')
    assert made.json()['server_group'] == {'name': 'reservation:r2', 'policy': 'anti-affinity'}


def test_a_server_group_is_made_without_a_look_at_others(flavors, canned):
    canned.http.post(f'{canned.NOVA}/os-server-groups', json={
        'server_group': {'id': 'g1', 'name': 'r'}})
    assert flavors.create_group('r', 'affinity') == 'g1'
    assert canned.asked('GET', '/os-server-groups') == []


def test_a_full_quota_of_server_groups_is_reported_with_advice(flavors, canned):
    canned.http.post(f'{canned.NOVA}/os-server-groups', **_refusal(403))
    with pytest.raises(errors.LimitReached, match='ask for a larger quota'):
        flavors.create_group('r', 'affinity')


def test_a_server_group_that_is_gone_is_neither_there_nor_an_error(flavors, canned):
    canned.http.get(f'{canned.NOVA}/os-server-groups/g1', json={
        'server_group': {'id': 'g1', 'name': 'r'}})
    for method in ('get', 'delete'):
        getattr(canned.http, method)(f'{canned.NOVA}/os-server-groups/g2', **_refusal(404))
    assert (flavors.has_group('g1'), flavors.has_group('g2')) == (True, False)
    flavors.delete_group('g2')


def test_server_groups_are_deleted_in_all_projects(flavors, canned):
    canned.http.get(f'{canned.NOVA}/os-server-groups', [
        {'json': {'server_groups': [{'id': 'g1', 'name': 'r'}, {'id': 'g2', 'name': 'other'},
                                    {'id': 'g3', 'name': 'r'}]}},
        {'json': {'server_groups': []}}])
    canned.http.delete(f'{canned.NOVA}/os-server-groups/g1', **_refusal(404))
    flavors.delete_groups('r', but='g3')
    assert len(canned.asked('DELETE', '/os-server-groups/g1')) == 1
    assert canned.asked('GET', '/os-server-groups')[0].qs['all_projects'] == ['true']


def test_a_refusal_is_an_error_of_the_cloud(flavors, canned):
    canned.http.delete(f'{canned.NOVA}/flavors/r1', **_refusal(403))
    with pytest.raises(errors.CloudError, match='Nova'):
        flavors.delete('r1')


def test_all_flavors_are_read_page_by_page_private_ones_too(flavors, canned):
    known = [_flavor('1')['flavor'], _flavor('r1', public=False, a='b')['flavor']]
    canned.http.get(f'{canned.NOVA}/flavors/detail', [
        {'json': {'flavors': known}}, {'json': {'flavors': []}}])
    assert [(each.id, each.extra_specs) for each in flavors.every()] == [
        ('1', {}), ('r1', {'a': 'b'})]
    first, second = [each.qs for each in canned.asked('GET', '/flavors/detail')]
    assert first == {'is_public': ['none']}
    assert second == {'is_public': ['none'], 'marker': ['r1']}


def test_the_server_groups_of_all_projects(flavors, canned):
    canned.http.get(f'{canned.NOVA}/os-server-groups', [
        {'json': {'server_groups': [
            {'id': 'g1', 'name': 'one', 'policy': 'affinity', 'members': ['s1', 's2']}]}},
        {'json': {'server_groups': [
            {'id': 'g2', 'name': 'two', 'policy': 'anti-affinity', 'members': []}]}},
        {'json': {'server_groups': []}}])
    assert flavors.groups() == [
        models.ServerGroup('g1', 'one', 'affinity', frozenset({'s1', 's2'})),
        models.ServerGroup('g2', 'two', 'anti-affinity')]
    asked = [each.qs for each in canned.asked('GET', '/os-server-groups')]
    assert [each.get('offset') for each in asked] == [None, ['1'], ['2']]
    assert {each['all_projects'][0] for each in asked} == {'true'}


def test_the_usable_flavors_are_those_that_nova_lists_for_the_caller(flavors, canned):
    pages = [{'json': {'flavors': [_flavor(name)['flavor'] for name in names]}}
             for names in (('f', 'g'), ())]
    listing = canned.http.get(f'{canned.NOVA}/flavors/detail', pages)
    assert [flavor.id for flavor in flavors.usable()] == ['f', 'g']
    assert [request.qs for request in listing.request_history] == [{}, {'marker': ['g']}]
