# SPDX-License-Identifier: Apache-2.0
"""Lists of resources with their states, and with filters by name and criteria."""
import json

import pytest
from support import builders

ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
HOSTS = ('/v1/os-hosts', 'hosts', 'hypervisor_hostname'), (
    '/v1/resources/host', 'resources', 'name')


@pytest.fixture
def enrolled(manager):
    """Eight hosts in two racks."""
    for number, host in enumerate(manager.enrol(8)):
        manager.client.update_resource(builders.an_admin(), 'host', host.id,
                                       {'rack': f'r{number % 2}'})
    return manager


@pytest.mark.parametrize(('path', 'many', 'name'), HOSTS)
def test_a_list_is_searched_by_name_and_by_criteria_page_by_page(
        api, enrolled, path, many, name):
    def names(query):
        answer = api.get(f'{path}?{query}', **ADMIN)
        assert answer.status_int == 200, answer.json
        return [each[name] for each in answer.json[many]], answer.json.get(f'{many}_links')
    rack = f'criteria={json.dumps(["=", "$rack", "r1"])}'
    assert names('search=PUTE-3')[0] == ['compute-3']
    assert names('search=%25')[0] == names('search=compute_1')[0] == []
    first, links = names(f'{rack}&limit=3')
    assert first == ['compute-2', 'compute-4', 'compute-6']
    following = links[0]['href'].partition('?')[2]
    assert names(following)[0] == ['compute-8']
    assert names(f'{rack}&search=8')[0] == ['compute-8']


def test_a_list_with_states_names_the_leases_of_now(api, enrolled):
    lease = enrolled.active(builders.hosts(1), name='mine')
    enrolled.book(builders.hosts(8), start=builders.at(5), end=builders.at(6), name='later')
    hosts = {each['name']: each for each in api.get(
        '/v1/resources/host?state=true', **ADMIN).json['resources']}
    leased = [each for each in hosts.values() if each['state'] == 'leased']
    assert [each['leases'] for each in leased] == [[{
        'id': lease.id, 'name': 'mine', 'project_id': 'demo', 'user_id': 'demo',
        'project_name': None, 'user_name': None, 'end': '2030-05-01T13:00:00Z'}]]
    assert sorted(each['state'] for each in hosts.values()) == ['free'] * 7 + ['leased']
    plain = api.get('/v1/resources/host', **ADMIN).json['resources'][0]
    assert not {'state', 'leases'} & plain.keys()


@pytest.mark.parametrize('query', ['criteria=[', 'criteria=["=","$colour","red"]', 'state=maybe',
                                   f'search={"x" * 300}'])
def test_a_wrong_filter_is_refused(api, enrolled, query):
    assert api.get(f'/v1/os-hosts?{query}', **ADMIN).status_int == 400


def test_a_host_that_is_held_back_for_a_waiting_lease_is_not_leased(api, enrolled):
    enrolled.active(builders.hosts(4), end=builders.at(20), name='mine')
    answer = api.post('/v1/leases', {
        'name': 'patient', 'duration': '1h', 'acquire': {'type': 'wait', 'not_after': '+2d'},
        'reservations': [
            {'resource_type': 'physical:host', 'min': 8, 'max': 8}]}, version='1.1')
    assert answer.status_int == 202, answer.json
    enrolled.run()
    hosts = api.get('/v1/resources/host?state=true', **ADMIN).json['resources']
    states = sorted(each['state'] for each in hosts)
    assert states == ['free'] * 2 + ['held_back'] * 2 + ['leased'] * 4
    assert {lease['name'] for each in hosts if each['state'] == 'held_back'
            for lease in each['leases']} == {'patient'}
