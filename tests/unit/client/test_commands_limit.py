# SPDX-License-Identifier: Apache-2.0
"""The command that lists limits and their use."""
import pytest
from unit.client import canned

URL = f'{canned.URL}/limits'
LIMIT = {'name': 'open', 'source': 'limit_book', 'measure': 'open_leases',
         'description': 'at most 4 open leases', 'applies_to': 'everybody', 'per': 'project',
         'unit': 'leases', 'most': 4, 'least': None, 'used': 1, 'remaining': 3, 'until': None,
         'resource_type': None, 'pool': None, 'criteria': None, 'roles': [], 'allowed': None}
HOURS = {**LIMIT, 'name': 'month', 'measure': 'resource_hours', 'unit': 'resources', 'most': 400,
         'description': 'at most 400 host-hours in each month', 'used': 387.666666,
         'remaining': 12.333334, 'until': '2030-12-01T00:00:00Z'}
ROLES = {**LIMIT, 'name': 'gpu-users', 'measure': 'roles', 'unit': None, 'most': None,
         'used': None, 'remaining': None, 'description': 'only with the role gpu_user',
         'roles': ['gpu_user'], 'allowed': False}
EXTENSION = {'name': 'last-days', 'description': 'in the last 2 days of a lease, by at most 7 days',
             'resource_type': None, 'pool': None}


@pytest.fixture
def service(requests_mock):
    requests_mock.get(URL, json={
        'project_id': 'p1', 'user_id': 'u1', 'version': 3, 'limits': [LIMIT, HOURS, ROLES],
        'extensions': [EXTENSION]})
    return requests_mock


def test_a_table_has_the_use_of_each_limit_in_words_and_short_numbers(run, service):
    shown = run('limit', 'list').out
    rows = [[cell.strip() for cell in line.strip('|').split('|')]
            for line in shown.splitlines() if line.startswith('|')]
    assert rows == [
        ['name', 'description', 'used', 'remaining', 'until'],
        ['open', 'at most 4 open leases', '1', '3', ''],
        ['month', 'at most 400 host-hours in each month', '387.67', '12.33',
         '2030-12-01 00:00 UTC'],
        ['gpu-users', 'only with the role gpu_user', '', '', ''],
        ['last-days', 'in the last 2 days of a lease, by at most 7 days', '', '', '']]
    assert 'You have none of the roles that gpu-users needs.' in shown


def test_json_has_all_fields_with_exact_numbers(run, service):
    found = run('limit', 'list', '-f', 'json').json
    assert found[:3] == [LIMIT, HOURS, ROLES]
    assert found[3]['measure'] == 'extension' and found[3]['name'] == 'last-days'


def test_administrators_name_a_project_and_a_user(run, service):
    assert run('limit', 'list', '--project', 'p2', '--user', 'u2').code == 0
    assert service.last_request.qs == {'project_id': ['p2'], 'user_id': ['u2']}
    run('limit', 'list')
    assert service.last_request.qs == {}


def test_a_project_without_limits_reads_that_there_are_none(run, requests_mock):
    requests_mock.get(URL, json={'project_id': 'p1', 'user_id': 'u1', 'version': None,
                                 'limits': [], 'extensions': []})
    assert run('limit', 'list').out == 'No limits apply.\n'
