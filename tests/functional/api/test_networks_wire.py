# SPDX-License-Identifier: Apache-2.0
"""Leases of networks over REST: segments, dry runs, availability, the queue, races, audits."""
import collections
import json
import os
from urllib import parse

import pytest
from support import builders
from support import simultaneous
import webtest

from climate.api import app
from climate.cloud.simulated import neutron
from climate.cmd import audit
from climate.plugins.network import network

CLASSES = {'virtual:network': network.NetworkPlugin}
ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
V = {'version': '1.1'}
WAIT = {'type': 'wait', 'not_after': '2030-05-02 08:00'}
_CALLERS = 16
_ROUNDS = int(os.environ.get('CLIMATE_RACE_ROUNDS') or 3)


@pytest.fixture
def manager(conf, database, clock):
    return builders.Manager(conf, database, clock, classes=CLASSES)


@pytest.fixture
def api(conf, manager):
    return builders.Api(conf, manager, plugins=CLASSES)


@pytest.fixture
def one_segment(api):
    answer = enrol(api, 'physnet1:vlan:3000')
    assert answer.status_int == 201, answer.text


def enrol(api, name, **more):
    return api.post('/v1/resources/segment', {'name': name, **more}, **ADMIN)


def body(**request):
    return {'name': 'lab', 'duration': '1h', 'reservations': [
        {'resource_type': 'virtual:network', **request}]}


def running(api, manager, **request):
    lease = api.post('/v1/leases', body(**request), **V).json['lease']
    manager.run()
    return api.get(f'/v1/leases/{lease["id"]}', **V).json['lease']


def test_segments_are_enrolled_listed_described_and_withdrawn(api):
    made = enrol(api, 'physnet1:vlan:3000-3001', properties={'rack': 'left'}).json['resources']
    assert [each['name'] for each in made] == ['physnet1:vlan:3000', 'physnet1:vlan:3001']
    one = made[0]
    assert {name: one[name] for name in ('physical_network', 'network_type', 'segmentation_id')} \
        == {'physical_network': 'physnet1', 'network_type': 'vlan', 'segmentation_id': '3000'}
    assert enrol(api, 'physnet1:vlan:3001').status_int == 409
    assert enrol(api, 'physnet1:vlan:3001-3004').status_int == 409
    assert enrol(api, 'physnet1:vlan:4094-4095').status_int == 400
    assert api.delete(f'/v1/resources/segment/{one["id"]}', **ADMIN).status_int == 204
    left = api.get('/v1/resources/segment', **ADMIN).json['resources']
    assert [each['name'] for each in left] == ['physnet1:vlan:3001']
    assert api.get('/v1/resources/segment', **V).status_int == 403
    assert api.post('/v1/resources/segment', {'name': 'physnet1:vlan:7'}, **V).status_int == 403


def test_the_lease_shows_the_segment_and_the_ids_that_its_owner_does_not_see_elsewhere(
        api, manager, one_segment):
    lease = running(api, manager, subnet='10.42.0.0/24')
    [shown] = lease['reservations']
    [made] = [each for each in manager.cloud.network.networks() if each.segment]
    assert (shown['segment'], shown['segmentation_id']) == ('physnet1:vlan:3000', 3000)
    assert (shown['network_id'], shown['router_id']) == (made.id, None)
    assert shown['subnet_id'] == made.subnet_ids[0]
    old = api.get(f'/v1/leases/{lease["id"]}').json['lease']['reservations'][0]
    assert (old['segment'], old['network_id']) == ('physnet1:vlan:3000', made.id)


def test_a_member_may_name_the_segment(api, manager):
    enrol(api, 'physnet1:vlan:3000-3001')
    lease = running(api, manager, required_segment='physnet1:vlan:3001')
    assert lease['reservations'][0]['segment'] == 'physnet1:vlan:3001'


def test_rest_1_0_takes_texts(api, manager, one_segment):
    answer = api.post('/v1/leases', builders.a_body(reservations=[{
        'resource_type': 'virtual:network', 'subnet': '10.42.0.0/24', 'router': 'true',
        'external_network': neutron.PUBLIC, 'required_segment': None, 'unknown': 1}]))
    assert answer.status_int == 201, answer.text
    manager.run()
    assert len(manager.cloud.network.routers()) == 1


def test_a_dry_run_makes_nothing_and_says_what_would_fail(api, manager, one_segment):
    assert api.post('/v1/leases?dry_run=true', body(), **V).status_int == 200
    manager.cloud.network.set_quota('demo', 'network', 0)
    answer = api.post('/v1/leases?dry_run=true', body(), **V)
    assert answer.status_int == 409
    assert '"network"' in answer.json['error_message']
    assert api.get('/v1/leases', **V).json['leases'] == []


