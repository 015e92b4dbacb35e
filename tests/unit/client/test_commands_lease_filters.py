# SPDX-License-Identifier: Apache-2.0
"""The arguments of "climate lease list" that select leases, and the columns that answer them."""
import pytest
from unit.client import canned

URL = canned.URL
OWNED = {'user_name': 'anna', 'project_name': 'red'}


@pytest.fixture
def listed(requests_mock):
    """A service that lists the lease "demo" of anna."""
    requests_mock.get(f'{URL}/leases', json={'leases': [canned.a_lease(**OWNED)]})
    return requests_mock


def test_filters_are_sent_as_the_service_takes_them(run, listed):
    outcome = run('lease', 'list', '--search', 'demo', '--owner', 'anna', '--project', 'red',
                  '--type', 'physical:host', '--resource', 'compute-7', '--from', '2030-05-06',
                  '--to', '2030-05-13T08:00+02:00', '--status', 'active')
    assert outcome.code == 0, outcome.err
    assert listed.last_request.qs == {
        'search': ['demo'], 'owner': ['anna'], 'project': ['red'], 'status': ['active'],
        'resource_type': ['physical:host'], 'resource': ['compute-7'],
        'ends_after': ['2030-05-06t00:00:00z'], 'starts_before': ['2030-05-13t06:00:00z'],
        'sort': ['created_at:desc']}


def test_the_newest_lease_is_listed_first_unless_another_order_is_asked(run, listed):
    run('lease', 'list')
    assert {request.qs['sort'][0] for request in listed.request_history} == {'created_at:desc'}
    run('lease', 'list', '--sort', 'owner,end:desc')
    assert listed.last_request.qs['sort'] == ['owner,end:desc']


@pytest.mark.parametrize(('words', 'columns'), [
    (['--all-projects'], {'id', 'name', 'project', 'owner', 'status', 'remaining'}),
    (['--project', 'red'], {'id', 'name', 'project', 'owner', 'status', 'remaining'}),
    (['--resource', 'compute-7'], {'id', 'name', 'project', 'owner', 'status', 'start', 'end'}),
    (['--from', 'now'], {'id', 'name', 'owner', 'status', 'start', 'end'}),
    ([], {'id', 'name', 'status', 'remaining'}),
])
def test_a_table_has_the_columns_that_the_filters_ask_for(run, listed, words, columns):
    outcome = run('lease', 'list', *words)
    header, row = [line for line in outcome.out.splitlines() if '|' in line][:2]
    assert {name.strip() for name in header.strip('|').split('|')} == columns
    assert ('anna' in row) == ('owner' in columns)
    assert ('red' in row) == ('project' in columns)


def test_a_resource_asks_for_all_projects_unless_one_is_named(run, listed):
    run('lease', 'list', '--resource', 'compute-7', '--sort', 'end')
    assert listed.last_request.qs['all_projects'] == ['true']
    run('lease', 'list', '--resource', 'compute-7', '--sort', 'end', '--project', 'red')
    assert 'all_projects' not in listed.last_request.qs


def test_a_member_finds_the_leases_of_a_resource_in_the_own_project(run, requests_mock):
    requests_mock.get(f'{URL}/leases', json={'leases': [canned.a_lease(**OWNED)]})
    requests_mock.get(f'{URL}/leases?all_projects=true', status_code=403, json={
        'error_name': 'forbidden', 'error_message': 'Not allowed.'})
    outcome = run('lease', 'list', '--resource', '7', '--sort', 'end')
    assert outcome.code == 0 and 'anna' in outcome.out, outcome.err
    assert 'all_projects' not in requests_mock.last_request.qs


def test_an_owner_without_a_known_name_is_shown_by_id(run, requests_mock):
    requests_mock.get(f'{URL}/leases', json={'leases': [canned.a_lease(
        user_name=None, project_name=None)]})
    [lease] = run('lease', 'list', '--all-projects', '-f', 'json').json
    assert (lease['owner'], lease['project']) == ('u1', 'p1')


def test_a_time_that_is_none_is_refused_before_the_request(run, listed):
    outcome = run('lease', 'list', '--from', 'whenever')
    assert outcome.code == 2
    assert '--from' in outcome.err and 'whenever' in outcome.err
    assert listed.call_count == 0
