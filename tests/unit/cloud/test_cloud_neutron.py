# SPDX-License-Identifier: Apache-2.0
"""The adapter of Neutron, against canned answers."""
import pytest

from climate import errors
from climate.cloud import models

NEUTRON = 'http://neutron:9696/v2.0'
FOUND = {'id': 'f1', 'floating_network_id': 'net', 'floating_ip_address': '172.24.4.210',
         'project_id': 'demo', 'port_id': None, 'description': 'd', 'tags': ['climate'],
         'status': 'ACTIVE'}
MODEL = models.FloatingIP('f1', 'net', '172.24.4.210', 'demo', None, 'd', ('climate',),
                          'ACTIVE')


def test_a_network_has_its_subnets(services, canned):
    canned.http.get(f'{NEUTRON}/networks/net', json={'network': {
        'id': 'net', 'name': 'public', 'router:external': True}})
    canned.http.get(f'{NEUTRON}/subnets', json={'subnets': [{
        'id': 's', 'cidr': '172.24.4.0/24', 'gateway_ip': '172.24.4.1',
        'allocation_pools': [{'start': '172.24.4.10', 'end': '172.24.4.200'}]}]})
    assert services.networks.network('net') == models.Network('net', 'public', True, (
        models.Subnet('s', '172.24.4.0/24', '172.24.4.1', (('172.24.4.10', '172.24.4.200'),)),))
    assert canned.asked('GET', '/subnets')[0].qs == {'network_id': ['net']}


def test_an_unknown_network_is_not_found(services, canned):
    canned.http.get(f'{NEUTRON}/networks/nowhere', status_code=404, json={})
    with pytest.raises(errors.ResourceNotFound):
        services.networks.network('nowhere')


def test_the_used_addresses_of_a_network_are_those_of_its_ports(services, canned):
    canned.http.get(f'{NEUTRON}/ports', json={'ports': [
        {'id': 'p', 'device_owner': 'network:router_gateway', 'device_id': 'r',
         'fixed_ips': [{'ip_address': '172.24.4.5', 'subnet_id': 's'}]},
        {'id': 'q', 'device_owner': '', 'device_id': '', 'fixed_ips': []}]})
    assert services.networks.used_addresses('net') == {'172.24.4.5': 'network:router_gateway r'}
    assert canned.asked('GET', '/ports')[0].qs['network_id'] == ['net']


@pytest.mark.parametrize('limit, wanted', [(5, 5), (-1, None)])
def test_a_quota_counts_what_is_reserved(services, canned, limit, wanted):
    canned.http.get(f'{NEUTRON}/quotas/demo/details', json={'quota': {
        'floatingip': {'limit': limit, 'used': 2, 'reserved': 1}}})
    assert services.networks.quota('demo', 'floatingip') == models.Quota(wanted, 3)


def test_a_floating_ip_is_created_for_a_project_with_its_address(services, canned):
    canned.http.post(f'{NEUTRON}/floatingips', json={'floatingip': FOUND}, status_code=201)
    assert services.floating_ips.create('net', '172.24.4.210', 'demo', 'd') == MODEL
    [asked] = canned.asked('POST', '/floatingips')
    assert asked.json() == {'floatingip': {
        'floating_network_id': 'net', 'floating_ip_address': '172.24.4.210',
        'project_id': 'demo', 'description': 'd'}}


@pytest.mark.parametrize('kind, error, word', [
    ('IpAddressAlreadyAllocated', errors.ResourceInUse, '172.24.4.210'),
    ('OverQuota', errors.CloudError, '"floatingip"'), ('Other', errors.CloudError, 'no')])
def test_each_refusal_of_neutron_has_its_own_error(services, canned, kind, error, word):
    canned.http.post(f'{NEUTRON}/floatingips', status_code=409, json={
        'NeutronError': {'type': kind, 'message': 'no', 'detail': ''}})
    with pytest.raises(error) as refused:
        services.floating_ips.create('net', '172.24.4.210', 'demo')
    assert word in refused.value.message


def test_floating_ips_are_listed_for_a_project_and_for_all(services, canned):
    canned.http.get(f'{NEUTRON}/floatingips', json={'floatingips': [FOUND]})
    assert services.floating_ips.of_project('demo') == [MODEL]
    assert services.floating_ips.every() == [MODEL]
    assert [each.qs for each in canned.asked('GET', '/floatingips')] == [
        {'project_id': ['demo']}, {}]


def test_a_floating_ip_is_tagged_detached_and_deleted(services, canned):
    canned.http.get(f'{NEUTRON}/floatingips/f1', json={'floatingip': FOUND})
    canned.http.put(f'{NEUTRON}/floatingips/f1/tags', json={'tags': ['a', 'b']})
    canned.http.put(f'{NEUTRON}/floatingips/f1', json={'floatingip': FOUND})
    canned.http.delete(f'{NEUTRON}/floatingips/f1', status_code=204)
    services.floating_ips.tag('f1', ('a', 'b'))
    assert services.floating_ips.detach('f1') == MODEL
    services.floating_ips.delete('f1')
    assert canned.asked('PUT', '/tags')[0].json() == {'tags': ['a', 'b']}
    assert canned.asked('PUT', '/f1')[0].json() == {'floatingip': {'port_id': None}}


def test_changes_of_an_absent_floating_ip_succeed(services, canned):
    for method in ('GET', 'PUT', 'DELETE'):
        canned.http.register_uri(method, f'{NEUTRON}/floatingips/f1', status_code=404, json={})
    services.floating_ips.tag('f1', ('a',))
    assert services.floating_ips.detach('f1') is None
    services.floating_ips.delete('f1')


def test_a_neutron_that_does_not_answer_is_unreachable(services, canned):
    canned.http.get(f'{NEUTRON}/floatingips', status_code=503, json={})
    with pytest.raises(errors.CloudUnreachable):
        services.floating_ips.every()
