# SPDX-License-Identifier: Apache-2.0
"""/v1/resources/{pool}: every pool is served as its class describes it, also an unknown one."""
from urllib import parse

import jsonschema
import pytest
from support import builders

from climate import policy
from climate.domain import records
from climate.plugins import base
from climate.plugins import dummy
from climate.policies import resources as rules

HOSTS = '/v1/resources/host'
ADMIN = {'token': builders.ADMIN, 'version': '1.1'}


class ShelfPool(base.Pool):
    """A pool as somebody else would write it."""

    name = 'shelf'
    capacity_names = {'boards': 'boards'}
    enrol_schema = {
        'type': 'object', 'required': ['room', 'row'],
        'properties': {'room': {'type': 'string'}, 'row': {'type': 'integer'}},
        'additionalProperties': False}

    def discover(self, cloud, name):
        """Never called here."""


class ShelfPlugin(dummy.DummyPlugin):
    resource_type = 'physical:shelf'
    pools = (ShelfPool,)


class Shelves:
    """A manager with one shelf; it notes what the API asks of it."""

    def __init__(self):
        self.asked = []
        self.shelf = records.Resource(7, 'shelf', 'cellar/3', {'boards': 5}, facts={'row': '3'},
                                      properties={'colour': 'red'}, created_at=builders.NOON)

    def __getattr__(self, name):
        def call(context, *arguments):
            self.asked.append((name, *arguments))
            return {'list_resources': [self.shelf], 'list_properties': []}.get(name, self.shelf)
        return call


@pytest.fixture
def shelves(conf):
    """The REST service, with a pool that the tree does not have."""
    return builders.Api(conf, None, plugins={'physical:shelf': ShelfPlugin},
                        client=Shelves())


def test_a_host_is_enrolled_shown_changed_and_withdrawn(api):
    made = api.post(HOSTS, {'name': 'compute-1', 'properties': {'gpu': True}}, **ADMIN)
    assert made.status_int == 201
    host = made.json['resource']
    assert (host['name'], host['properties'], host['reservable']) == (
        'compute-1', {'gpu': 'True'}, True)
    assert host['vcpus'] > 0 and host['service_name'] == 'compute-1'
    place = f'{HOSTS}/{host["id"]}'
    assert api.get(place, **ADMIN).json['resource'] == host
    assert api.get(HOSTS, **ADMIN).json['resources'] == [host]
    changed = api.put(place, {'reservable': False, 'properties': {'gpu': None, 'rack': 7}}, **ADMIN)
    assert changed.json['resource']['properties'] == {'rack': '7'}
    assert changed.json['resource']['reservable'] is False
    assert api.delete(place, **ADMIN).status_int == 204
    assert api.get(HOSTS, **ADMIN).json == {'resources': []}


def test_the_hosts_of_both_doors_are_the_same(api, manager):
    manager.enrol(2, gpu='A100')
    [old, _] = api.get('/v1/os-hosts', **ADMIN).json['hosts']
    [new, _] = api.get(HOSTS, **ADMIN).json['resources']
    assert old.pop('hypervisor_hostname') == new.pop('name')
    assert {'gpu': old.pop('gpu')} == new.pop('properties')
    assert old == new


@pytest.mark.parametrize(('query', 'name', 'said'), [
    ('reservation_id=nosuch', 'reservation_not_found', 'Reservation nosuch was not found.'),
    ('lease_id=nosuch', 'lease_not_found', 'Lease nosuch was not found.')])
@pytest.mark.parametrize('path', ['allocations', '{}/allocation'])
def test_allocations_of_an_unknown_lease_or_reservation_are_not_found(api, manager, query, name,
                                                                      said, path):
    [host] = manager.enrol(1)
    path = f'{HOSTS}/{path.format(host.id)}?{query}'
    answer = api.get(path, **ADMIN)
    assert (answer.status_int, answer.json['error_name']) == (404, name)
    assert said in answer.json['error_message']
    # Existing clients get an empty list.
    assert api.get(path.replace('resources/host', 'os-hosts'),
                   token=builders.ADMIN).status_int == 200


