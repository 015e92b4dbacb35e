# SPDX-License-Identifier: Apache-2.0
"""Leases of servers whose request asks for none."""
import booting
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


def test_what_is_no_request_for_a_server_gets_no_default_lease(make, service, nova):
    make(default_lease=True).sends(b'{"server": 7}')
    assert (service.asked, nova.bodies) == ([], [b'{"server": 7}'])
