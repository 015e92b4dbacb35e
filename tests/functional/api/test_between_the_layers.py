# SPDX-License-Identifier: Apache-2.0
"""Rules that API, manager and database keep together, as callers see them."""
import pytest
from support import builders

HOSTS = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


def create(api, **more):
    return api.post('/v1/leases', {'name': 'a lease', 'duration': '1h', **more}, version='1.1')


@pytest.mark.parametrize('moment', ['2020-05-01', '2031-05-01'])
def test_a_notice_lies_between_now_and_the_end(api, moment):
    answer = create(api, events=[{'type': 'notify', 'time': moment}])
    assert answer.status_int == 400
    assert 'events.time' in answer.json['error_message']


def test_near_names_keep_private_properties_to_themselves(api, manager):
    manager.enrol(1, secret_gpu='x')
    api.call('PATCH', '/v1/os-hosts/properties/secret_gpu', {'private': True},
             token=builders.ADMIN)
    answer = create(api, reservations=[{**HOSTS, 'resource_properties': ['==', '$secret', '1']}])
    assert answer.status_int == 400
    assert 'secret_gpu' not in answer.json['error_message']


def test_a_marker_of_another_project_is_not_found(api):
    marker = create(api).json['lease']['id']
    answer = api.get(f'/v1/leases?marker={marker}', version='1.1', token=builders.STRANGER)
    assert answer.status_int == 404


@pytest.mark.parametrize('name', ['cores', 'ram', 'disk', 'capabilities:x', 'trait:X'])
def test_a_property_that_no_criterion_can_name_is_refused(api, manager, name):
    manager.enrol(1)
    answer = api.put('/v1/os-hosts/1', {name: '1'}, token=builders.ADMIN)
    assert answer.status_int == 400


def test_taking_away_what_is_not_there_makes_no_property(api, manager):
    manager.enrol(1)
    api.put('/v1/os-hosts/1', {'nope': None}, token=builders.ADMIN)
    answer = create(api, reservations=[{**HOSTS, 'resource_properties': ['==', '$nope', '1']}])
    assert answer.json['error_name'] == 'unknown_property'


def test_create_and_show_order_events_alike(api):
    lease = create(api).json['lease']
    shown = api.get(f'/v1/leases/{lease["id"]}', version='1.1').json['lease']
    assert shown['events'] == lease['events']


def test_the_known_keys_of_a_reservation_are_named(api):
    answer = create(api, reservations=[{**HOSTS, 'colour': 1}])
    assert 'resource_properties' in answer.json['error_message']


def test_a_host_of_another_zone_is_not_enrolled_if_each_lease_has_its_own(api, manager, conf):
    conf.set_override('reservation_zone', 'always', group='nova')
    nova = manager.cloud.as_service().nova
    name = min(manager.cloud.host_names())
    nova.add_hosts(nova.ensure_aggregate('rack', zone='az1'), [name])
    answer = api.post('/v1/os-hosts', {'name': name}, token=builders.ADMIN)
    assert answer.status_int == 409
    assert 'az1' in answer.json['error_message']