def test_allocations_of_a_deleted_lease_are_found(api, manager):
    manager.enrol(1)
    lease = manager.book()
    manager.run()
    manager.delete(lease)
    manager.run()
    for query in (f'reservation_id={lease.reservations[0].id}', f'lease_id={lease.id}'):
        assert api.get(f'{HOSTS}/allocations?{query}', **ADMIN).status_int == 200


def test_properties_and_allocations_are_those_of_the_pool(api, manager):
    [host] = manager.enrol(1, gpu='A100')
    lease = manager.book()
    assert api.get(f'{HOSTS}/properties?detail=true', **ADMIN).json == {'resource_properties': [
        {'property': 'gpu', 'private': False, 'values': ['A100']}]}
    changed = api.call('PATCH', f'{HOSTS}/properties/gpu', {'private': True}, **ADMIN)
    assert changed.json['resource_property']['private'] is True
    assert api.get(f'{HOSTS}/properties', **ADMIN).json == {'resource_properties': []}
    [all_of_it] = api.get(f'{HOSTS}/allocations', **ADMIN).json['allocations']
    assert all_of_it['reservations'][0]['lease_id'] == lease.id
    assert api.get(f'{HOSTS}/{host.id}/allocation', **ADMIN).json['allocation'] == all_of_it


@pytest.mark.parametrize('path', ['/v1/resources/shelf', '/v1/resources/shelf/7',
                                  '/v1/resources/shelf/7/allocation', '/v1/resources/hosts'])
def test_a_pool_that_is_not_enabled_is_answered_with_those_that_are(api, path):
    answer = api.get(path, **ADMIN)
    assert answer.status_int == 404
    assert answer.json['error_name'] == 'unknown_pool'
    assert answer.json['error_message'].endswith('enabled are: address, backend, host, segment.')


def test_without_a_pool_those_that_are_enabled_are_named(api):
    answer = api.get('/v1/resources', **ADMIN)
    assert answer.status_int == 404
    assert 'Enabled are: address, backend, host, segment.' in answer.json['error_message']


@pytest.mark.parametrize(('body', 'field'), [
    ({}, 'name'), ({'name': 'compute-1', 'gpu': 'A100'}, 'gpu'), ({'name': 3}, 'name'),
    ({'name': 'compute-1', 'properties': {'gpu': []}}, 'properties.gpu')])
def test_an_unknown_field_of_a_pool_is_refused(api, body, field):
    answer = api.post(HOSTS, body, **ADMIN)
    assert answer.status_int == 400
    assert field in answer.json['error_message']


def test_two_properties_never_have_names_that_look_the_same(api):
    composed, decomposed = 'gr\u00f6\u00dfe', 'gro\u0308\u00dfe'
    made = api.post(HOSTS, {'name': 'compute-1', 'properties': {composed: '3'}}, **ADMIN)
    place = f"{HOSTS}/{made.json['resource']['id']}"
    refused = api.put(place, {'properties': {decomposed: '4'}}, **ADMIN)
    assert (refused.status_int, composed in refused.json['error_message']) == (400, True)
    # A removal is refused, too: it would leave a second name.
    refused = api.put(place, {'properties': {decomposed: None}}, **ADMIN)
    assert (refused.status_int, composed in refused.json['error_message']) == (400, True)
    # The path of a property, criteria and groups of usage may have either form.
    path = f'/v1/resources/host/properties/{parse.quote(decomposed)}'
    assert api.call('PATCH', path, {'private': False}, **ADMIN).status_int == 200
    assert api.get(f'/v1/usage?group_by=property:{parse.quote(decomposed)}',
                   version='1.1').status_int == 200
    body = builders.a_body()
    body['reservations'][0]['resource_properties'] = f'["==", "${decomposed}", "3"]'
    assert api.post('/v1/leases', body).status_int == 201


