# SPDX-License-Identifier: Apache-2.0
"""The path /v1/floatingips and reservations of floating IPs, as clients of REST 1.0 use them."""
import re

import pytest
from support import builders

from climate.cloud.simulated import neutron
from climate.plugins import dummy
from climate.plugins.network import floatingip

CLASSES = {'virtual:floatingip': floatingip.FloatingIPPlugin}
ADMIN = {'token': builders.ADMIN}
BODY = {'floating_network_id': neutron.PUBLIC, 'floating_ip_address': '172.24.4.210'}


@pytest.fixture
def manager(conf, database, clock):
    return builders.Manager(conf, database, clock, classes=CLASSES)


@pytest.fixture
def api(conf, manager):
    return builders.Api(conf, manager, plugins=CLASSES)


@pytest.fixture
def enrolled(api):
    """The floating IP that clients of REST 1.0 see."""
    answer = api.post('/v1/floatingips', BODY, **ADMIN)
    assert answer.status_int == 201, answer.text
    return answer.json['floatingip']


def lease_of(**request):
    return {'name': 'web', 'start_date': 'now', 'end_date': '2030-05-01 13:00', 'events': [],
            'reservations': [{'resource_type': 'virtual:floatingip',
                              'network_id': neutron.PUBLIC, **request}]}


def test_an_address_is_enrolled_listed_shown_and_withdrawn(api, enrolled):
    assert {name: enrolled[name] for name in (
        'floating_network_id', 'subnet_id', 'floating_ip_address', 'reservable')} == {
        **BODY, 'subnet_id': neutron.PUBLIC_SUBNET, 'reservable': True}
    assert set(enrolled) == {'id', 'floating_network_id', 'subnet_id', 'floating_ip_address',
                             'reservable', 'created_at', 'updated_at'}
    assert enrolled['id'].isdecimal()
    assert re.fullmatch(r'2030-05-01 12:00:00', enrolled['created_at'])
    assert api.get('/v1/floatingips').json == {'floatingips': [enrolled]}
    place = f'/v1/floatingips/{enrolled["id"]}'
    assert api.get(place).json == {'floatingip': enrolled}
    gone = api.delete(place, **ADMIN)
    assert (gone.status_int, gone.body) == (204, b'')
    assert api.get(place).status_int == 404
    assert api.get('/v1/floatingips').json == {'floatingips': []}


@pytest.mark.parametrize(('version', 'status'), [('1.0', 400), ('1.1', 409)])
def test_a_full_quota_is_refused_as_a_shortage_is(api, manager, enrolled, version, status):
    manager.cloud.network.set_quota('demo', 'floatingip', 0)
    [reservation] = lease_of(amount=1)['reservations']
    body = lease_of(amount=1) if version == '1.0' else {
        'name': 'web', 'duration': '1h', 'reservations': [reservation]}
    refused = api.post('/v1/leases', body, version=version)
    assert refused.status_int == status
    assert '"floatingip"' in refused.json['error_message']


def test_a_floating_ip_is_the_resource_of_the_pool(api, enrolled):
    [shown] = api.get('/v1/resources/address', version='1.1', **ADMIN).json['resources']
    assert (shown['id'], shown['address'], shown['network_id']) == (
        enrolled['id'], '172.24.4.210', neutron.PUBLIC)
    newer = api.get('/v1/floatingips', version='1.1').json['floatingips']
    assert newer[0]['created_at'] == '2030-05-01T12:00:00Z'


@pytest.mark.parametrize('change, status, words', [
    ({'floating_ip_address': None}, 400, 'floating_ip_address'),
    ({'floating_ip_address': 'nonsense'}, 400, 'floating_ip_address'),
    ({'floating_ip_address': '172.24.4.210-172.24.4.211'}, 400, 'floating_ip_address'),
    ({'floating_ip_address': '172.24.4.1'}, 400, 'gateway'),
    ({'floating_ip_address': '172.24.4.100'}, 400, 'floating_ip_address'),
    ({'floating_ip_address': '10.0.0.1'}, 404, '10.0.0.1'),
    ({'floating_network_id': 'nowhere'}, 400, 'floating_network_id')])
def test_bad_bodies_name_the_field_of_this_path(api, change, status, words):
    answer = api.post('/v1/floatingips', {**BODY, **change}, **ADMIN)
    assert answer.status_int == status, answer.text
    assert words in answer.json['error_message']


