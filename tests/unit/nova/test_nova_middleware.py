# SPDX-License-Identifier: Apache-2.0
"""Booting with a lease: the requests to Climate and to Nova, and their order."""
import json

import booting
from keystoneauth1 import exceptions
import pytest
from support import nova_standin


def test_the_lease_comes_first_and_is_bound_last(user, nova, service):
    assert user.boots(booting.RESERVED) == {'server': {'id': 's1'}}
    assert service.log == ['lease', 'nova', 'bound to s1']
    assert (user.status, user.headers['X-Climate-Lease-Id']) == (202, 'l1')
    assert user.headers['X-Nova'] == 'yes'
    assert nova.closed == 1


def test_the_lease_is_requested_with_the_token_of_the_user(user, service):
    user.boots(booting.RESERVED)
    for request in service.asked:
        assert request.headers['X-Auth-Token'] == 'user-token'
        assert request.headers['OpenStack-API-Version'] == 'reservation 1.1'
    assert service.asked[0].headers['Idempotency-Key'] == booting.REQUEST_ID
    assert service.asked[0].timeout == (5, 30)
    assert service.asked[1].timeout == 5
    assert service.asked[0].json() == {
        'name': 'lease-vm1', 'end': '2030-12-1 16:07', 'reservations': [
            {'resource_type': 'virtual:instance', 'resource_id': None, 'flavor_id': '7'}]}


@pytest.mark.parametrize(('said', 'zone'), [
    ('az1', 'az1'), (' az1 ', 'az1'), ('az1:compute-1', 'az1'), ('az1:compute-1:node', 'az1'),
    ('a"z', 'a"z'), ('', None), (':compute-1', None), ('::node', None), (None, None), (5, None),
    (['az1'], None), ({'az1': 1}, None)])
def test_the_lease_is_for_a_host_of_the_zone_that_the_request_names(
        user, nova, service, said, zone):
    user.boots(booting.RESERVED, availability_zone=said)
    [reservation] = service.asked[0].json()['reservations']
    criteria = json.loads(reservation.get('resource_properties', 'null'))
    assert criteria == (zone and ['==', '$availability_zone', zone])
    assert nova.asked['server']['availability_zone'] == said


@pytest.mark.parametrize('key', [booting.HINTS, 'OS-SCH-HNT:scheduler_hints'])
def test_nova_makes_a_server_that_names_its_lease(user, nova, key):
    user.boots({**booting.RESERVED, 'same_host': 'x'}, key, metadata={'a': 'b'})
    assert nova.asked == {
        'server': {'name': 'vm1', 'flavorRef': '7', 'metadata': {
            'a': 'b', 'climate:lease_id': 'l1', 'climate:status': 'ACTIVE'}},
        key: {'same_host': 'x', 'reservation': 'r1'}}


@pytest.mark.parametrize(('start', 'status'), [
    ('now', 'ACTIVE'), ('2030-05-01T08:00:00Z', 'ACTIVE'), ('2030-05-01T08:01:00Z', 'RESERVED')])
def test_a_server_says_whether_its_lease_runs(user, nova, start, status):
    user.boots({'reserved': True, 'lease_params': {'start': start, 'duration': 60}})
    assert nova.asked['server']['metadata']['climate:status'] == status


@pytest.mark.parametrize('counts', [{'max_count': 3}, {'min_count': '3'}])
def test_several_servers_share_a_lease_and_are_bound_by_climate(user, nova, service, counts):
    user.boots(booting.RESERVED, **counts)
    assert service.log == ['lease', 'nova']
    assert nova.asked[booting.HINTS] == {'reservation': ['r1', 'r2', 'r3']}
    assert user.headers['X-Climate-Lease-Id'] == 'l1'


@pytest.mark.parametrize('says', [{'reservation_id': 'r-1'}, [], {'server': None}, 'x'])
def test_a_server_without_an_id_in_the_response_is_bound_by_climate(user, nova, service, says):
    nova.says = says
    assert user.boots(booting.RESERVED, return_reservation_id=True) == says
    assert service.log == ['lease', 'nova']


@pytest.mark.parametrize('raw', [
    b'{"server" : {"name": "vm1"}}', b'{"server": {}, "os:scheduler_hints": {"group": "x"}}',
    b'not JSON', b'', b'[]', b'\xff', b'{"server": null, "os:scheduler_hints": 7}',
    b'[' * 100000], ids=lambda raw: str(raw[:20]))
def test_a_request_without_the_hints_passes_byte_for_byte(user, nova, service, raw):
    user.sends(raw)
    assert nova.bodies == [raw]
    assert (service.asked, 'X-Climate-Lease-Id' in user.headers) == ([], False)


@pytest.mark.parametrize(('method', 'path'), [
    ('GET', '/servers'), ('POST', '/servers/s1/action'), ('PUT', '/servers'), ('POST', '/flavors')])
def test_other_requests_are_not_changed(user, nova, service, method, path):
    raw = json.dumps({'server': {}, booting.HINTS: booting.RESERVED}).encode()
    user.sends(raw, path, method)
    assert (nova.bodies, service.asked) == ([raw], [])


@pytest.mark.parametrize('path', ['/servers', '/servers/', '/0a1b/servers', '/os-volumes_boot'])
def test_all_paths_by_which_nova_makes_servers_are_known(user, service, path):
    user.sends(booting.request(booting.RESERVED), path)
    assert service.log == ['lease', 'nova', 'bound to s1']


def test_a_body_that_comes_in_pieces_is_read_to_its_end(user, service, nova):
    raw = booting.request(booting.RESERVED)
    user.sends(raw, CONTENT_LENGTH=None, **{'wsgi.input_terminated': True})
    assert nova.asked[booting.HINTS] == {'reservation': 'r1'}
    user.sends(raw, CONTENT_LENGTH=None)
    assert nova.bodies[-1] == raw, 'nothing says that it ends, so Nova does not read it either'


def test_the_hint_reserved_false_boots_without_a_lease(user, nova, service):
    user.boots({'reserved': 'False', 'group': 'g'})
    assert nova.asked[booting.HINTS] == {'group': 'g'}
    user.boots({'reserved': False})
    assert booting.HINTS not in nova.asked
    assert service.asked == []


def test_a_request_without_an_id_gets_one(user, service):
    raw = booting.request(booting.RESERVED)
    user.sends(raw, **{'nova.context': None, 'openstack.request_id': 'req-2'})
    assert service.asked[0].headers['Idempotency-Key'] == 'req-2'
    user.sends(raw, **{'nova.context': None})
    assert service.asked[2].headers['Idempotency-Key'].startswith('req-')


def test_climate_can_be_configured_by_its_address_alone(write, service, nova):
    address = write({'endpoint_override': booting.URL})
    with nova_standin.api(address) as (factory, _conf):
        booting.User(factory({})(nova)).boots(booting.RESERVED)
    assert service.log == ['lease', 'nova', 'bound to s1']


def test_nova_does_not_start_without_a_login_or_an_address_of_climate(write):
    with nova_standin.api(write({})) as (factory, _conf), pytest.raises(
            exceptions.MissingAuthPlugin, match='neither auth_type nor endpoint_override'):
        factory({})


def test_both_pipelines_can_have_the_filter(write, login, nova, service):
    with nova_standin.api(write(login)) as (factory, _conf):
        for _ in range(2):
            booting.User(factory({'here': '/etc/nova'}, option='x')(nova)).boots(booting.RESERVED)
    assert service.log == ['lease', 'nova', 'bound to s1'] * 2
