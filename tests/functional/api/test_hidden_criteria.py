# SPDX-License-Identifier: Apache-2.0
"""Criteria that name hosts, or use private properties: what members learn by them."""
import json
from urllib import parse

import pytest
from support import builders

from climate import policy

ROOT = 'root:demo:admin,member,reader'
NAMING = ('hypervisor_hostname', 'service_name')


@pytest.fixture
def hosts(api, manager):
    """Three enrolled hosts with a public and a private property."""
    made = manager.enrol(3, rack='left', secret='abc')
    changed = api.call('PATCH', '/v1/os-hosts/properties/secret', {'private': True},
                       token=builders.ADMIN, version='1.1')
    assert changed.status_int == 200
    return made


def reservation(*criterion):
    return {'resource_type': 'physical:host', 'min': 1, 'max': 1,
            'resource_properties': json.dumps(criterion), 'hypervisor_properties': ''}


def ways(api, *criterion, token=builders.DEMO):
    """The answers to all that asks for resources at REST 1.1 and makes nothing."""
    asked = [reservation(*criterion)]
    lease = {'name': 'x', 'duration': '1h', 'reservations': asked}
    found = {'duration': '1h', 'reservations': json.dumps(asked)}
    options = {'token': token, 'version': '1.1'}
    return [
        api.post('/v1/leases?dry_run=true', lease, **options),
        api.post('/v1/leases?dry_run=true', {**lease, 'start': '2030-06-01T08:00:00Z'}, **options),
        api.post('/v1/leases?dry_run=true', {**lease, 'acquire': {
            'type': 'wait', 'not_after': '2030-05-03T08:00:00Z'}}, **options),
        api.post('/v1/leases?dry_run=true', {**lease, 'acquire': {'type': 'best-effort'}},
                 **options),
        api.get(f'/v1/availability?{parse.urlencode(found)}', **options)]


@pytest.mark.parametrize('name', NAMING)
@pytest.mark.parametrize('written', ['${}', '$capabilities:{}'])
def test_a_member_cannot_ask_for_hosts_by_name(api, hosts, name, written):
    for criterion in (('==', written.format(name), 'compute-1'),
                      ('s<', written.format(name), 'compute-2'),
                      ('not', ['contains', written.format(name), 'pute']),
                      ('and', ['==', '$rack', 'left'], ['!=', written.format(name), 'x']),
                      ('or', ['==', '$rack', 'no'], ['in', written.format(name), ['x', 'y']])):
        for answer in ways(api, *criterion):
            assert answer.status_int == 403, (criterion, answer.body)
            assert f'${name} with these roles: it names a host' in answer.json['error_message']


def test_to_a_member_a_private_property_does_not_exist(api, hosts):
    for operator, value in (('==', 'abc'), ('s<', 'b'), ('contains', 'a'), ('!=', None)):
        there = ways(api, operator, '$secret', value)
        nowhere = ways(api, operator, '$secreT', value)
        for one, other in zip(there, nowhere, strict=True):
            assert (one.status_int, one.json['error_name']) == (400, 'unknown_property')
            assert one.json['error_message'].replace('secret', 'secreT') == (
                other.json['error_message'])


def test_administrators_may_use_all_of_them(api, hosts):
    for name, value in (('hypervisor_hostname', 'compute-1'), ('service_name', 'compute-1'),
                        ('secret', 'abc'), ('rack', 'left')):
        for answer in ways(api, '==', f'${name}', value, token=ROOT):
            assert answer.status_int in (200, 201, 409), answer.body
            assert answer.json.get('error_name') != 'unknown_property'


def test_members_may_use_public_properties(api, hosts):
    now, later, *_, availability = ways(api, '==', '$rack', 'left')
    assert [each.status_int for each in (now, later, availability)] == [200, 200, 200]


def test_a_change_cannot_bring_them_in_and_may_keep_those_of_an_administrator(api, hosts):
    secret, named = ['==', '$secret', 'abc'], ['>=', '$hypervisor_hostname', 'a']
    body = {'name': 'x', 'start': '2030-06-01T08:00:00Z', 'duration': '1h',
            'reservations': [reservation('and', secret, named)]}
    lease = api.post('/v1/leases', body, token=ROOT, version='1.1').json['lease']
    place, [mine] = f'/v1/leases/{lease["id"]}', lease['reservations']

    def change(criterion=None, **more):
        if criterion:
            more['resource_properties'] = json.dumps(criterion)
        return api.put(place, {'reservations': [{'id': mine['id'], **more}]}, version='1.1')
    assert change(max=2).status_int == 200
    assert change(['and', named, secret, ['==', '$rack', 'left']]).status_int == 200
    assert api.put(place, {'duration': '2h'}, version='1.1').status_int == 200
    assert change(['and', secret, ['>=', '$hypervisor_hostname', 'b']]).status_int == 403
    assert change(['s<', '$secret', 'b']).json['error_name'] == 'unknown_property'


def test_rest_1_0_lets_everybody_ask_so_unless_its_own_rule_is_closed(
        api, hosts, manager, conf, tmp_path):
    def ask(api, *criterion):
        return api.post('/v1/leases', {
            'name': 'x', 'start_date': 'now', 'end_date': '2030-05-01 13:00',
            'reservations': [reservation(*criterion)]})
    assert ask(api, '==', '$hypervisor_hostname', 'compute-1').status_int == 201
    assert ask(api, '==', '$secret', 'abc').status_int == 201
    rules = tmp_path / 'policy.yaml'
    rules.write_text('"climate:leases:hidden_criteria_1_0": "rule:admin"\n')
    conf.set_override('policy_file', str(rules), group='oslo_policy')
    closed = builders.Api(conf, manager, rules=policy.Policy(conf, pools=['host']))
    assert ask(closed, '==', '$hypervisor_hostname', 'compute-1').status_int == 403
    assert ask(closed, '==', '$secret', 'abc').status_int == 400


@pytest.mark.parametrize(('criterion', 'status'), [
    (('==', '$secret', 'abc'), 400), (('==', '$hypervisor_hostname', 'compute-1'), 403)])
def test_members_who_may_list_hosts_do_not_find_them_by_what_is_hidden(
        hosts, manager, conf, tmp_path, criterion, status):
    rules = tmp_path / 'policy.yaml'
    rules.write_text('"climate:oshosts:get": "rule:project_reader_or_admin"\n')
    conf.set_override('policy_file', str(rules), group='oslo_policy')
    opened = builders.Api(conf, manager, rules=policy.Policy(conf, pools=['host']))
    path = f'/v1/os-hosts?{parse.urlencode({"criteria": json.dumps(criterion)})}'
    assert opened.get(path, token=ROOT, version='1.1').status_int == 200
    assert opened.get('/v1/os-hosts', token=builders.DEMO, version='1.1').status_int == 200
    refused = opened.get(path, token=builders.DEMO, version='1.1')
    assert refused.status_int == status and 'abc' not in refused.text
