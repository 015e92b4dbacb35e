# SPDX-License-Identifier: Apache-2.0
"""The client library: the requests that it sends, and how it reads the answers."""
from keystoneauth1 import noauth
from keystoneauth1 import session as sessions
import pytest
import requests
from unit.client import canned

from climate import client
from climate.client import errors

URL = canned.URL
LEASE_ID = canned.LEASE_ID
LEASE_URL = f'{URL}/leases/{LEASE_ID}'


def test_every_request_speaks_rest_1_1(climate, requests_mock):
    requests_mock.get(LEASE_URL, json={'lease': canned.a_lease()})
    climate.leases.get(LEASE_ID)
    headers = requests_mock.last_request.headers
    assert headers['OpenStack-API-Version'] == 'reservation 1.1'
    assert headers['X-Auth-Token'] == 'a-token'


def test_an_address_without_a_version_gets_one(requests_mock):
    requests_mock.get(f'{URL}/leases', json={'leases': []})
    bare = noauth.NoAuth(endpoint='http://climate.example:1234/')
    assert list(client.Client(sessions.Session(auth=bare)).leases.list()) == []


def test_a_given_address_wins(requests_mock):
    requests_mock.get('http://other/reservation/v1/leases', json={'leases': []})
    session = sessions.Session(auth=noauth.NoAuth(endpoint=URL))
    other = client.Client(session, endpoint_override='http://other/reservation/v1')
    assert list(other.leases.list()) == []


def test_a_list_follows_its_pages(climate, requests_mock):
    requests_mock.get(f'{URL}/leases?limit=3', json={
        'leases': [{'id': '1'}, {'id': '2'}],
        'leases_links': [{'rel': 'next', 'href': 'http://proxied/v1/leases?limit=3&marker=2'}]})
    requests_mock.get(f'{URL}/leases?limit=3&marker=2', json={'leases': [{'id': '3'}]})
    assert [lease['id'] for lease in climate.leases.list(limit=3)] == ['1', '2', '3']


def test_a_limit_asks_for_no_page_it_does_not_need(climate, requests_mock):
    requests_mock.get(f'{URL}/leases', json={
        'leases': [{'id': '1'}, {'id': '2'}],
        'leases_links': [{'rel': 'next', 'href': f'{URL}/leases?marker=2'}]})
    assert [lease['id'] for lease in climate.leases.list(limit=2)] == ['1', '2']
    assert requests_mock.call_count == 1


def test_filters_are_sent_and_unset_ones_are_not(climate, requests_mock):
    requests_mock.get(f'{URL}/leases', json={'leases': []})
    list(climate.leases.list(status='active', name=None, all_projects=True, deleted=False))
    assert requests_mock.last_request.qs == {'status': ['active'], 'all_projects': ['true']}


def test_a_lease_is_found_by_its_exact_name(climate, requests_mock):
    requests_mock.get(f'{URL}/leases?name=demo', json={
        'leases': [canned.a_lease(), canned.a_lease(id='x', name='demo-2')]})
    requests_mock.get(LEASE_URL, json={'lease': canned.a_lease()}, headers={'ETag': '"7"'})
    lease = climate.leases.find('demo')
    assert (lease['id'], lease.etag) == (LEASE_ID, '"7"')


def test_an_ambiguous_name_is_an_error_that_lists_the_ids(climate, requests_mock):
    requests_mock.get(f'{URL}/leases', json={
        'leases': [canned.a_lease(id='a', status='active'), canned.a_lease(id='b')]})
    with pytest.raises(errors.Ambiguous, match=r'a \(active\), b \(inactive\)') as caught:
        climate.leases.find('demo')
    assert caught.value.ids == ['a', 'b']


def test_a_name_that_nothing_has_is_not_found(climate, requests_mock):
    requests_mock.get(f'{URL}/os-hosts', json={'hosts': [canned.a_host()]})
    with pytest.raises(errors.NotFound, match='No host is called "cmp"'):
        climate.hosts.find('cmp')
    assert climate.hosts.find('cmp-3')['id'] == '3'


def test_a_create_sends_a_key_and_times_of_the_wire(climate, requests_mock):
    requests_mock.post(f'{URL}/leases', json={'lease': canned.a_lease()}, status_code=201)
    climate.leases.create('demo', reservations=[{'resource_type': 'dummy'}], start='now',
                          duration='2h', before_end='2030-5-1 09:30',
                          events=[{'type': 'notify', 'time': '2030-5-1 09:00'}])
    assert requests_mock.last_request.json() == {
        'name': 'demo', 'reservations': [{'resource_type': 'dummy'}], 'start': 'now',
        'duration': 7200, 'before_end': '2030-05-01T09:30:00Z',
        'events': [{'type': 'notify', 'time': '2030-05-01T09:00:00Z'}]}
    assert len(requests_mock.last_request.headers['Idempotency-Key']) == 36


@pytest.mark.parametrize('lost', [
    {'exc': requests.exceptions.ConnectionError('reset')},
    {'exc': requests.exceptions.ReadTimeout},
    {'status_code': 504, 'json': {'error_message': 'silent'}},
    {'status_code': 503, 'json': {'error_message': 'busy'}, 'headers': {'Retry-After': '1'}},
])
def test_a_create_whose_answer_is_lost_is_asked_for_again_with_the_same_key(
        climate, requests_mock, lost):
    requests_mock.post(f'{URL}/leases', [
        lost, lost, {'status_code': 201, 'json': {'lease': canned.a_lease()}}])
    assert climate.leases.create('demo', reservations=[])['id'] == LEASE_ID
    keys = {call.headers['Idempotency-Key'] for call in requests_mock.request_history}
    assert (len(keys), requests_mock.call_count) == (1, 3)


