# SPDX-License-Identifier: Apache-2.0
"""The commands about series, and the series that "lease create --repeat" makes."""
import pytest
from unit.client import canned

URL = f'{canned.URL}/series'
HOSTS = [{'resource_type': 'physical:host', 'min': 4, 'max': 4, 'resource_properties': ''}]
OCCURRENCES = [
    {'number': 1, 'start': '2030-05-06T07:00:00Z', 'end': '2030-05-06T15:00:00Z',
     'status': 'booked', 'lease_id': canned.LEASE_ID, 'changed': True, 'problem': None},
    {'number': 2, 'start': '2030-05-13T07:00:00Z', 'end': '2030-05-13T15:00:00Z',
     'status': 'failed', 'lease_id': None, 'changed': False, 'problem': 'Only 0 are free.'}]
PLANNED = [
    {'number': 1, 'start': '2030-05-06T07:00:00Z', 'end': '2030-05-06T15:00:00Z', 'fits': True,
     'counts': [1], 'resources': [['compute-1']], 'problem': None, 'nearest': None},
    {'number': 2, 'start': '2030-05-13T07:00:00Z', 'end': '2030-05-13T15:00:00Z', 'fits': False,
     'counts': [], 'resources': [], 'problem': 'Only 0 are free.',
     'nearest': '2030-05-13T17:00:00Z'}]
SERIES = {
    'id': 's1', 'name': 'lab', 'status': 'active', 'user_id': 'u1', 'user_name': 'ada',
    'project_id': 'p1', 'project_name': 'demo', 'start': '2030-05-06 09:00:00',
    'time_zone': 'Europe/Berlin', 'duration': 28800, 'duration_text': '8h',
    'repeat': 'FREQ=WEEKLY;BYDAY=MO;COUNT=2', 'mode': 'what_fits', 'same_resources': False,
    'reservations': HOSTS, 'booked_until': '2030-06-30T12:00:00Z',
    'created_at': '2030-05-01T12:00:00Z', 'updated_at': None}
REPEAT = 'every monday for 2 times'
WHEN = ('--start', '2030-05-06 09:00', '--duration', '8h', '--repeat', REPEAT,
        '--time-zone', 'Europe/Berlin')


@pytest.fixture
def service(requests_mock):
    whole = {'series': {**SERIES, 'occurrences': OCCURRENCES}}
    requests_mock.get(URL, json={'series': [SERIES]})
    requests_mock.get(f'{URL}/s1', json=whole)
    requests_mock.post(URL, json=whole, status_code=201)
    requests_mock.post(f'{URL}?dry_run=true', json={'series': {**SERIES, 'occurrences': PLANNED}})
    requests_mock.put(f'{URL}/s1', json=whole)
    requests_mock.delete(f'{URL}/s1', status_code=204)
    return requests_mock


def test_a_series_is_created_in_the_zone_of_the_command(run, service):
    outcome = run('series', 'create', 'lab', '--hosts', '4', *WHEN, '--all-or-nothing',
                  '--same-resources')

    assert outcome.code == 0, outcome.err
    assert service.last_request.json() == {
        'name': 'lab', 'reservations': HOSTS, 'start': '2030-05-06T07:00:00Z', 'duration': 28800,
        'repeat': REPEAT, 'time_zone': 'Europe/Berlin', 'mode': 'all_or_nothing',
        'same_resources': True}
    assert 'changed alone' in outcome.out


@pytest.mark.parametrize('noun', ['series', 'lease'])
def test_a_series_that_gets_no_answer_is_sent_again_with_the_same_key(run, service, noun):
    service.post(URL, [
        {'status_code': 503, 'json': {'error_message': 'not finished'}},
        {'status_code': 201, 'json': {'series': {**SERIES, 'occurrences': OCCURRENCES}}}])
    outcome = run(noun, 'create', 'lab', '--hosts', '4', *WHEN, '--key', 'k1')

    assert outcome.code == 0, outcome.err
    keys = [call.headers['Idempotency-Key'] for call in service.request_history[-2:]]
    assert keys == ['k1', 'k1']


def test_a_lease_that_repeats_is_a_series(run, service):
    outcome = run('lease', 'create', 'lab', '--hosts', '4', *WHEN)

    assert outcome.code == 0, outcome.err
    assert service.last_request.json()['repeat'] == REPEAT
    assert service.last_request.path == '/v1/series'


def test_a_dry_run_shows_each_occurrence(run, service):
    outcome = run('series', 'create', 'lab', '--hosts', '4', *WHEN, '--dry-run')

    assert service.last_request.query == 'dry_run=true'
    assert 'Dry run: nothing was created or changed.' in outcome.err
    assert 'fits on compute-1' in outcome.out
    assert 'nearest start' in outcome.out
    assert 's1' not in outcome.out


@pytest.mark.parametrize(('arguments', 'words'), [
    (('--same-resources',), '--same-resources is for a series'),
    (('--all-or-nothing',), '--all-or-nothing is for a series'),
    (('--repeat', REPEAT, '--wait'), '--wait is for a single lease'),
    (('--repeat', REPEAT, '--while-free', '1h'), '--while-free is for a single lease')])
def test_arguments_that_do_not_fit_together_are_refused(run, service, arguments, words):
    outcome = run('lease', 'create', 'lab', '--hosts', '4', '--duration', '8h', *arguments)

    assert outcome.code != 0
    assert words in outcome.err
    assert not service.request_history


def test_series_are_listed_and_shown(run, service):
    assert 'FREQ=WEEKLY' in run('series', 'list').out
    assert run('series', 'list', '-f', 'json').json[0]['mode'] == 'what_fits'
    shown = run('series', 'show', 'lab')
    assert 'failed' in shown.out
    assert run('series', 'show', 'lab', '-f', 'json').json['occurrences'] == OCCURRENCES


@pytest.mark.parametrize(('arguments', 'query'), [
    (('--all',), 'scope=all'), (('--only', '2'), 'scope=this&occurrence=2'),
    (('--from', '2'), 'scope=following&occurrence=2')])
def test_occurrences_are_changed_and_cancelled_by_scope(run, service, arguments, query):
    assert run('series', 'set', 'lab', *arguments, '--at', '10:00', '--hosts', '4').code == 0
    assert service.last_request.query == query
    assert service.last_request.json() == {'time': '10:00', 'reservations': HOSTS}
    assert run('series', 'delete', 'lab', *arguments).code == 0
    assert (service.last_request.method, service.last_request.query) == ('DELETE', query)


def test_a_change_of_nothing_is_refused(run, service):
    outcome = run('series', 'set', 'lab', '--all')

    assert outcome.code != 0
    assert 'Nothing to change' in outcome.err
