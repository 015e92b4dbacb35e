# SPDX-License-Identifier: Apache-2.0
"""The adapter of Neutron for networks on segments and what is on them, against canned answers."""
import pytest

from climate import errors
from climate.cloud import models
from climate.cloud import network_models

NEUTRON = 'http://neutron:9696/v2.0'
SEGMENT = ('physnet1', 'vlan', 3000)
FOUND = {'id': 'n1', 'name': 'lab', 'project_id': 'demo', 'description': 'd', 'tags': ['climate'],
         'subnets': ['s1'], 'provider:physical_network': 'physnet1',
         'provider:network_type': 'vlan', 'provider:segmentation_id': 3000}
MODEL = network_models.SegmentNetwork('n1', 'lab', 'demo', SEGMENT, 'd', ('climate',), ('s1',))


def refusal(kind, message='no'):
    return {'NeutronError': {'type': kind, 'message': message, 'detail': ''}}


def test_a_network_is_created_for_a_project_on_its_segment(services, canned):
    canned.http.post(f'{NEUTRON}/networks', json={'network': FOUND}, status_code=201)
    assert services.segments.create(SEGMENT, 'demo', 'lab', 'd') == MODEL
    [asked] = canned.asked('POST', '/networks')
    assert asked.json() == {'network': {
        'project_id': 'demo', 'name': 'lab', 'description': 'd',
        'provider:physical_network': 'physnet1', 'provider:network_type': 'vlan',
        'provider:segmentation_id': 3000}}


@pytest.mark.parametrize('kind, error, word', [
    ('VlanIdInUse', errors.ResourceInUse, 'physnet1:vlan:3000'),
    ('OverQuota', errors.CloudError, '"network"'), ('Other', errors.CloudError, 'no')])
def test_each_refusal_of_neutron_has_its_own_error(services, canned, kind, error, word):
    canned.http.post(f'{NEUTRON}/networks', status_code=409, json=refusal(kind))
    with pytest.raises(error) as refused:
        services.segments.create(SEGMENT, 'demo', 'lab', 'd')
    assert word in refused.value.message


@pytest.mark.parametrize('message, known', [
    ("physical_network 'x' unknown for VLAN provider network.", False),
    ('segmentation_id out of range (1 through 4094).', True)])
def test_the_refusal_of_an_impossible_network_shows_whether_its_physical_network_is_known(
        services, canned, message, known):
    canned.http.post(f'{NEUTRON}/networks', status_code=400, json=refusal('InvalidInput', message))
    assert services.segments.knows('x') is known
    assert canned.asked('POST', '/networks')[0].json()['network'][
        'provider:segmentation_id'] == 4095


def test_networks_are_listed_with_their_segments(services, canned):
    canned.http.get(f'{NEUTRON}/networks', json={'networks': [FOUND]})
    assert services.segments.every() == services.segments.of_project('demo') == [MODEL]
    _, second = canned.asked('GET', '/networks')
    assert second.qs == {'project_id': ['demo']}


def test_shared_ranges_are_known_if_neutron_has_them(services, canned):
    canned.http.get(f'{NEUTRON}/network-segment-ranges', status_code=404, json={})
    canned.http.get(f'{NEUTRON}/network_segment_ranges', [
        {'status_code': 404, 'json': {}}, {'json': {'network_segment_ranges': [
            {'id': 'r', 'shared': True, 'physical_network': 'physnet1', 'network_type': 'vlan',
             'minimum': 100, 'maximum': 199}]}}])
    assert services.segments.shared_ranges() == []
    assert services.segments.shared_ranges() == [(('physnet1', 'vlan', 100), 199)]


def test_tagging_and_deleting_a_network_can_be_repeated(services, canned):
    canned.http.get(f'{NEUTRON}/networks/n1', [
        {'json': {'network': FOUND}}, {'status_code': 404, 'json': {}}])
    canned.http.put(f'{NEUTRON}/networks/n1/tags', json={'tags': ['a']})
    services.segments.tag('n1', ('a',))
    services.segments.tag('n1', ('a',))
    assert canned.asked('PUT', '/tags')[0].json() == {'tags': ['a']}
    canned.http.delete(f'{NEUTRON}/networks/n1', [
        {'status_code': 409, 'json': refusal('NetworkInUse')}, {'status_code': 204},
        {'status_code': 404, 'json': {}}])
    with pytest.raises(errors.StillBusy):
        services.segments.delete('n1')
    services.segments.delete('n1')
    services.segments.delete('n1')