def test_a_create_is_given_up_after_four_tries(climate, requests_mock, clock):
    requests_mock.post(f'{URL}/leases', status_code=504, json={'error_message': 'silent'})
    with pytest.raises(errors.NoAnswerInTime, match='silent'):
        climate.leases.create('demo', reservations=[])
    assert (requests_mock.call_count, clock.now) == (4, 3.5)


def test_an_update_is_not_repeated_by_itself(climate, requests_mock):
    requests_mock.put(LEASE_URL, exc=requests.exceptions.ConnectionError)
    with pytest.raises(errors.Unreachable, match='No answer'):
        climate.leases.update(LEASE_ID, name='other')
    assert requests_mock.call_count == 1


@pytest.mark.parametrize('status, expected', [
    (400, errors.BadRequest), (401, errors.NotAuthenticated), (403, errors.Forbidden),
    (404, errors.NotFound), (406, errors.NotAcceptable), (409, errors.Conflict),
    (412, errors.StalePrecondition), (413, errors.BodyTooLarge), (418, errors.HttpError),
    (422, errors.KeyReused), (500, errors.ServerError), (502, errors.CloudFailed),
    (503, errors.Overloaded), (504, errors.NoAnswerInTime),
])
def test_each_status_has_its_error(climate, requests_mock, status, expected):
    requests_mock.get(LEASE_URL, status_code=status, json={
        'error_code': status, 'error_name': 'some_name', 'error_message': 'Because.',
        'request_id': 'req-1', 'details': {'free': 2}})
    with pytest.raises(expected) as caught:
        climate.leases.get(LEASE_ID)
    error = caught.value
    assert type(error) is expected
    assert (str(error), error.status, error.name, error.request_id, error.details) == (
        'Because.', status, 'some_name', 'req-1', {'free': 2})


@pytest.mark.parametrize('body, message', [
    ({'error': {'code': 401, 'title': 'Unauthorized', 'message': 'Token please.'}},
     'Token please.'),
    ({'error': 400, 'error_message': 'Short form.'}, 'Short form.'),
    ({'error_code': 400, 'error_name': 400, 'error_message': 'Form of 1.0.'}, 'Form of 1.0.'),
    (['nonsense'], 'HTTP 400 .* from http'),
])
def test_other_forms_of_errors_are_read_too(climate, requests_mock, body, message):
    requests_mock.get(LEASE_URL, status_code=400, json=body, reason='Bad Request')
    with pytest.raises(errors.BadRequest, match=message) as caught:
        climate.leases.get(LEASE_ID)
    assert caught.value.name is None


def test_an_answer_of_something_else_is_said_so(climate, requests_mock):
    requests_mock.get(LEASE_URL, text='<html>Welcome</html>')
    with pytest.raises(errors.AnswerUnreadable, match='is the address right'):
        climate.leases.get(LEASE_ID)


def test_to_extend_adds_to_the_end_that_was_read(climate, requests_mock):
    requests_mock.get(LEASE_URL, headers={'ETag': '"7"'}, json={'lease': canned.a_lease()})
    requests_mock.put(LEASE_URL, json={'lease': canned.a_lease()})
    climate.leases.extend(LEASE_ID, by='30m')
    assert requests_mock.last_request.json() == {'end': '2030-05-01T10:30:00Z'}
    assert requests_mock.last_request.headers['If-Match'] == '"7"'


def test_to_extend_reads_again_when_somebody_was_faster(climate, requests_mock):
    requests_mock.get(LEASE_URL, [
        {'headers': {'ETag': '"7"'}, 'json': {'lease': canned.a_lease()}},
        {'headers': {'ETag': '"8"'},
         'json': {'lease': canned.a_lease(end='2030-05-01T11:00:00Z')}}])
    requests_mock.put(LEASE_URL, [
        {'status_code': 412, 'json': {'error_message': 'stale'}},
        {'json': {'lease': canned.a_lease()}}])
    climate.leases.extend(LEASE_ID, by=60)
    assert requests_mock.last_request.json() == {'end': '2030-05-01T11:01:00Z'}


def test_to_end_a_lease_sets_its_end_to_now(climate, requests_mock):
    requests_mock.put(LEASE_URL, json={'lease': canned.a_lease()})
    climate.leases.end(LEASE_ID)
    assert requests_mock.last_request.json() == {'end': 'now'}


def test_an_id_with_odd_characters_stays_one_part_of_the_path(climate, requests_mock):
    requests_mock.get(f'{URL}/leases/..%2Fos-hosts', status_code=404,
                      json={'error_message': 'none'})
    with pytest.raises(errors.NotFound):
        climate.leases.get('../os-hosts')


def test_properties_are_unset_by_null(climate, requests_mock):
    requests_mock.put(f'{URL}/os-hosts/3', json={'host': canned.a_host()})
    climate.hosts.update('3', {'gpu': 'False'}, unset=['rack'])
    assert requests_mock.last_request.json() == {'gpu': 'False', 'rack': None}


def test_a_catalogue_without_the_service_is_said_so(requests_mock):
    session = sessions.Session(auth=noauth.NoAuth())
    with pytest.raises(errors.ServiceMissing, match='no "reservation" service'):
        client.Client(session).leases.get(LEASE_ID)
