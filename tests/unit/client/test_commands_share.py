# SPDX-License-Identifier: Apache-2.0
"""The commands about the shares of leases."""
import pytest
from unit.client import canned

URL = f'{canned.URL}/leases/{canned.LEASE_ID}'
SHARE = {
    'id': '99999999-aaaa-4333-8444-555555555555', 'lease_id': canned.LEASE_ID,
    'project_id': 'p2', 'user_id': None, 'name': 'colleagues', 'role': 'user', 'until': None,
    'on_withdrawal': 'delete', 'notice': 3600, 'created_at': '2030-05-01T08:00:00Z',
    'created_by': 'u1', 'withdrawn_at': None, 'servers_until': None}
SERVER = {'id': 's1', 'name': 'theirs', 'fate': 'deleted', 'at': '2030-05-01T09:00:00Z'}
PLACE = f'{URL}/shares/{SHARE["id"]}'


@pytest.fixture
def service(requests_mock):
    requests_mock.get(URL, json={'lease': canned.a_lease(status='active', shared={
        'id': SHARE['id'], 'role': 'user', 'until': None, 'by': 'p1', 'since': None})})
    requests_mock.get(f'{URL}/shares', json={'shares': [SHARE]})
    requests_mock.post(f'{URL}/shares', json={'share': SHARE}, status_code=201)
    requests_mock.delete(PLACE, json={'share': SHARE, 'servers': [SERVER]})
    return requests_mock


def test_a_lease_is_shared_with_the_chosen_role_end_and_notice(run, service):
    outcome = run('lease', 'share', canned.LEASE_ID, '--project', 'colleagues', '--as', 'user',
                  '--until', '2030-05-01 10:00', '--on-withdrawal', 'delete', '--notice', '2h')
    assert outcome.code == 0, outcome.err
    assert 'project colleagues' in outcome.out
    assert canned.last_change(service).json() == {
        'project_id': 'colleagues', 'role': 'user', 'until': '2030-05-01T10:00:00Z',
        'on_withdrawal': 'delete', 'notice': 7200}


def test_a_share_names_a_project_or_a_user(run, service):
    assert run('lease', 'share', canned.LEASE_ID, '--as', 'viewer').code == 2
    run('lease', 'share', canned.LEASE_ID, '--user', 'gus', '--as', 'viewer')
    assert canned.last_change(service).json() == {'user_id': 'gus', 'role': 'viewer'}


def test_shares_are_listed_with_their_receivers(run, service):
    listed = run('lease', 'shares', canned.LEASE_ID)
    assert 'project colleagues' in listed.out
    assert run('lease', 'shares', canned.LEASE_ID, '-f', 'json').json[0]['project_id'] == 'p2'


@pytest.mark.parametrize('name', ['colleagues', 'p2', SHARE['id'], SHARE['id'][:9]])
def test_a_share_is_withdrawn_by_its_id_or_its_receiver(run, service, name):
    outcome = run('lease', 'unshare', canned.LEASE_ID, name, '--yes')
    assert outcome.code == 0, outcome.err
    assert canned.last_change(service).url == PLACE
    assert 'theirs (s1): deleted at 2030-05-01 09:00 UTC' in outcome.err


def test_a_share_with_servers_is_not_withdrawn_without_a_confirmation(run, service):
    outcome = run('lease', 'unshare', canned.LEASE_ID, 'colleagues')
    assert outcome.code == 1
    assert 'theirs (s1): deleted' in outcome.err
    assert canned.last_change(service).query == 'dry_run=true'


def test_a_receiver_leaves_by_its_own_share(run, service):
    assert run('lease', 'leave', canned.LEASE_ID, '--yes').code == 0
    assert canned.last_change(service).url == PLACE


def test_an_owner_cannot_leave_the_own_lease(run, service):
    service.get(URL, json={'lease': canned.a_lease(shared=None)})
    outcome = run('lease', 'leave', canned.LEASE_ID, '--yes')
    assert outcome.code == 2
    assert 'is not shared with you' in outcome.err


def test_a_shared_lease_is_shown_as_shared(run, service):
    assert 'by project p1, as user' in run('lease', 'show', canned.LEASE_ID).out
