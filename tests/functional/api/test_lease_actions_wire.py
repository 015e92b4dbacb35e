# SPDX-License-Identifier: Apache-2.0
"""The list "actions" of a lease says exactly which requests the service accepts."""
import pytest
from support import builders

from climate import errors
from climate.domain import lease_actions

HOST = [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]
LATER = {'start': '2030-05-01 14:00', 'duration': '2h'}
NOW = {'duration': '2h'}
WAITS = {**NOW, 'acquire': {'type': 'wait', 'not_after': '2030-05-01 12:20'}}
RETRIED = {**NOW, 'acquire': {'type': 'retries', 'retries': 1, 'retry_pause_seconds': 10}}


def _refuse_the_start(manager):
    manager.cloud.fail('nova.add_host', 99, errors.CloudError(service='Nova', reason='no'))
    manager.run_until(builders.NOON + builders.minutes(50))


def _fail_to_delete(manager, api, path):
    manager.run()
    manager.cloud.fail('nova.remove_host', 99, errors.CloudError(service='Nova', reason='no'))
    api.delete(path, version='1.1')
    manager.run_until(builders.NOON + builders.minutes(50))


# {name: (fields of the request, number of hosts, what happens then, the expected status)}
CASES = {
    'booked': (LATER, 2, lambda manager, api, path: None, 'inactive'),
    'due': (NOW, 2, lambda manager, api, path: manager.clock.advance(builders.minutes(1)),
            'to_be_started'),
    'running': (NOW, 2, lambda manager, api, path: manager.run_until(
        builders.at(1)), 'active'),
    'waiting': (WAITS, 0, lambda manager, api, path: manager.run(), 'in_progress'),
    'not acquired': (RETRIED, 0, lambda manager, api, path: manager.run_until(
        builders.NOON + builders.minutes(20)), 'error'),
    'timed out': (WAITS, 0, lambda manager, api, path: manager.run_until(
        builders.NOON + builders.minutes(30)), 'timedout'),
    'failed': (NOW, 2, lambda manager, api, path: _refuse_the_start(manager), 'error'),
    'over': (NOW, 2, lambda manager, api, path: manager.run_until(
        builders.NOON + builders.hours(3)), 'terminated'),
    'not deleted yet': (NOW, 2, _fail_to_delete, 'error'),
}


@pytest.fixture
def scene(api, manager):
    """callable(case): the path of a lease in that state."""
    def make(case):
        fields, hosts, happens, status = CASES[case]
        if hosts:
            manager.enrol(hosts)
        else:
            # The only host is taken, so that the lease waits.
            manager.enrol(1)
            manager.book(end=builders.at(9))
        answer = api.post('/v1/leases', {'name': case, 'reservations': HOST, **fields},
                          version='1.1')
        path = f'/v1/leases/{answer.json["lease"]["id"]}'
        api.post(f'{path}/shares', {'project_id': 'guests', 'role': 'viewer'}, version='1.1')
        happens(manager, api, path)
        assert api.get(path, version='1.1').json['lease']['status'] == status
        return path
    return make


def _request(api, path, action):
    """Send the request of an action; return whether it was accepted."""
    lease = api.get(path, version='1.1').json['lease']
    [reservation] = lease['reservations']
    changes = {
        'rename': {'name': 'other'}, 'change_start': {'start': '+3h', 'end': '+5h'},
        'change_end': {'end': '2030-05-01 15:30'}, 'end': {'end': 'now'},
        'resize': {'reservations': [{'id': reservation['id'], 'min': 1, 'max': 2}]}}
    if action in changes:
        answer = api.put(f'{path}?dry_run=true', changes[action], version='1.1')
    elif action == 'share':
        answer = api.post(f'{path}/shares', {'project_id': 'third', 'role': 'viewer'},
                          version='1.1')
    elif action in ('unshare', 'leave'):
        answer = api.delete(f'{path}/shares/{_share_id(api, path, action)}', version='1.1')
    elif action == 'sub_lease':
        answer = api.post(f'{path}/sub-leases?dry_run=true', {
            'name': 'part', 'project': 'third', 'hosts': 1}, version='1.1')
    elif action == 'swap':
        resource = (reservation['resources'] or ['1'])[0]
        answer = api.post(f'{path}/swap', {'resource': resource}, version='1.1')
    else:
        answer = api.delete(path, version='1.1')
    assert answer.status_int < 500, answer.body
    return answer.status_int < 300


def _share_id(api, path, action):
    """Return the id of the share that an owner withdraws; an owner has none to leave."""
    if action == 'leave':
        return 'none'
    return api.get(f'{path}/shares', version='1.1').json['shares'][0]['id']


@pytest.mark.parametrize('case', CASES)
def test_the_service_accepts_exactly_the_listed_actions(api, scene, case):
    path = scene(case)
    actions = api.get(path, version='1.1').json['lease']['actions']
    listed = [lease['actions'] for lease in api.get(
        '/v1/leases', version='1.1').json['leases'] if lease['id'] in path]
    assert listed == [actions]
    # The last two change the lease, and those before them its shares.
    for action in lease_actions.ALL:
        assert _request(api, path, action) == (action in actions), action


def test_actions_leave_out_what_policy_forbids(api, scene):
    path = scene('running')
    reader = api.get(path, version='1.1', token='demo:demo:reader').json['lease']
    assert reader['actions'] == []
    assert 'actions' not in api.get(path).json['lease']


def test_the_time_of_the_start_is_shown_only_if_the_lease_began(api, scene):
    began = api.get(scene('over'), version='1.1').json['lease']
    assert began['started_at'] == '2030-05-01T12:00:00Z'


def test_a_lease_that_never_began_has_no_time_of_its_start(api, scene):
    assert api.get(scene('failed'), version='1.1').json['lease']['started_at'] is None
