# SPDX-License-Identifier: Apache-2.0
"""Commands that choose how a lease is acquired, and that show how it was acquired."""
import pytest
from unit.client import canned

URL = canned.URL
LEASE_ID = canned.LEASE_ID
LEASE_URL = f'{URL}/leases/{LEASE_ID}'
MOVE = {'server_id': 's1', 'from': 'cmp-3', 'to': 'cmp-4', 'state': 'moved'}
HISTORY = [
    {'at': '2030-05-01T08:00:00Z', 'who': 'u1', 'what': 'create', 'why': None},
    {'at': '2030-05-01T08:00:30Z', 'who': 'climate', 'what': 'attempt failed',
     'why': 'No host is free.'}]


@pytest.fixture
def climate_says(requests_mock):
    requests_mock.post(f'{URL}/leases', status_code=202, json={'lease': canned.a_lease()})
    requests_mock.get(LEASE_URL, json={'lease': canned.a_lease(
        status='in_progress', status_reason='Attempt 2 of 5.')})
    requests_mock.get(f'{LEASE_URL}/history', json={'history': HISTORY})
    return requests_mock


def create(run, *words):
    return run('lease', 'create', 'demo', '--hosts', '1', '--duration', '1h', *words)


@pytest.mark.parametrize(('words', 'sent'), [
    (['--acquire', 'immediate'], {'type': 'immediate'}),
    (['--acquire', 'retries', '--retries', '5', '--retry-pause', '30s'],
     {'type': 'retries', 'retries': 5, 'retry_pause_seconds': 30}),
    (['--acquire', 'best-effort', '--try-for', '20m', '--strategy', 'least-memory'],
     {'type': 'best-effort', 'timeout_seconds': 1200, 'strategy': 'least-memory'}),
    (['--acquire', 'wait', '--not-after', '2030-5-1 08:00', '--priority', '-3'],
     {'type': 'wait', 'not_after': '2030-05-01T08:00:00Z', 'priority': -3}),
])
def test_arguments_set_the_acquisition(run, climate_says, words, sent):
    assert create(run, *words).code == 0
    assert canned.last_change(climate_says).json()['acquire'] == sent


def test_without_such_arguments_the_service_decides(run, climate_says):
    assert create(run).code == 0
    assert 'acquire' not in canned.last_change(climate_says).json()


@pytest.mark.parametrize(('words', 'said'), [
    (['--retries', '3'], '--retries goes with --acquire retries'),
    (['--acquire', 'wait', '--try-for', '1h'], '--try-for goes with --acquire best-effort'),
    (['--acquire', 'retries', '--retries', '-1'], 'not a number of at least 1'),
    (['--acquire', 'soon'], '"soon" is not one of immediate, scheduled'),
    (['--acquire', 'wait', '--priority', 'high'],
     '--priority: "high" is not a whole number, such as 10 or -1; a higher one comes '
     'first.'),
    (['--duration', '-1h'], '--duration: "-1h" is not a duration: it must be longer'),
    (['--start', '-1h'], '--start: "-1h" is not a time: write "tomorrow 9:00"'),
])
def test_arguments_that_do_not_go_together_are_refused(run, climate_says, words, said):
    outcome = create(run, *words)
    assert outcome.code == 2
    assert said in outcome.err
    assert climate_says.call_count == 0


def test_a_lease_is_explained_up_to_now(run, climate_says):
    told = run('lease', 'explain', LEASE_ID).out
    assert '2030-05-01 08:00:30 UTC' in told
    assert told.index('No host is free.') < told.index('Attempt 2 of 5.')
    assert run('lease', 'explain', LEASE_ID, '-f', 'json').json == [*[
        {**line, 'why': line['why'] or ''} for line in HISTORY],
        {'at': None, 'who': '', 'what': 'in_progress', 'why': 'Attempt 2 of 5.'}]


def test_a_waiting_lease_has_no_remaining_time(run, climate_says):
    assert 'remaining' not in run('lease', 'show', LEASE_ID, '-f', 'json').json
    climate_says.get(LEASE_URL, json={'lease': canned.a_lease(status='active')})
    assert 'remaining' in run('lease', 'show', LEASE_ID, '-f', 'json').json


@pytest.mark.parametrize(('started_at', 'remaining'), [
    (None, 'never began'), ('2020-05-01T07:00:00Z', 'ended')])
def test_a_lease_that_never_got_its_resources_never_began(run, climate_says, started_at,
                                                          remaining):
    climate_says.get(LEASE_URL, json={'lease': canned.a_lease(
        status='error', started_at=started_at, ended_at='2020-05-01T08:00:00Z')})
    assert run('lease', 'show', LEASE_ID, '-f', 'json').json['remaining'].startswith(remaining)


def test_a_lease_is_explained_with_all_pages_of_its_history(run, climate_says):
    climate_says.get(f'{LEASE_URL}/history', json={
        'history': HISTORY[:1], 'history_links': [
            {'rel': 'next', 'href': f'{LEASE_URL}/history?marker=1'}]})
    climate_says.get(f'{LEASE_URL}/history?marker=1', json={'history': HISTORY[1:]})
    told = run('lease', 'explain', LEASE_ID, '-f', 'json').json
    assert [line['what'] for line in told] == ['create', 'attempt failed', 'in_progress']


@pytest.mark.parametrize(('host', 'told'), [
    ({'host': 'cmp-3', 'state': 'fenced', 'why': None, 'servers': 1, 'moved': 1, 'moves': [MOVE]},
     ['cmp-3, fenced: 1 of 1 servers moved', 'server s1 to cmp-4, moved']),
    ({'state': 'fenced', 'servers': 3, 'moved': 1}, ['a host, fenced: 1 of 3 servers moved'])])
def test_a_lease_shows_how_far_its_acquisition_is(run, climate_says, host, told):
    acquire = {'type': 'best-effort', 'strategy': 'least-memory', 'next_at': None,
               'not_after': '2030-05-01T08:30:00Z',
               'plan': {'strategy': 'least-memory', 'hosts': [host]}}
    climate_says.get(LEASE_URL, json={'lease': canned.a_lease(acquire=acquire)})
    shown = run('lease', 'show', LEASE_ID).out
    assert 'best-effort strategy=least-memory not_after=2030-05-01 08:30 UTC' in shown
    assert all(words in shown for words in told)
    assert run('lease', 'show', LEASE_ID, '-f', 'json').json['acquire'] == acquire


def test_the_library_sends_moments_as_the_wire_has_them(climate, climate_says):
    climate.leases.create('demo', reservations=[], duration='1h', acquire={
        'type': 'wait', 'not_after': '2030-05-01 08:00'})
    assert canned.last_change(climate_says).json()['acquire'] == {
        'type': 'wait', 'not_after': '2030-05-01T08:00:00Z'}
