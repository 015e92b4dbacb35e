# SPDX-License-Identifier: Apache-2.0
"""The commands about the resources of a pool, run as a user runs them."""
import argparse
import importlib.metadata

import pytest
from unit.client import canned

from climate.client.commands import nouns
from climate.client.commands import resource

PLACE = f'{canned.URL}/resources/address'
ADDRESS = {'id': '4', 'name': '203.0.113.4', 'reservable': True, 'network': 'public',
           'properties': {'zone': 'a'}, 'created_at': '2030-04-30T07:00:01Z', 'updated_at': None}


@pytest.fixture
def addresses(requests_mock):
    """A service that has the pool "address", with one in it."""
    requests_mock.get(PLACE, json={'resources': [ADDRESS]})
    requests_mock.get(f'{PLACE}/4', json={'resource': ADDRESS})
    requests_mock.put(f'{PLACE}/4', json={'resource': ADDRESS})
    requests_mock.post(PLACE, json={'resource': ADDRESS}, status_code=201)
    requests_mock.delete(f'{PLACE}/4', status_code=204)
    return requests_mock


def test_a_resource_is_enrolled_with_what_the_pool_wants_to_know(run, addresses):
    outcome = run('resource', 'create', '--pool', 'address', '--field', 'network=public',
                  '--field', 'segment=104', '--property', 'zone=a')
    assert outcome.code == 0, outcome.err
    assert addresses.last_request.json() == {
        'network': 'public', 'segment': 104, 'properties': {'zone': 'a'}}
    assert run('resource', 'create', '--pool', 'address', '203.0.113.4').code == 0
    assert addresses.last_request.json() == {'name': '203.0.113.4'}


def test_a_range_is_enrolled_and_all_its_resources_are_shown(run, addresses):
    other = {**ADDRESS, 'id': '5', 'name': '203.0.113.5'}
    addresses.post(PLACE, json={'resources': [ADDRESS, other]}, status_code=201)
    outcome = run('address', 'create', '203.0.113.4-203.0.113.5', '--field', 'network_id=n',
                  '-f', 'json')
    assert outcome.code == 0, outcome.err
    assert outcome.json == {'id': ['4', '5'], 'name': ['203.0.113.4', '203.0.113.5']}
    assert addresses.last_request.json() == {'name': '203.0.113.4-203.0.113.5', 'network_id': 'n'}


def test_a_resource_is_found_by_what_people_call_it(run, addresses):
    addresses.get(PLACE, json={'resources': [
        {**ADDRESS, 'name': '203.0.113.4@network', 'address': '203.0.113.4'}]})
    assert run('address', 'show', '203.0.113.4').code == 0


def test_a_back_end_is_woken_and_put_to_sleep_and_the_list_says_what_sleeps(run, requests_mock):
    place = PLACE.replace('address', 'backend')
    found = {'id': '7', 'name': 'node@lease#lease', 'reservable': True, 'gb': 200,
             'power_state': 'asleep', 'power_since': '2030-05-01T13:00:00Z', 'properties': {}}
    requests_mock.get(place, json={'resources': [found]})
    requests_mock.post(f'{place}/7/power', json={'resource': found}, status_code=202)
    assert run('backend', 'list', '-f', 'json').json == [
        {'id': '7', 'name': 'node@lease#lease', 'reservable': True, 'power_state': 'asleep'}]
    for word, state in (('wake', 'awake'), ('sleep', 'asleep')):
        outcome = run('backend', word, 'node@lease#lease', '-f', 'json')
        assert outcome.code == 0, outcome.err
        assert [*outcome.json][:5] == ['id', 'name', 'reservable', 'power_state', 'power_since']
        assert requests_mock.last_request.json() == {'state': state}


def test_a_storage_back_end_has_a_noun_of_its_own(run, requests_mock):
    place = PLACE.replace('address', 'backend')
    enrolled = {'id': '7', 'name': 'cinder1@lease#lease', 'gb': 200, 'properties': {}}
    requests_mock.post(place, json={'resource': enrolled}, status_code=201)
    assert run('backend', 'create', 'cinder1@lease#lease', '--property', 'media=ssd').code == 0
    assert requests_mock.last_request.json() == {
        'name': 'cinder1@lease#lease', 'properties': {'media': 'ssd'}}
    requests_mock.get(place, json={'resources': [enrolled]})
    requests_mock.get(f'{place}/7', json={'resource': enrolled})
    assert run('backend', 'show', 'cinder1@lease#lease', '-f', 'json').json['gb'] == 200


def test_a_field_without_a_value_is_refused(run, addresses):
    outcome = run('resource', 'create', '--pool', 'address', '--field', 'network')
    assert (outcome.code, addresses.call_count) == (2, 0)
    assert 'NAME=VALUE' in outcome.err


