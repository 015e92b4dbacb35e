# SPDX-License-Identifier: Apache-2.0
"""The commands about the sub-leases of leases."""
import pytest
from unit.client import canned

URL = f'{canned.URL}/leases/{canned.LEASE_ID}'
SUB_LEASE = {
    'id': '99999999-aaaa-4333-8444-555555555555', 'name': 'lab', 'project_id': 'p2',
    'project_name': 'students', 'start': '2030-05-01T08:00:00Z', 'end': '2030-05-01T10:00:00Z',
    'status': 'active', 'resources': ['3', '4']}
FREE = {'id': '5', 'name': 'compute-5', 'in_use': None, 'reservation_id': 'r1'}


@pytest.fixture
def service(requests_mock):
    requests_mock.get(URL, json={'lease': canned.a_lease(
        name='demo', status='active', parent_id=None, parent_name=None, sub_leases=[SUB_LEASE])})
    requests_mock.get(f'{URL}/resources', json={'resources': []})
    requests_mock.get(f'{URL}/sub-leases', json={'sub_leases': [SUB_LEASE]})
    requests_mock.get(f'{URL}/availability', json={'hosts': [FREE]})
    requests_mock.post(f'{URL}/sub-leases', status_code=201, json={'lease': canned.a_lease(
        id=SUB_LEASE['id'], name='lab', parent_id=canned.LEASE_ID, parent_name='demo',
        sub_leases=[])})
    return requests_mock


def test_a_number_of_hosts_is_given_to_a_project_for_a_time(run, service):
    outcome = run('lease', 'sub-lease', canned.LEASE_ID, '--project', 'students', '--hosts', '2',
                  '--end', '2030-05-01 10:00', '--name', 'lab')
    assert outcome.code == 0, outcome.err
    assert canned.LEASE_ID in outcome.out
    assert canned.last_change(service).json() == {
        'project': 'students', 'name': 'lab', 'hosts': 2, 'end': '2030-05-01T10:00:00Z'}


def test_named_hosts_are_given_under_the_name_of_the_lease(run, service):
    run('lease', 'sub-lease', canned.LEASE_ID, '--project', 'students', '--resource', 'compute-1',
        '--resource', '7', '--dry-run')
    change = canned.last_change(service)
    assert change.json() == {
        'project': 'students', 'name': 'demo', 'resources': ['compute-1', '7']}
    assert change.qs == {'dry_run': ['true']}


@pytest.mark.parametrize('words', [
    ('--project', 'students'), ('--hosts', '1'),
    ('--project', 'students', '--hosts', '1', '--resource', 'x'),
    ('--project', 'students', '--hosts', '0')])
def test_wrong_arguments_are_refused(run, service, words):
    assert run('lease', 'sub-lease', canned.LEASE_ID, *words).code == 2


def test_sub_leases_are_listed_with_their_projects(run, service):
    shown = run('lease', 'sub-leases', canned.LEASE_ID, '-f', 'value').out
    assert shown.startswith(f'{SUB_LEASE["id"]} lab students')


def test_free_hosts_are_listed_for_a_time(run, service):
    shown = run('lease', 'sub-leases', canned.LEASE_ID, '--free', '--end', '2030-05-01 09:00',
                '-f', 'json').json
    assert shown == [{'id': '5', 'name': 'compute-5', 'in_use': '', 'reservation_id': 'r1'}]
    assert service.last_request.qs == {'end': ['2030-05-01t09:00:00z']}


def test_empty_lists_say_so(run, service):
    service.get(f'{URL}/sub-leases', json={'sub_leases': []})
    service.get(f'{URL}/availability', json={'hosts': []})
    assert 'no sub-leases' in run('lease', 'sub-leases', canned.LEASE_ID).out
    assert 'No host' in run('lease', 'sub-leases', canned.LEASE_ID, '--free').out


def test_a_lease_names_its_sub_leases(run, service):
    shown = run('lease', 'show', canned.LEASE_ID, '-f', 'table').out
    assert 'lab of project students until' in shown
