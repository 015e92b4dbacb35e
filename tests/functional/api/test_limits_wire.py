# SPDX-License-Identifier: Apache-2.0
"""Limits on the wire: a project sees its own limits and their use, and nobody else's."""
import pytest
from support import builders

NOON, hours = builders.NOON, builders.hours
ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
MEMBER = {'version': '1.1'}
HOST = {'resource_type': 'physical:host'}
BOOK = {'limits': [
    {'name': 'open', 'measure': 'open_leases', 'most': 4},
    {'name': 'own', 'measure': 'open_leases', 'most': 2, 'per': 'user'},
    {'name': 'others', 'measure': 'open_leases', 'most': 9, 'projects': ['secret-project']},
    {'name': 'hours', 'measure': 'resource_hours', 'most': 400, 'period': 'month', **HOST},
    {'name': 'week', 'measure': 'lease_length', 'most': '7d'},
    {'name': 'notice', 'measure': 'notice', 'least': '0s'},
    {'name': 'gpu-users', 'measure': 'roles', 'roles': ['gpu_user'],
     'criteria': '["==", "$gpu", "H100"]'}],
    'extensions': [{'name': 'last-days', 'within': '2d', 'most': '7d'}]}


@pytest.fixture
def limited(api, manager):
    """The limits of BOOK, three hosts, and a lease of one host for two hours."""
    manager.enrol(3, gpu='A100')
    manager.client.create_limit_book(builders.an_admin(), None, BOOK)
    manager.book(builders.hosts(1), end=NOON + hours(2))
    return api


def limits(answer):
    return {limit['name']: limit for limit in answer.json['limits']}


def test_a_member_sees_each_limit_with_its_use(limited):
    answer = limited.get('/v1/limits', **MEMBER)
    found = limits(answer)
    assert (answer.json['project_id'], answer.json['user_id'], answer.json['version']) == (
        'demo', 'demo', 1)
    assert {name: (each['used'], each['remaining']) for name, each in found.items()} == {
        'open': (1, 3), 'own': (1, 1), 'hours': (2, 398), 'week': (None, None),
        'notice': (None, None), 'gpu-users': (None, None)}
    assert found['open'] == {
        'name': 'open', 'source': 'limit_book', 'measure': 'open_leases',
        'description': 'at most 4 open leases', 'applies_to': 'everybody', 'per': 'project',
        'unit': 'leases', 'most': 4, 'least': None, 'used': 1, 'remaining': 3,
        'until': '2030-05-01T14:00:00Z', 'resource_type': None, 'pool': None, 'criteria': None,
        'roles': [], 'allowed': None}
    assert (found['hours']['until'], found['hours']['unit']) == (
        '2030-06-01T00:00:00Z', 'resources')
    assert (found['week']['most'], found['week']['unit'], found['notice']['least']) == (
        7 * 86400, 'seconds', 0)
    assert (found['gpu-users']['roles'], found['gpu-users']['allowed']) == (['gpu_user'], False)
    (rule,) = answer.json['extensions']
    assert (rule['name'], rule['within_seconds'], rule['within_percent']) == (
        'last-days', 2 * 86400, None)


def test_a_limit_for_the_project_replaces_the_one_for_everybody(limited):
    answer = limited.get('/v1/limits', token='x:secret-project:member', version='1.1')
    found = limits(answer)
    assert (found['others']['applies_to'], found['others']['used']) == ('project', 0)
    assert 'open' not in found
    assert 'secret-project' not in limited.get('/v1/limits', **MEMBER).text


def test_an_administrator_sees_another_project_and_another_user(limited):
    found = limited.get('/v1/limits?project_id=demo', **ADMIN)
    assert (found.json['user_id'], limits(found)['hours']['used']) == (None, 2)
    assert limits(found)['own']['used'] is None
    assert limits(found)['gpu-users']['allowed'] is None
    found = limited.get('/v1/limits?project_id=demo&user_id=demo', **ADMIN)
    assert limits(found)['own']['used'] == 1


@pytest.mark.parametrize('query', [
    'project_id=other', 'user_id=eve', 'project_id=demo&user_id=eve', 'project_id=DEMO',
    'project_id=demo%20', 'project_id=%20demo', 'project_id=demo%2F',
    'project_id=other&user_id=demo'])