def test_errors_about_hosts_have_the_names_that_clients_know(api, manager):
    manager.enrol(1)
    [known] = api.get(HOSTS, **ADMIN).json['resources']
    told = [api.get(f'{HOSTS}/99', **ADMIN), api.get(f'{HOSTS}/x', **ADMIN),
            api.post(HOSTS, {'name': known['name']}, **ADMIN)]
    assert [(each.json['error_name'], each.json['details']) for each in told] == [
        ('host_not_found', {'host': 99}), ('host_not_found', {'host': 'x'}),
        ('host_known', {'host': known['name'], 'host_id': known['id']})]
    assert told[0].json['error_message'] == 'Host 99 was not found.'


def test_errors_about_other_pools_have_neutral_names(shelves):
    answer = shelves.get('/v1/resources/shelf/x', **ADMIN)
    assert answer.json['error_name'] == 'resource_not_found'
    assert answer.json['error_message'] == 'Shelf x was not found.'
    assert answer.json['details'] == {'pool': 'shelf', 'resource': 'x'}


def test_a_pool_says_how_one_is_enrolled_and_shown(shelves):
    made = shelves.post('/v1/resources/shelf', {
        'room': 'cellar', 'row': 3, 'properties': {'colour': 'red'}}, **ADMIN)
    assert shelves.manager.asked == [
        ('create_resource', 'shelf', '', {'colour': 'red'}, {'room': 'cellar', 'row': 3})]
    assert made.json['resource'] == {
        'id': '7', 'name': 'cellar/3', 'reservable': True, 'properties': {'colour': 'red'},
        'row': '3', 'boards': 5, 'created_at': '2030-05-01T12:00:00Z', 'updated_at': None,
        'health': {'state': 'well', 'since': None, 'reason': None, 'source': None, 'until': None},
        'maintenances': []}
    assert shelves.post('/v1/resources/shelf', {'name': 'x'}, **ADMIN).status_int == 400


def test_a_pool_is_in_the_document_with_its_schema(shelves):
    document = shelves.get('/v1/openapi', token=None).json
    body = document['paths']['/resources/shelf']['post']['requestBody']
    schema = body['content']['application/json']['schema']
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({'room': 'cellar', 'row': 3, 'properties': {'colour': 'red'}})
    assert not validator.is_valid({'name': 'cellar/3'})
    assert set(schema['properties']) == {'room', 'row', 'properties'}


def test_each_pool_has_rules_of_its_own(conf, tmp_path):
    policy.Policy(conf)  # Registers the options.
    path = tmp_path / 'policy.yaml'
    path.write_text(f'"{rules.of_pool("shelf").get}": "role:reader"\n')
    conf.set_override('policy_file', str(path), group='oslo_policy')
    shelves = builders.Api(conf, None, plugins={'physical:shelf': ShelfPlugin},
                           client=Shelves())
    assert shelves.get('/v1/resources/shelf', version='1.1').status_int == 200
    assert shelves.delete('/v1/resources/shelf/7', version='1.1').status_int == 403


def test_the_sample_policy_has_the_rules_of_the_pools_in_the_tree():
    known = policy.sample_enforcer().registered_rules
    assert set(vars(rules.of_pool('host')).values()) <= set(known)


def test_a_list_of_resources_has_pages(api, manager):
    manager.enrol(3)
    first = api.get(f'{HOSTS}?limit=2', **ADMIN).json
    assert len(first['resources']) == 2
    [link] = first['resources_links']
    rest = api.get(link['href'].partition('localhost:80')[2] or link['href'], **ADMIN).json
    assert len(rest['resources']) == 1 and 'resources_links' not in rest


def test_rest_1_0_does_not_have_pools(api):
    answer = api.get(HOSTS, token=builders.ADMIN)
    assert answer.status_int == 404
    assert 'REST 1.1' in answer.json['error_message']
