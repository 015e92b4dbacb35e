# SPDX-License-Identifier: Apache-2.0
"""The commands about maintenance, and those of health and swap."""
import pytest
from unit.client import canned

URL = f'{canned.URL}/maintenances'
FOUND = {
    'id': 'm1', 'pool': 'host', 'start': '2030-05-01T20:00:00Z', 'end': '2030-05-01T23:00:00Z',
    'reason': 'new firmware', 'running': 'swap', 'notice_minutes': 0, 'rrule': None,
    'deleting': False, 'created_at': '2030-05-01T12:00:00Z',
    'resources': [{'id': '1', 'name': 'compute-1'}],
    'windows': [{'start': '2030-05-01T20:00:00Z', 'end': '2030-05-01T23:00:00Z',
                 'state': 'planned'}]}
LEASES = [{'lease_id': 'l1', 'lease_name': 'training', 'user_id': 'u1', 'project_id': 'demo',
           'what': 'stuck', 'why': 'Not enough.', 'window_start': '2030-05-01T20:00:00Z',
           'resources': ['1']}]


@pytest.fixture
def service(requests_mock):
    requests_mock.get(URL, json={'maintenances': [FOUND]})
    requests_mock.get(f'{URL}/m1', json={'maintenance': {**FOUND, 'leases': LEASES}})
    requests_mock.post(URL, json={'maintenance': {**FOUND, 'leases': LEASES}}, status_code=201)
    requests_mock.delete(f'{URL}/m1', status_code=204)
    return requests_mock


def test_maintenances_are_listed_and_shown(run, service):
    listed = run('maintenance', 'list')
    assert listed.code == 0, listed.err
    assert 'new firmware' in listed.out
    assert 'compute-1' in run('maintenance', 'list', '--long').out
    shown = run('maintenance', 'show', 'm1')
    assert 'training (l1, project demo) nothing else fits: Not enough.' in shown.out
    assert run('maintenance', 'show', 'm1', '-f', 'json').json['leases'] == LEASES


def test_a_maintenance_is_planned(run, service):
    outcome = run('maintenance', 'create', '--host', 'compute-1', '--start', '2030-05-01 20:00',
                  '--end', '2030-05-01 23:00', '--reason', 'new firmware', '--running', 'end',
                  '--notice', '2h', '--rrule', 'FREQ=WEEKLY', '--dry-run')
    assert outcome.code == 0, outcome.err
    assert service.last_request.json() == {
        'hosts': ['compute-1'], 'start': '2030-05-01T20:00:00Z', 'end': '2030-05-01T23:00:00Z',
        'reason': 'new firmware', 'running': 'end', 'notice': 7200, 'rrule': 'FREQ=WEEKLY'}
    assert service.last_request.query == 'dry_run=true'
    run('maintenance', 'create', '--require', 'rack=r7', '--require', 'vcpus>=16', '--start', 'now',
        '--end', '+2h', '--reason', 'x')
    assert service.last_request.json()['criteria'] == [
        'and', ['==', '$rack', 'r7'], ['>=', '$vcpus', '16']]


def test_a_maintenance_is_deleted(run, service):
    assert run('maintenance', 'delete', 'm1').code == 0
    assert service.last_request.method == 'DELETE'


def test_a_host_is_taken_out_of_order_and_put_in_order(run, requests_mock):
    host = {'id': '1', 'hypervisor_hostname': 'compute-1', 'reservable': True,
            'health': {'state': 'out_of_order', 'reason': 'a fan', 'source': 'operator',
                       'since': '2030-05-01T20:00:00Z', 'until': None}, 'maintenances': []}
    requests_mock.get(f'{canned.URL}/os-hosts', json={'hosts': [host]})
    requests_mock.put(f'{canned.URL}/os-hosts/1', json={'host': host})
    outcome = run('host', 'set', 'compute-1', '--out-of-order', 'a fan')
    assert outcome.code == 0, outcome.err
    assert 'out_of_order (a fan) since 2030-05-01 20:00 UTC' in outcome.out
    assert requests_mock.last_request.json() == {'out_of_order': 'a fan'}
    run('host', 'set', 'compute-1', '--in-order')
    assert requests_mock.last_request.json() == {'out_of_order': None}
    assert run('host', 'set', 'compute-1', '--out-of-order', '').code == 2