def test_a_member_sees_no_other_project_or_user_in_any_form(limited, query):
    answer = limited.get(f'/v1/limits?{query}', **MEMBER)
    assert answer.status_int == 403
    assert 'hours' not in answer.text


@pytest.mark.parametrize('query, field', [
    ('project_id=', 'project_id'), ('user_id=', 'user_id'),
    (f'project_id={"x" * 256}', 'project_id'),
    ('project_id=demo&project_id=other', 'project_id'), ('all_projects=true', 'all_projects'),
    ('project=other', 'project'), ('project_id=a%07b', 'project_id')])
def test_a_query_that_cannot_be_meant_is_refused_with_its_field(limited, query, field):
    answer = limited.get(f'/v1/limits?{query}', **MEMBER)
    assert answer.status_int == 400
    assert answer.json['error_message'].startswith(field)


def test_criteria_with_a_private_property_are_for_administrators_only(limited, manager):
    limited.call('PATCH', '/v1/os-hosts/properties/gpu', {'private': True}, **ADMIN)
    found = limits(limited.get('/v1/limits', **MEMBER))['gpu-users']
    assert found['criteria'] is None
    assert found['description'] == 'only with the role gpu_user, for some resources'
    assert limits(limited.get('/v1/limits', **ADMIN))['gpu-users']['criteria'] == 'gpu == H100'


def test_without_a_limit_book_there_are_no_limits(api):
    assert api.get('/v1/limits', **MEMBER).json == {
        'project_id': 'demo', 'user_id': 'demo', 'version': None, 'limits': [], 'extensions': []}


def test_rest_1_0_has_no_limits(limited):
    answer = limited.get('/v1/limits', version='1.0')
    assert answer.status_int == 404
    assert 'REST 1.1' in answer.json['error_message']


def test_rest_1_0_refuses_a_request_with_403_and_the_sentence_of_the_limit(limited):
    answer = limited.post('/v1/leases', {
        'name': 'long', 'start_date': 'now', 'end_date': '2030-05-09 13:00', 'reservations': [
            {'resource_type': 'physical:host', 'min': 1, 'max': 1, 'hypervisor_properties': '',
             'resource_properties': ''}], 'events': []}, version='1.0')
    assert answer.status_int == 403
    assert answer.json['error_message'].startswith(
        'Limit "week" (leases of at most 7d): this lease would last 8d1h.')


def test_refusals_and_dry_runs_say_nothing_about_other_projects(limited, manager):
    other = manager.create(builders.a_lease(builders.hosts(1), end=NOON + hours(2)),
                           builders.a_member('mallory', 'other'))
    for name in ('one', 'two', 'three'):
        body = {'name': name, 'duration': '9d', 'reservations': [{**HOST, 'min': 1, 'max': 1}]}
        for path in ('/v1/leases?dry_run=true', '/v1/leases'):
            answer = limited.post(path, body, **MEMBER)
            assert (answer.status_int, answer.json['error_name']) == (403, 'limit_exceeded')
            assert other.id not in answer.text and 'mallory' not in answer.text
    assert limits(limited.get('/v1/limits', **MEMBER))['open']['used'] == 1


def test_refusals_hide_criteria_with_a_private_property(limited, manager):
    limited.call('PATCH', '/v1/os-hosts/properties/gpu', {'private': True}, **ADMIN)
    manager.clock.advance(hours(0.1))
    manager.client.create_limit_book(builders.an_admin(), None, {'limits': [
        {'name': 'none', 'measure': 'resources', 'most': 0, 'criteria': '["==", "$gpu", "A100"]'}]})
    body = {'name': 'x', 'duration': '1h', 'reservations': [{**HOST, 'min': 1, 'max': 1}]}
    for path in ('/v1/leases?dry_run=true', '/v1/leases'):
        answer = limited.post(path, body, **MEMBER)
        assert answer.status_int == 403
        assert 'gpu' not in answer.text and 'for some resources' in answer.text
        assert 'gpu == A100' in limited.post(path, body, **ADMIN).text
