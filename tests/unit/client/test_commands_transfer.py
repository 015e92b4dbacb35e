# SPDX-License-Identifier: Apache-2.0
"""The commands about transfers of leases."""
import pytest
from unit.client import canned

URL = f'{canned.URL}/leases/{canned.LEASE_ID}'
TRANSFER = {
    'id': '99999999-aaaa-4333-8444-555555555555', 'lease_id': canned.LEASE_ID,
    'from_project': 'p1', 'project_id': 'p2', 'name': 'colleagues', 'by_key': False, 'hosts': 2,
    'status': 'offered', 'expires_at': '2030-05-08T08:00:00Z', 'on_withdrawal': 'keep',
    'notice': 3600, 'created_at': '2030-05-01T08:00:00Z', 'created_by': 'u1', 'decided_at': None,
    'decided_by': None, 'new_lease_id': None}
PLACE = f'{canned.URL}/transfers/{TRANSFER["id"]}'


@pytest.fixture
def service(requests_mock):
    lease = canned.a_lease(status='pending')
    requests_mock.get(URL, json={'lease': lease})
    requests_mock.get(f'{URL}/transfers', json={'transfers': [
        {**TRANSFER, 'id': 'older', 'status': 'declined'}, TRANSFER]})
    requests_mock.post(f'{URL}/transfers', json={'transfer': TRANSFER}, status_code=201)
    requests_mock.delete(f'{URL}/transfers/{TRANSFER["id"]}', json={'transfer': TRANSFER})
    requests_mock.get(f'{canned.URL}/transfers', json={'transfers': [TRANSFER]})
    requests_mock.get(PLACE, json={'transfer': {**TRANSFER, 'lease': lease, 'problem': None}})
    requests_mock.post(f'{PLACE}/accept', json={'lease': lease}, status_code=201)
    requests_mock.post(f'{PLACE}/decline', json={'transfer': TRANSFER})
    return requests_mock


def test_a_lease_is_offered_with_the_chosen_hosts_and_end(run, service):
    outcome = run('lease', 'transfer', 'offer', canned.LEASE_ID, '--to', 'colleagues', '--hosts',
                  '2', '--expires', '2030-05-08 08:00', '--on-withdrawal', 'stop', '--notice', '2h')
    assert outcome.code == 0, outcome.err
    assert canned.last_change(service).json() == {
        'project_id': 'colleagues', 'hosts': 2, 'expires_at': '2030-05-08T08:00:00Z',
        'on_withdrawal': 'stop', 'notice': 7200}


def test_an_offer_names_a_project_or_shows_a_key(run, service):
    assert run('lease', 'transfer', 'offer', canned.LEASE_ID).code == 2
    service.post(f'{URL}/transfers', json={'transfer': {
        **TRANSFER, 'project_id': None, 'name': None, 'key': 'secret-key'}}, status_code=201)
    outcome = run('lease', 'transfer', 'offer', canned.LEASE_ID, '--key')
    assert 'secret-key' in outcome.out
    assert canned.last_change(service).json() == {'key': True}


def test_offers_to_the_project_and_transfers_of_a_lease_are_listed(run, service):
    assert '2 hosts' in run('lease', 'transfer', 'list').out
    listed = run('lease', 'transfer', 'list', canned.LEASE_ID, '-f', 'json').json
    assert [each['status'] for each in listed] == ['declined', 'offered']


def test_an_offer_is_shown_with_the_lease_that_it_would_give(run, service):
    shown = run('lease', 'transfer', 'show', TRANSFER['id'][:9], '--key', 'k', '-f', 'json')
    assert shown.code == 0, shown.err
    assert (shown.json['name'], shown.json['start']) == ('demo', '2030-05-01T08:00:00Z')
    assert service.last_request.headers['X-Transfer-Key'] == 'k'


def test_the_problem_of_an_offer_is_shown(run, service):
    service.get(PLACE, json={'transfer': {**TRANSFER, 'lease': None, 'problem': 'Too many.'}})
    assert 'Too many.' in run('lease', 'transfer', 'show', TRANSFER['id']).out


def test_an_offer_is_accepted_or_declined_with_its_key(run, service):
    outcome = run('lease', 'transfer', 'accept', TRANSFER['id'], '--key', 'k', '--dry-run')
    assert outcome.code == 0, outcome.err
    assert 'Dry run' in outcome.err
    assert (canned.last_change(service).query, canned.last_change(service).json()) == (
        'dry_run=true', {'key': 'k'})
    assert run('lease', 'transfer', 'decline', TRANSFER['id']).code == 0
    assert canned.last_change(service).json() == {}


def test_the_open_offer_of_a_lease_is_withdrawn(run, service):
    assert run('lease', 'transfer', 'withdraw', canned.LEASE_ID).code == 0
    assert canned.last_change(service).url == f'{URL}/transfers/{TRANSFER["id"]}'
    service.get(f'{URL}/transfers', json={'transfers': []})
    outcome = run('lease', 'transfer', 'withdraw', canned.LEASE_ID)
    assert (outcome.code, 'no open offer' in outcome.err) == (2, True)


def test_hosts_are_given_back_after_the_question(run, service):
    service.post(f'{URL}/give-back', json={'lease': canned.a_lease(), 'losses': [],
                                           'late_cancel': None})
    outcome = run('lease', 'give-back', canned.LEASE_ID, '--hosts', '1')
    assert outcome.code == 0, outcome.err
    assert canned.last_change(service).json() == {'hosts': 1}
    dry, real = [each.query for each in service.request_history if each.method == 'POST']
    assert (dry, real) == ('dry_run=true', '')