def test_availability_tells_when_a_segment_is_free(api, manager, one_segment):
    running(api, manager)
    query = parse.urlencode({'duration': '2h', 'reservations': json.dumps(
        [{'resource_type': 'virtual:network'}])})
    answer = api.get(f'/v1/availability?{query}', **V)
    assert answer.status_int == 200, answer.text
    assert answer.json['offers'][0]['start'] == '2030-05-01T13:00:00Z'
    [considered] = answer.json['considered']
    assert (considered['pool'], considered['enrolled'], considered['free']) == ('segment', 1, 1)


@pytest.mark.proof
def test_a_lease_waits_in_the_queue_until_a_segment_is_really_free(api, manager, one_segment):
    first = running(api, manager, on_end='wait')
    [made] = [each for each in manager.cloud.network.networks() if each.segment]
    port = manager.cloud.network.add_port(made.id, '10.1.1.1', 'demo', '')
    waiting = api.post('/v1/leases', {**body(), 'acquire': WAIT}, **V).json['lease']
    manager.run_until(builders.NOON + builders.minutes(80))
    now = api.get(f'/v1/leases/{waiting["id"]}', **V).json['lease']
    assert now['status'] != 'active'
    manager.cloud.network.delete_port(port)
    manager.run_until(builders.NOON + builders.minutes(100))
    assert api.get(f'/v1/leases/{first["id"]}', **V).json['lease']['status'] == 'terminated'
    now = api.get(f'/v1/leases/{waiting["id"]}', **V).json['lease']
    assert now['status'] == 'active'
    assert now['reservations'][0]['segment'] == 'physnet1:vlan:3000'


@pytest.mark.proof
def test_one_of_sixteen_callers_gets_the_last_segment(conf, manager, api, one_segment):
    service = app.build(conf, manager.client, CLASSES)

    def ask():
        return webtest.TestApp(service).post_json('/v1/leases', body(), headers={
            'X-Auth-Token': builders.DEMO, 'OpenStack-API-Version': 'reservation 1.1'},
            expect_errors=True)
    for _ in range(_ROUNDS):
        answers = simultaneous.at_once(*[ask] * _CALLERS)
        assert collections.Counter(each.status_int for each in answers) == {201: 1, 409: 15}
        [told] = {each.json['error_message'].partition('.')[0] for each in answers
                  if each.status_int == 409}
        assert told.startswith('Only 0 of 1 segments are free')
        [made] = [each.json['lease'] for each in answers if each.status_int == 201]
        manager.run()
        assert len(manager.cloud.network.networks()) == 1
        api.delete(f'/v1/leases/{made["id"]}', **V)
        manager.run()
        assert manager.cloud.network.networks() == []
    assert manager.cloud.as_service().keystone.trusts() == []


def examine(manager, fix=False):
    return audit.examine(manager.core, fix, lambda seconds: (
        manager.clock.advance(builders.minutes(seconds / 60))), False)


def test_an_audit_makes_a_network_again_that_its_owner_deleted(api, manager, one_segment, capsys):
    running(api, manager, subnet='10.42.0.0/24', router=True)
    assert examine(manager) == 0
    [made] = manager.cloud.network.networks()
    for each in manager.cloud.network.ports(made.id):
        manager.cloud.network.delete_port(each.id)
    manager.cloud.network.delete_network(made.id)
    assert examine(manager) == 2
    assert 'physnet1:vlan:3000 is missing' in capsys.readouterr().out
    assert examine(manager, fix=True) == 0
    [again] = manager.cloud.network.networks()
    assert (again.segment, again.project_id) == (('physnet1', 'vlan', 3000), 'demo')
    assert len(again.subnet_ids) == len(manager.cloud.network.ports(again.id)) == 1
    assert len(manager.cloud.network.routers()) == 1
    assert examine(manager) == 0


def test_an_audit_tells_of_networks_on_free_segments_and_clears_what_a_lease_left(
        api, manager, one_segment, capsys):
    lease = running(api, manager)
    [reservation] = lease['reservations']
    api.delete(f'/v1/leases/{lease["id"]}', **V)
    manager.run()
    left = manager.cloud.network.take_segment(('physnet1', 'vlan', 3000), 'demo')
    assert examine(manager) == 2
    told = capsys.readouterr().out
    assert left.id in told
    assert 'no lease has it' in told
    assert examine(manager, fix=True) == 2
    assert manager.cloud.network.networks() == [left]
    manager.cloud.network.describe(left.id, f'Climate reservation {reservation["id"]}')
    assert examine(manager, fix=True) == 0
    assert manager.cloud.network.networks() == []
