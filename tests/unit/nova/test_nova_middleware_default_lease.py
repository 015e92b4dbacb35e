# SPDX-License-Identifier: Apache-2.0
"""Leases of servers whose request asks for none."""
import booting
import pytest
import requests


def test_each_new_server_may_get_a_lease(make, nova, service):
    user = make(default_lease=True)
    user.boots()
    assert service.log == ['lease', 'nova', 'bound to s1']
    assert service.asked[0].json() == {
        'name': 'lease-vm1', 'duration': '30d', 'reservations': [
            {'resource_type': 'virtual:instance', 'resource_id': None, 'flavor_id': '7'}]}
    assert nova.asked[booting.HINTS] == {'reservation': 'r1'}


def test_a_default_lease_keeps_what_the_user_says(make, service):
    user = make(default_lease=True, default_lease_days=7)
    user.boots({'reserved': 'True', 'lease_params': '{"name": "mine", "on_end": "delete"}'})
    asked = service.asked[0].json()
    assert (asked['name'], asked['duration']) == ('mine', '7d')
    assert asked['reservations'][0]['on_end'] == 'delete'


def test_a_default_lease_stands_back_for_a_reservation(make, service, nova):
    user = make(default_lease=True)
    service.refuses('GET', '/leases/r9', **booting.climate_says(404, 'lease_not_found', 'no'))
    user.boots({'reservation': 'r9'})
    assert (service.log, nova.asked[booting.HINTS]) == (['nova'], {'reservation': 'r9'})


def test_a_project_may_be_exempt_from_default_leases(make, service):
    make(default_lease=True, default_lease_exempt_projects='p0,p1').boots()
    assert service.asked == []
    make(default_lease=True, default_lease_exempt_projects='p0').boots()
    assert service.log == ['nova', 'lease', 'nova', 'bound to s1']


def test_without_climate_a_default_lease_refuses_the_server(make, service, nova):
    service.refuses('POST', '/leases', exc=requests.exceptions.ConnectTimeout)
    user = make(default_lease=True)
    assert booting.told(user, user.boots())[0] == 503
    assert nova.bodies == []


def test_a_request_that_boots_no_server_gets_no_default_lease(make, service, nova):
    make(default_lease=True).sends(b'{"server": 7}')
    assert (service.asked, nova.bodies) == ([], [b'{"server": 7}'])


LEASED_ALREADY = [
    booting.climate_says(403, 'acts_for_lease', 'This token acts for a lease.'),
    booting.climate_says(400, 'reserved_flavor', 'The flavor belongs to a reservation.')]


@pytest.mark.parametrize('answer', LEASED_ALREADY, ids=str)
@pytest.mark.parametrize(('hints', 'passed_on'), [
    (None, None), ({'reserved': 'False'}, None), ({'lease_params': '{"name": "mine"}'}, None),
    ({'group': 'g1', 'reserved': 'False'}, {'group': 'g1'})])
def test_a_server_that_belongs_to_a_lease_gets_no_default_lease(
        make, service, nova, answer, hints, passed_on):
    service.refuses('POST', '/leases', **answer)
    user = make(default_lease=True)
    assert user.boots(hints) == {'server': {'id': 's1'}}
    assert nova.asked.get(booting.HINTS) == passed_on
    assert 'metadata' not in nova.asked['server']
    assert 'X-Climate-Lease-Id' not in user.headers


@pytest.mark.parametrize('answer', LEASED_ALREADY, ids=str)
def test_a_lease_that_is_asked_for_is_refused_for_a_server_of_another_lease(
        make, service, nova, answer):
    service.refuses('POST', '/leases', **answer)
    user = make(default_lease=True)
    status, _name, message = booting.told(user, user.boots(booting.RESERVED))
    assert (status, nova.bodies) == (answer['status_code'], [])
    assert answer['json']['error_message'] in message


@pytest.mark.parametrize('code', ['trust_refused', 'forbidden', 'conflict'])
def test_another_refusal_of_a_default_lease_refuses_the_server(make, service, nova, code):
    service.refuses('POST', '/leases', **booting.climate_says(403, code, 'no'))
    user = make(default_lease=True)
    assert booting.told(user, user.boots())[0] == 403
    assert nova.bodies == []