def test_ports_have_their_users(services, canned):
    canned.http.get(f'{NEUTRON}/ports', json={'ports': [
        {'id': 'p', 'network_id': 'n1', 'project_id': 'demo', 'device_owner': 'compute:nova',
         'device_id': 'vm'}]})
    wanted = [network_models.Port('p', 'n1', 'demo', 'compute:nova', 'vm')]
    assert services.network_parts.ports('n1') == services.network_parts.ports_of('vm') == wanted
    assert [each.qs for each in canned.asked('GET', '/ports')] == [
        {'network_id': ['n1']}, {'device_id': ['vm']}]


def test_a_subnet_and_a_router_with_its_gateway_are_created(services, canned):
    canned.http.post(f'{NEUTRON}/subnets', status_code=201, json={'subnet': {
        'id': 's1', 'cidr': '10.42.0.0/24', 'gateway_ip': '10.42.0.1', 'allocation_pools': [
            {'start': '10.42.0.2', 'end': '10.42.0.254'}]}})
    canned.http.post(f'{NEUTRON}/routers', status_code=201, json={'router': {
        'id': 'r1', 'name': 'lab', 'project_id': 'demo', 'description': 'd',
        'external_gateway_info': {'network_id': 'ext'}}})
    canned.http.put(f'{NEUTRON}/routers/r1/add_router_interface', json={})
    parts = services.network_parts
    assert parts.create_subnet('n1', '10.42.0.0/24', 'lab', 'd') == models.Subnet(
        's1', '10.42.0.0/24', '10.42.0.1', (('10.42.0.2', '10.42.0.254'),))
    assert parts.create_router('lab', 'ext', 'd') == network_models.Router(
        'r1', 'lab', 'demo', 'ext', 'd')
    parts.add_interface('r1', 's1')
    assert canned.asked('POST', '/subnets')[0].json() == {'subnet': {
        'network_id': 'n1', 'cidr': '10.42.0.0/24', 'ip_version': 4, 'name': 'lab',
        'description': 'd'}}
    assert canned.asked('POST', '/routers')[0].json() == {'router': {
        'name': 'lab', 'description': 'd', 'external_gateway_info': {'network_id': 'ext'}}}
    assert canned.asked('PUT', '/add_router_interface')[0].json() == {'subnet_id': 's1'}


@pytest.mark.parametrize('path, name, create', [
    ('subnets', 'subnet', lambda parts: parts.create_subnet('n', '10.1.0.0/24', 'x', 'd')),
    ('routers', 'router', lambda parts: parts.create_router('x', None, 'd'))])
def test_a_full_quota_is_named(services, canned, path, name, create):
    canned.http.post(f'{NEUTRON}/{path}', status_code=409, json=refusal('OverQuota'))
    with pytest.raises(errors.CloudError) as refused:
        create(services.network_parts)
    assert f'"{name}"' in refused.value.owner_message


REMOVALS = {
    'delete_port': ('DELETE', 'ports/p', ('p',), None),
    'delete_trunk': ('DELETE', 'trunks/t', ('t',), None),
    'remove_sub_ports': ('PUT', 'trunks/t/remove_subports', ('t', ['p']),
                         {'sub_ports': [{'port_id': 'p'}]}),
    'remove_interface': ('PUT', 'routers/r/remove_router_interface', ('r', 'p'), {'port_id': 'p'}),
    'delete_router': ('DELETE', 'routers/r', ('r',), None),
}


@pytest.mark.parametrize('method', REMOVALS)
def test_a_removal_can_be_repeated_unless_the_object_is_in_use(services, canned, method):
    verb, path, arguments, body = REMOVALS[method]
    canned.http.register_uri(verb, f'{NEUTRON}/{path}', [
        {'json': {}}, {'status_code': 409, 'json': refusal('InUse')},
        {'status_code': 404, 'json': {}}])
    remove = getattr(services.network_parts, method)
    remove(*arguments)
    with pytest.raises(errors.StillBusy):
        remove(*arguments)
    remove(*arguments)
    if body is not None:
        assert canned.asked(verb, path)[0].json() == body


def test_trunks_are_listed_if_neutron_has_them(services, canned):
    canned.http.get(f'{NEUTRON}/trunks', [{'status_code': 404, 'json': {}}, {'json': {'trunks': [
        {'id': 't', 'port_id': 'p', 'sub_ports': [{'port_id': 'q', 'segmentation_id': 7}]}]}}])
    assert services.network_parts.trunks() == []
    assert services.network_parts.trunks() == [network_models.Trunk('t', 'p', ('q',))]


def test_routers_are_listed_for_a_project_and_for_all(services, canned):
    canned.http.get(f'{NEUTRON}/routers', json={'routers': [
        {'id': 'r1', 'name': 'lab', 'project_id': 'demo', 'external_gateway_info': None}]})
    wanted = [network_models.Router('r1', 'lab', 'demo')]
    assert services.network_parts.routers() == services.network_parts.routers('demo') == wanted
    assert [each.qs for each in canned.asked('GET', '/routers')] == [{}, {'project_id': ['demo']}]