@pytest.mark.parametrize('absent', sorted(BODY))
def test_both_fields_are_required(api, absent):
    body = {name: value for name, value in BODY.items() if name != absent}
    answer = api.post('/v1/floatingips', body, **ADMIN)
    assert answer.status_int == 400
    assert absent in answer.json['error_message']


def test_an_address_is_enrolled_once(api, enrolled):
    again = api.post('/v1/floatingips', BODY, **ADMIN)
    assert again.status_int == 409
    assert enrolled['id'] in again.json['error_message']


def test_floating_ips_have_no_changes_and_users_read_them(api, enrolled):
    place = f'/v1/floatingips/{enrolled["id"]}'
    assert api.put(place, {'reservable': False}, **ADMIN).status_int == 405
    assert api.post('/v1/floatingips', BODY).status_int == 403
    assert api.delete(place).status_int == 403
    assert api.get('/v1/floatingips', token='x:demo:').status_int == 403
    assert api.get('/v1/floatingips/7').status_int == 404
    assert api.get('/v1/floatingips/x').status_int == 404


def test_a_lease_of_a_client_of_rest_1_0(api, manager, enrolled):
    answer = api.post('/v1/leases', lease_of(
        amount='1', required_floatingips=['172.24.4.210'], unheard_of='x'))
    assert answer.status_int == 201, answer.text
    [reservation] = answer.json['lease']['reservations']
    assert (reservation['network_id'], reservation['amount'],
            reservation['required_floatingips']) == (neutron.PUBLIC, 1, ['172.24.4.210'])
    assert 'kept_floatingips' not in reservation
    manager.run()
    place = f'/v1/leases/{answer.json["lease"]["id"]}'
    found = api.get(place).json['lease']
    assert found['status'] == 'ACTIVE'
    assert api.delete(f'/v1/floatingips/{enrolled["id"]}', **ADMIN).status_int == 409
    # Clients send a reservation back as they got it.
    same = api.put(place, {'name': 'other', 'reservations': found['reservations']})
    assert same.status_int == 200, same.text
    [newer] = api.get(place, version='1.1').json['lease']['reservations']
    assert [each['address'] for each in newer['floating_ips']] == ['172.24.4.210']
    manager.run_until(builders.at(2))
    assert api.delete(f'/v1/floatingips/{enrolled["id"]}', **ADMIN).status_int == 204


@pytest.mark.parametrize(('version', 'start'), [(None, 'start_date'), ('1.1', 'start')])
def test_the_allocations_of_addresses_are_listed(api, enrolled, version, start):
    lease = api.post('/v1/leases', lease_of(amount=1)).json['lease']
    answer = api.get('/v1/floatingips/allocations', version=version, **ADMIN)
    [allocation] = answer.json['allocations']
    assert allocation['resource_id'] == enrolled['id']
    assert [(each['lease_id'], each[start][:10]) for each in allocation['reservations']] == [
        (lease['id'], '2030-05-01')]
    refused = api.get('/v1/floatingips/allocations', version=version)
    assert refused.status_int == 403
    assert 'climate:resources:address:get_allocations' in refused.json['error_message']
    assert '/floatingips/allocations' in api.get('/v1/openapi', token=None).json['paths']


def test_a_range_is_enrolled_by_one_request(api):
    body = {'name': '172.24.4.210-172.24.4.212', 'network_id': neutron.PUBLIC,
            'properties': {'rack': 'r7'}}
    made = api.post('/v1/resources/address', body, version='1.1', **ADMIN)
    assert made.status_int == 201, made.text
    assert [each['address'] for each in made.json['resources']] == [
        f'172.24.4.{number}' for number in (210, 211, 212)]
    assert {each['properties']['rack'] for each in made.json['resources']} == {'r7'}
    again = api.post('/v1/resources/address', {**body, 'name': '172.24.4.212-172.24.4.214'},
                     version='1.1', **ADMIN)
    assert again.status_int == 409
    assert len(api.get('/v1/floatingips').json['floatingips']) == 3


def test_the_path_is_not_there_without_the_type(conf, manager):
    other = builders.Api(conf, manager, plugins={'virtual:dummy': dummy.DummyPlugin})
    assert other.get('/v1/floatingips', **ADMIN).status_int == 404


def test_the_document_has_the_path(api):
    paths = api.get('/v1/openapi').json['paths']
    [found] = [path for path in paths if path.endswith('/floatingips')]
    assert set(paths[found]) == {'get', 'post'}
    assert set(paths[f'{found}/{{id}}']) - {'parameters'} == {'get', 'delete'}
