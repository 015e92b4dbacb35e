# SPDX-License-Identifier: Apache-2.0
"""An administrator swaps the host of a lease with a PUT, as Chameleon's client does."""
import pytest
from support import builders

ADMIN = {'token': builders.ADMIN}


@pytest.fixture
def lease(api, enrol_hosts, manager):
    """A running lease that has the first of two hosts."""
    enrol_hosts(2)
    answer = api.post('/v1/leases', builders.a_body())
    assert answer.status_int == 201, answer.text
    manager.run()
    return answer.json['lease']['id']


def host_of(api, lease_id):
    [host] = api.get(f'/v1/leases/{lease_id}/hosts', **ADMIN).json['hosts']
    return host['id']


@pytest.mark.parametrize('version', [None, '1.1'])
def test_the_lease_gets_another_host(api, manager, lease, version):
    old = host_of(api, lease)
    path = f'/v1/os-hosts/{old}/allocation'
    answer = api.put(path, {'lease_id': lease}, version=version, **ADMIN)
    assert answer.status_int == 200, answer.text
    assert answer.json == api.get(path, version=version, **ADMIN).json
    assert answer.json['allocation']['resource_id'] == old
    assert lease not in {each.get('lease_id') for each in answer.json['allocation']['reservations']}
    manager.run()
    assert host_of(api, lease) != old
    assert api.get(f'/v1/leases/{lease}').json['lease']['status'] == 'ACTIVE'


@pytest.mark.parametrize(('body', 'status', 'text'), [
    ({}, 400, 'lease_id'), (None, 400, ''), ({'lease_id': None}, 400, 'lease_id'),
    ({'lease_id': ''}, 400, 'lease_id'), ({'lease_id': ['x']}, 400, 'lease_id'),
    ({'lease_id': 'x' * 37}, 400, 'lease_id'), ({'lease_id': 'nobody'}, 404, 'nobody'),
    ({'reservation_id': 'x'}, 400, 'lease_id'),
    ({'lease_id': 'nobody', 'force': True}, 400, 'force'),
    ({'lease_id': 'nobody', 'reservation_id': 'x'}, 400, 'reservation_id')])
def test_a_wrong_body_is_refused_by_its_field(api, lease, body, status, text):
    answer = api.put(f'/v1/os-hosts/{host_of(api, lease)}/allocation', body, **ADMIN)
    assert answer.status_int == status, answer.text
    assert text in answer.json['error_message']


def test_a_host_that_the_lease_does_not_have_is_refused(api, lease):
    other = 3 - int(host_of(api, lease))
    answer = api.put(f'/v1/os-hosts/{other}/allocation', {'lease_id': lease}, **ADMIN)
    assert answer.status_int == 400
    assert answer.json['error_message'].startswith('lease_id: ')
    for wrong in ('999', 'nobody'):
        answer = api.put(f'/v1/os-hosts/{wrong}/allocation', {'lease_id': lease}, **ADMIN)
        assert answer.status_int == 404
    assert api.put('/v1/os-hosts/allocation', {'lease_id': lease}, **ADMIN).status_int >= 400


def test_a_swap_without_a_free_host_changes_nothing(api, lease):
    old = host_of(api, lease)
    assert api.post('/v1/leases', builders.a_body(name='other')).status_int == 201
    answer = api.put(f'/v1/os-hosts/{old}/allocation', {'lease_id': lease}, **ADMIN)
    assert answer.status_int == 400, answer.text
    assert host_of(api, lease) == old


def test_a_lease_that_has_not_started_keeps_its_host(api, enrol_hosts):
    enrol_hosts(2)
    lease = api.post('/v1/leases', builders.a_body(
        start='2030-05-02 12:00', end='2030-05-02 13:00')).json['lease']['id']
    answer = api.put(f'/v1/os-hosts/{host_of(api, lease)}/allocation', {'lease_id': lease}, **ADMIN)
    assert answer.status_int == 409


def test_a_member_swaps_no_host_by_its_number(api, lease):
    path = f'/v1/os-hosts/{host_of(api, lease)}/allocation'
    for token in (builders.DEMO, builders.STRANGER):
        assert api.put(path, {'lease_id': lease}, token=token).status_int == 403