def test_resources_are_listed(run, addresses):
    assert run('resource', 'list', '--pool', 'address', '-f', 'json').json == [
        {'id': '4', 'name': '203.0.113.4', 'reservable': True}]
    assert run('resource', 'list', '--pool', 'address', '--long', '-f', 'json').json == [
        {**ADDRESS, 'updated_at': None}]


def test_a_resource_is_shown_by_name_or_id(run, addresses):
    for name in ('203.0.113.4', '4'):
        shown = run('resource', 'show', '--pool', 'address', name)
        assert shown.code == 0 and 'zone=a' in shown.out
    assert run('resource', 'show', '--pool', 'address', '203.0.113.9').code == 1


def test_properties_are_set_and_unset_and_a_resource_is_taken_out_of_use(run, addresses):
    outcome = run('resource', 'set', '--pool', 'address', '4', '--property', 'rack=b', '--unset',
                  'zone', '--disable')
    assert outcome.code == 0, outcome.err
    assert addresses.last_request.json() == {
        'properties': {'rack': 'b', 'zone': None}, 'reservable': False}


def test_setting_nothing_is_refused(run, addresses):
    assert run('resource', 'set', '--pool', 'address', '4').code == 2
    assert addresses.call_count == 0


def test_resources_are_deleted(run, addresses):
    assert run('resource', 'delete', '--pool', 'address', '203.0.113.4', '4').code == 0
    assert [call.method for call in addresses.request_history].count('DELETE') == 2


def test_a_pool_must_be_named(run, addresses):
    outcome = run('resource', 'list')
    assert (outcome.code, addresses.call_count) == (2, 0)
    assert '--pool' in outcome.err


def test_a_wrong_pool_is_answered_with_those_that_there_are(run, requests_mock):
    requests_mock.get(f'{canned.URL}/resources/wrong', status_code=404, json={
        'error_code': 404, 'error_name': 'unknown_pool',
        'error_message': 'There is no pool "wrong"; enabled are: address, host.'})
    outcome = run('resource', 'list', '--pool', 'wrong')
    assert outcome.code == 1
    assert 'enabled are: address, host' in outcome.err


def test_properties_and_allocations_of_a_pool_are_listed(run, addresses):
    addresses.get(f'{PLACE}/facets', json={'facets': [
        {'property': 'zone', 'kind': 'property', 'values': [], 'more': False}]})
    addresses.get(f'{PLACE}/allocations', json={'allocations': [
        {'resource_id': '4', 'reservations': []}]})
    addresses.get(f'{PLACE}/4/allocation', json={'allocation': {
        'resource_id': '4', 'reservations': []}})
    assert run('property', 'list', '--pool', 'address', '-f', 'json').json == [
        {'property': 'zone'}]
    [listed] = run('allocation', 'list', '--pool', 'address', '-f', 'json').json
    assert listed == {'resource_id': '4', 'name': '203.0.113.4', 'reservations': []}
    assert run('allocation', 'show', '--pool', 'address', '4', '-f', 'json').json == listed
    assert run('property', 'unset', '--pool', 'address', 'zone', '--resource', '4').code == 0
    assert addresses.last_request.json() == {'properties': {'zone': None}}


@pytest.mark.parametrize('word', ['Create', 'List', 'Show', 'Set', 'Delete'])
def test_a_pool_gets_a_noun_of_its_own_by_an_entry_point(word):
    point = importlib.metadata.EntryPoint(
        f'reservation_address_{word.lower()}', f'climate.client.commands.nouns:address.{word}',
        'openstack.extension')
    command = point.load()
    assert issubclass(command, resource.OfPool)
    assert command.pool == 'address'
    assert 'address' in command.__doc__


def test_the_commands_of_a_noun_name_no_pool(climate, addresses):
    # As openstack does it: the app gives the command a client_manager, nothing else of ours.
    app = argparse.Namespace(client_manager=argparse.Namespace(climate=climate))
    command = nouns.of_pool('address').List(app, None)
    parsed = command.get_parser('openstack reservation address list').parse_args([])
    assert command.take_action(parsed)[1] == [('4', '203.0.113.4', True)]


def test_a_list_is_filtered_by_the_service_and_shows_states(run, requests_mock):
    requests_mock.get(PLACE, json={'resources': [{
        'id': '4', 'name': '203.0.113.4', 'reservable': True, 'state': 'leased', 'leases': [{
            'id': 'l1', 'name': 'mine', 'project_id': 'p1', 'user_id': 'u1',
            'end': '2030-05-01T10:00:00Z'}]}]})
    outcome = run('resource', 'list', '--pool', 'address', '--search', '113', '--require',
                  'rack=r7', '--state')
    assert requests_mock.last_request.qs == {
        'search': ['113'], 'criteria': ['["==", "$rack", "r7"]'], 'state': ['true']}
    assert 'leased' in outcome.out
    assert 'mine of project p1 until 2030-05-01 10:00 UTC' in outcome.out
