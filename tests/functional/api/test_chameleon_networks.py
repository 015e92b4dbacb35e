# SPDX-License-Identifier: Apache-2.0
"""Networks as clients of Chameleon's fork of Blazar enrol, reserve and list them."""
import json

import pytest
from support import builders

from climate.plugins.network import network
from climate.policies import resources

CLASSES = {'virtual:network': network.NetworkPlugin}
ADMIN = {'token': builders.ADMIN}
SEGMENT = {'network_type': 'vlan', 'physical_network': 'physnet1', 'segment_id': '3000'}
# As python-chi sends it.
RESERVATION = {
    'resource_type': 'network', 'network_name': 'lab', 'network_description': '',
    'resource_properties': json.dumps(['==', '$physical_network', 'physnet1']),
    'network_properties': ''}


@pytest.fixture
def manager(conf, database, clock):
    return builders.Manager(conf, database, clock, classes=CLASSES)


@pytest.fixture
def api(conf, manager):
    return builders.Api(conf, manager, plugins=CLASSES)


@pytest.fixture
def segment(api):
    answer = api.post('/v1/networks', {**SEGMENT, 'rack': 'left'}, **ADMIN)
    assert answer.status_int == 201, answer.text
    return answer.json['network']


@pytest.fixture
def lease(api, manager, segment):
    answer = api.post('/v1/leases', builders.a_body(reservations=[RESERVATION]))
    assert answer.status_int == 201, answer.text
    manager.run()
    return api.get(f'/v1/leases/{answer.json["lease"]["id"]}').json['lease']


def test_a_segment_is_enrolled_shown_changed_and_withdrawn_as_a_network(api, segment):
    assert segment == {
        'id': segment['id'], 'network_type': 'vlan', 'physical_network': 'physnet1',
        'segment_id': 3000, 'rack': 'left', 'reservable': True,
        'created_at': '2030-05-01 12:00:00', 'updated_at': None}
    path = f'/v1/networks/{segment["id"]}'
    assert api.get(path, **ADMIN).json == {'network': segment}
    assert api.get('/v1/networks', **ADMIN).json == {'networks': [segment]}
    changed = api.put(path, {'rack': None, 'stitch_provider': 'fabric'}, **ADMIN)
    assert changed.status_int == 200, changed.text
    assert 'rack' not in changed.json['network']
    assert changed.json['network']['stitch_provider'] == 'fabric'
    assert api.get(path, version='1.1', **ADMIN).json['network']['health']['state'] == 'well'
    assert api.delete(path, **ADMIN).status_int == 204
    assert api.get('/v1/networks', **ADMIN).json == {'networks': []}


@pytest.mark.parametrize(('wrong', 'text'), [
    ({'network_type': 'vxlan'}, 'network_type'), ({'segment_id': '4095'}, 'segment_id'),
    ({'segment_id': 0}, 'segment_id'), ({'segment_id': '3000-3010'}, 'segment_id'),
    ({'segment_id': None}, 'segment_id'), ({'segment_id': True}, 'segment_id'),
    ({'segment_id': 3000.5}, 'segment_id'), ({'physical_network': 'nowhere'}, 'physical_network'),
    ({'physical_network': 'a:b'}, 'physical_network'), ({'physical_network': None},
                                                        'physical_network'),
    ({'rack': ['left']}, 'rack')])
def test_a_wrong_segment_is_refused_by_the_name_of_the_field(api, wrong, text):
    answer = api.post('/v1/networks', {**SEGMENT, **wrong}, **ADMIN)
    assert answer.status_int == 400, answer.text
    assert text in answer.json['error_message']


def test_the_id_of_a_network_is_a_uuid_and_its_number_is_accepted(api, segment):
    number = str(int(segment['id'][-12:]))
    assert segment['id'] == f'00000000-0000-4000-0000-{int(number):012}'
    for key in (segment['id'], number):
        assert api.get(f'/v1/networks/{key}', **ADMIN).json == {'network': segment}
    for page, listed in ((f'marker={segment["id"]}', []), ('marker=0', [segment]),
                         (f'id={segment["id"]}&limit=1', [segment])):
        assert api.get(f'/v1/networks?{page}', **ADMIN).json == {'networks': listed}
    for key in ('00000000-0000-4000-0000-000000009999', '6ecbff11-dc50-4794-b1e9-9bb09a462d5f',
                f'{segment["id"]}0', '00000000-0000-4000-9999-999999999999'):
        for path in (key, f'{key}/allocation'):
            assert api.get(f'/v1/networks/{path}', **ADMIN).status_int == 404
    [resource] = api.get('/v1/resources/segment', version='1.1', **ADMIN).json['resources']
    assert resource['id'] == number


def test_a_segment_without_a_field_is_refused(api):
    for name in SEGMENT:
        body = {key: value for key, value in SEGMENT.items() if key != name}
        answer = api.post('/v1/networks', body, **ADMIN)
        assert answer.status_int == 400
        assert name in answer.json['error_message']


def test_a_lease_of_the_type_network_is_created_and_shown_with_that_type(api, manager, lease):
    [reservation] = lease['reservations']
    assert (reservation['resource_type'], reservation['status']) == ('network', 'active')
    assert reservation['network_name'] == 'lab'
    [made] = [each for each in manager.cloud.network.networks() if each.segment]
    assert reservation['network_id'] == made.id
    newer = api.get(f'/v1/leases/{lease["id"]}', version='1.1').json['lease']['reservations'][0]
    assert newer['resource_type'] == 'virtual:network'


def test_a_client_sends_the_whole_answer_back(api, lease):
    answer = api.put(f'/v1/leases/{lease["id"]}', {
        'end_date': '2030-05-01 14:00', 'reservations': lease['reservations']})
    assert answer.status_int == 200, answer.text
    assert answer.json['lease']['end_date'].startswith('2030-05-01T14:00')
    for name in ('network', 'virtual:network'):
        changed = api.put(f'/v1/leases/{lease["id"]}', {'reservations': [{
            'id': lease['reservations'][0]['id'], 'resource_type': name}]})
        assert changed.status_int == 200, changed.text


@pytest.mark.parametrize(('more', 'text'), [
    ({'resource_properties': '["==", "$stitch_provider", "fabric"]'}, 'stitch_provider'),
    ({'resource_properties': '["=="'}, 'Criteria'),
    ({'network_properties': '["==", "$mtu", "9000"]'}, 'network_properties'),
    ({'min': 2}, 'min'), ({'network_name': 7}, 'network_name')])
def test_a_request_that_climate_cannot_meet_is_refused_by_its_field(api, segment, more, text):
    answer = api.post('/v1/leases', builders.a_body(reservations=[{**RESERVATION, **more}]))
    assert answer.status_int == 400, answer.text
    assert text in answer.json['error_message']


def test_a_lease_lists_its_networks(api, lease, segment):
    answer = api.get(f'/v1/leases/{lease["id"]}/networks', **ADMIN)
    [listed] = answer.json['networks']
    assert (listed['id'], listed['segment_id']) == (segment['id'], 3000)
    assert api.get(f'/v1/leases/{lease["id"]}/hosts', **ADMIN).json == {'hosts': []}
    refused = api.get(f'/v1/leases/{lease["id"]}/networks')
    assert refused.status_int == 403
    assert resources.of_pool('segment').get in refused.json['error_message']


def test_the_allocations_of_networks_are_those_of_segments(api, lease, segment):
    answer = api.get('/v1/networks/allocations', **ADMIN).json
    assert answer == api.get('/v1/networks/allocations.json', **ADMIN).json
    [allocation] = answer['allocations']
    assert allocation['resource_id'] == segment['id']
    assert [each['lease_id'] for each in allocation['reservations']] == [lease['id']]
    assert api.get(f'/v1/networks/{segment["id"]}/allocation', **ADMIN).json == {
        'allocation': allocation}
    assert api.get('/v1/networks/999/allocation', **ADMIN).status_int == 404


def test_the_properties_of_networks_are_listed_and_changed(api, segment):
    path = '/v1/networks/properties'
    assert api.get(f'{path}?detail=True').json['resource_properties'] == [
        {'property': 'rack', 'private': False, 'values': ['left'], 'is_unique': False}]
    changed = api.call('PATCH', f'{path}/rack', {'private': True}, **ADMIN)
    assert changed.json['resource_property']['resource_type'] == 'network'
    assert api.get(path).json == {'resource_properties': []}
    assert api.call('PATCH', f'{path}/rack', {'private': False}).status_int == 403


def test_a_member_sees_no_segments(api, segment):
    for path in ('', f'/{segment["id"]}', '/allocations', f'/{segment["id"]}/allocation'):
        assert api.get(f'/v1/networks{path}').status_int == 403
    assert api.post('/v1/networks', SEGMENT).status_int == 403
    assert api.put(f'/v1/networks/{segment["id"]}', {'rack': 'right'}).status_int == 403
    assert api.delete(f'/v1/networks/{segment["id"]}').status_int == 403


def test_the_document_describes_the_paths_of_networks(api):
    paths = api.get('/v1/openapi', token=None).json['paths']
    assert {'/networks', '/networks/{id}', '/networks/allocations', '/networks/{id}/allocation',
            '/networks/properties', '/leases/{id}/networks'} <= set(paths)
