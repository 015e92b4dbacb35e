# SPDX-License-Identifier: Apache-2.0
"""Booting with a lease: the WSGI filter between a user, a Nova and a Climate that are played."""
import io
import json
import logging
import types

from keystoneauth1 import exceptions
import nova_standin
import pytest
import requests

HINTS = 'os:scheduler_hints'
MADE = '2030-05-01T08:00:00.5Z'
RESERVED = {'reserved': 'True', 'lease_params': '{"end": "2030-12-1 16:07"}'}
REQUEST_ID = 'req-1'


class Nova:
    """nova-api behind the filter; it makes servers.

    :ivar bodies: the requests that came, as bytes.
    :ivar status: what it answers.
    :ivar error: what it raises instead.
    """

    def __init__(self, log):
        self.bodies = []
        self.closed = 0
        self.status = '202 Accepted'
        self.says = {'server': {'id': 's1'}}
        self.error = None
        self._log = log

    def __call__(self, environ, start_response):
        length = environ.get('CONTENT_LENGTH')
        self.bodies.append(environ['wsgi.input'].read(int(length) if length else None))
        self._log.append('nova')
        if self.error:
            raise self.error
        write = start_response(self.status, [('X-Nova', 'yes')])
        raw = json.dumps(self.says).encode()
        write(raw[:5])
        return Body(self, raw[5:])

    @property
    def asked(self):
        """The last request."""
        return json.loads(self.bodies[-1])


class Body:
    """The rest of an answer, which wants to be closed."""

    def __init__(self, nova, rest):
        self._nova = nova
        self._rest = rest

    def __iter__(self):
        yield self._rest

    def close(self):
        self._nova.closed += 1


class Climate:
    """Climate's answers about leases.

    :ivar log: the calls that came to it and to Nova, in order.
    """

    def __init__(self, mocker, url, log):
        self._mocker = mocker
        self._url = url
        self.log = log
        mocker.post(f'{url}/leases', json=self._made, status_code=201)
        mocker.put(f'{url}/reservations/r1', json=self._bound)
        mocker.delete(f'{url}/leases/l1', text=self._dropped, status_code=204)

    @property
    def asked(self):
        return [each for each in self._mocker.request_history if each.url.startswith(self._url)]

    def refuses(self, method, path, **response):
        self._mocker.register_uri(method, self._url + path, **response)

    def _made(self, request, context):
        self.log.append('lease')
        number = len(request.json()['reservations'])
        return {'lease': {'id': 'l1', 'start': request.json().get('start', MADE).replace(
            'now', MADE), 'created_at': MADE,
            'reservations': [{'id': f'r{index + 1}'} for index in range(number)]}}

    def _bound(self, request, context):
        self.log.append('bound to ' + request.json()['resource_id'])
        return {'reservation': {'id': 'r1'}}

    def _dropped(self, request, context):
        self.log.append('dropped')
        return ''


class User:
    """Sends requests through the filter."""

    def __init__(self, app):
        self._app = app
        self.status = self.headers = None

    def boots(self, hints=None, key=HINTS, **fields):
        """Boot a server; the answer as JSON."""
        body = {'server': {'name': 'vm1', 'flavorRef': '7', **fields}}
        if hints is not None:
            body[key] = hints
        return self.sends(json.dumps(body).encode())

    def sends(self, raw, path='/servers', method='POST', **environ):
        """Send these bytes; the answer as JSON."""
        found = {'REQUEST_METHOD': method, 'SCRIPT_NAME': '/v2.1', 'PATH_INFO': path,
                 'CONTENT_LENGTH': str(len(raw)), 'wsgi.input': io.BytesIO(raw),
                 'HTTP_X_AUTH_TOKEN': 'user-token', 'HTTP_X_PROJECT_ID': 'p1',
                 'nova.context': types.SimpleNamespace(request_id=REQUEST_ID), **environ}
        chunks = []
        answered = self._app({key: value for key, value in found.items() if value is not None},
                             lambda *answer: self._start(chunks, *answer))
        chunks.extend(answered)
        if hasattr(answered, 'close'):
            answered.close()
        return json.loads(b''.join(chunks))

    def _start(self, chunks, status, headers):
        self.status, self.headers = int(status[:3]), dict(headers)
        return chunks.append


@pytest.fixture
def nova():
    return Nova([])


@pytest.fixture
def service(climate, requests_mock, nova):
    """Climate, with Keystone's catalogue beside it."""
    return Climate(requests_mock, 'http://climate.example:1234/v1', nova._log)


@pytest.fixture
def make(login, write, service, nova):
    """Make a User of a cloud with these options; without any, they are those of the login."""
    made = []

    def user(**options):
        context = nova_standin.api(write(login | options))
        factory, _conf = context.__enter__()
        made.append(context)
        return User(factory({})(nova))
    yield user
    for context in reversed(made):
        context.__exit__(None, None, None)


@pytest.fixture
def user(make):
    return make()


def told(user, answer):
    """(status, name, message) of a refusal, in Nova's shape."""
    [(name, fault)] = answer.items()
    assert fault['code'] == user.status
    return user.status, name, fault['message']


def test_the_lease_comes_first_and_is_bound_last(user, nova, service):
    assert user.boots(RESERVED) == {'server': {'id': 's1'}}
    assert service.log == ['lease', 'nova', 'bound to s1']
    assert (user.status, user.headers['X-Climate-Lease-Id']) == (202, 'l1')
    assert user.headers['X-Nova'] == 'yes'
    assert nova.closed == 1


def test_the_lease_is_asked_for_in_the_name_of_the_user(user, service):
    user.boots(RESERVED)
    for request in service.asked:
        assert request.headers['X-Auth-Token'] == 'user-token'
        assert request.headers['OpenStack-API-Version'] == 'reservation 1.1'
    assert service.asked[0].headers['Idempotency-Key'] == REQUEST_ID
    assert service.asked[0].timeout == (5, 30)
    assert service.asked[1].timeout == 5
    assert service.asked[0].json() == {
        'name': 'lease-vm1', 'end': '2030-12-01 16:07', 'reservations': [
            {'resource_type': 'virtual:instance', 'resource_id': None, 'flavor_id': '7'}]}


@pytest.mark.parametrize('key', [HINTS, 'OS-SCH-HNT:scheduler_hints'])
def test_nova_makes_a_server_that_names_its_lease(user, nova, key):
    user.boots({**RESERVED, 'same_host': 'x'}, key, metadata={'a': 'b'})
    assert nova.asked == {
        'server': {'name': 'vm1', 'flavorRef': '7', 'metadata': {
            'a': 'b', 'climate:lease_id': 'l1', 'climate:status': 'ACTIVE'}},
        key: {'same_host': 'x', 'reservation': 'r1'}}


@pytest.mark.parametrize(('start', 'status'), [
    ('now', 'ACTIVE'), ('2030-05-01T08:00:00Z', 'ACTIVE'), ('2030-05-01T08:01:00Z', 'RESERVED')])
def test_a_server_says_whether_its_lease_runs(user, nova, start, status):
    user.boots({'reserved': True, 'lease_params': {'start': start, 'duration': 60}})
    assert nova.asked['server']['metadata']['climate:status'] == status


@pytest.mark.parametrize('counts', [{'max_count': 3}, {'min_count': '3'}])
def test_several_servers_share_a_lease_and_are_bound_by_climate(user, nova, service, counts):
    user.boots(RESERVED, **counts)
    assert service.log == ['lease', 'nova']
    assert nova.asked[HINTS] == {'reservation': ['r1', 'r2', 'r3']}
    assert user.headers['X-Climate-Lease-Id'] == 'l1'


@pytest.mark.parametrize('says', [{'reservation_id': 'r-1'}, [], {'server': None}, 'x'])
def test_a_server_whose_id_is_not_told_is_bound_by_climate(user, nova, service, says):
    nova.says = says
    assert user.boots(RESERVED, return_reservation_id=True) == says
    assert service.log == ['lease', 'nova']


@pytest.mark.parametrize('raw', [
    b'{"server" : {"name": "vm1"}}', b'{"server": {}, "os:scheduler_hints": {"group": "x"}}',
    b'not JSON', b'', b'[]', b'\xff', b'{"server": null, "os:scheduler_hints": 7}',
    b'[' * 100000], ids=lambda raw: str(raw[:20]))
def test_a_request_without_the_hints_passes_byte_for_byte(user, nova, service, raw):
    user.sends(raw)
    assert nova.bodies == [raw]
    assert (service.asked, 'X-Climate-Lease-Id' in user.headers) == ([], False)


@pytest.mark.parametrize(('method', 'path'), [
    ('GET', '/servers'), ('POST', '/servers/s1/action'), ('PUT', '/servers'), ('POST', '/flavors')])
def test_other_requests_are_not_looked_at(user, nova, service, method, path):
    raw = json.dumps({'server': {}, HINTS: RESERVED}).encode()
    user.sends(raw, path, method)
    assert (nova.bodies, service.asked) == ([raw], [])


@pytest.mark.parametrize('path', ['/servers', '/servers/', '/0a1b/servers', '/os-volumes_boot'])
def test_all_paths_by_which_nova_makes_servers_are_known(user, service, path):
    user.sends(json.dumps({'server': {'name': 'vm1', 'flavorRef': '7'},
                           HINTS: RESERVED}).encode(), path)
    assert service.log == ['lease', 'nova', 'bound to s1']


def test_a_body_that_comes_in_pieces_is_read_to_its_end(user, service, nova):
    raw = json.dumps({'server': {'name': 'vm1', 'flavorRef': '7'}, HINTS: RESERVED}).encode()
    user.sends(raw, CONTENT_LENGTH=None, **{'wsgi.input_terminated': True})
    assert nova.asked[HINTS] == {'reservation': 'r1'}
    user.sends(raw, CONTENT_LENGTH=None)
    assert nova.bodies[-1] == raw, 'nothing says that it ends, so Nova does not read it either'


@pytest.mark.parametrize('terminated', [{}, {'CONTENT_LENGTH': None, 'wsgi.input_terminated': 1}])
def test_a_body_beyond_all_measure_is_refused(user, nova, terminated):
    answer = user.sends(b'x' * (2 << 20), **terminated)
    assert told(user, answer)[:2] == (413, 'overLimit')
    assert nova.bodies == []


def test_that_no_lease_is_wanted_may_be_said(user, nova, service):
    user.boots({'reserved': 'False', 'group': 'g'})
    assert nova.asked[HINTS] == {'group': 'g'}
    user.boots({'reserved': False})
    assert HINTS not in nova.asked
    assert service.asked == []


@pytest.mark.parametrize(('hints', 'said'), [
    ({'reserved': 'True'}, 'lease_params: "end" or "duration" is missing'),
    ({'lease_params': '{}'}, 'lease_params: it needs the hint reserved=True'),
    ({'reserved': 'True', 'lease_params': 'x'}, 'lease_params: "x" is not JSON'),
    ({'reserved': 'True', 'lease_params': '[]'}, 'lease_params: "[]" is no object'),
    ({'reserved': 'True', 'lease_params': None}, 'lease_params: "None" is no object'),
    ({'reserved': 'True', 'lease_params': 'x' * 10 ** 6}, 'lease_params: it has 1000000'),
    ({'reserved': 'True', 'lease_params': '{"end_date": "x"}'}, 'lease_params: "end_date" is not'),
    ({'reserved': None}, 'reserved: "None" is neither'),
    ({**RESERVED, 'reservation': 'r0'}, 'reserved: the hint reservation names')],
    ids=lambda value: str(value)[:50])
def test_bad_hints_are_refused_before_anything_is_made(user, nova, service, hints, said):
    status, name, message = told(user, user.boots(hints))
    assert (status, name) == (400, 'badRequest')
    assert message.startswith(said)
    assert service.log == []


def climate_says(status, name, message, **headers):
    return {'status_code': status, 'headers': headers, 'json': {
        'error_code': status, 'error_name': name, 'error_message': message}}


@pytest.mark.parametrize(('response', 'expected', 'after'), [
    (climate_says(400, 'bad_date', 'end: it is over.'),
     (400, 'badRequest', 'Climate: end: it is over.'), None),
    (climate_says(403, 'trust_refused', 'no application credential.'),
     (403, 'forbidden', 'Climate: no application credential.'), None),
    (climate_says(404, 'not_found', 'Flavor 7 was not found.'),
     (404, 'itemNotFound', 'Climate: Flavor 7 was not found.'), None),
    (climate_says(409, 'not_enough', 'Only 2 are free.'),
     (409, 'conflictingRequest', 'Climate: Only 2 are free.'), None),
    (climate_says(422, 'key_reused', 'Another key.'),
     (400, 'badRequest', 'Climate: Another key.'), None),
    (climate_says(429, 'too_many', 'Slowly.', **{'Retry-After': '7'}),
     (429, 'overLimit', 'Climate: Slowly.'), '7'),
    (climate_says(500, 'internal_error', 'Look into the log.'),
     (500, 'computeFault', 'Climate: Look into the log.'), None),
    (climate_says(503, 'overloaded', 'Busy.', **{'Retry-After': '3'}),
     (503, 'serviceUnavailable', 'Climate: Busy.'), '3'),
    (climate_says(504, 'manager_silent', 'No answer.'),
     (503, 'serviceUnavailable', 'Climate: No answer.'), '10'),
    ({'status_code': 401, 'json': {'error': {'message': 'no'}}},
     (401, 'unauthorized', 'Climate: the token was not taken: log in anew.'), None)], ids=str)
def test_a_refusal_of_climate_is_told_as_nova_tells_it(user, nova, service, response, expected,
                                                       after):
    service.refuses('POST', '/leases', **response)
    assert told(user, user.boots(RESERVED)) == expected
    assert user.headers.get('Retry-After') == after
    assert nova.bodies == []


@pytest.mark.parametrize('response', [
    {'exc': requests.exceptions.ConnectionError}, {'exc': requests.exceptions.ReadTimeout},
    {'status_code': 404, 'text': '<html>'}, {'status_code': 502, 'text': 'Bad gateway'},
    {'status_code': 404, 'json': {'error': 404, 'error_message': 'Nothing is here.'}},
    {'status_code': 201, 'text': 'hello'}, {'status_code': 201, 'json': {'lease': {'id': 'l1'}}},
    {'status_code': 201, 'json': []}], ids=str)
def test_without_climate_there_is_no_server(user, nova, service, response):
    service.refuses('POST', '/leases', **response)
    status, name, message = told(user, user.boots(RESERVED))
    assert (status, name) == (503, 'serviceUnavailable')
    assert 'try again in 10 seconds' in message
    assert 'example' not in message, 'addresses are nothing for users'
    assert user.headers['Retry-After'] == '10'
    assert nova.bodies == []


def test_a_lost_answer_is_asked_for_again_with_the_same_key(user, nova, service, requests_mock):
    requests_mock.post('http://climate.example:1234/v1/leases', [
        {'exc': requests.exceptions.ConnectionError},
        {'status_code': 201, 'json': {'lease': {'id': 'l1', 'start': MADE, 'created_at': MADE,
                                                'reservations': [{'id': 'r1'}]}}}])
    user.boots(RESERVED)
    keys = [each.headers.get('Idempotency-Key') for each in service.asked[:2]]
    assert (user.status, keys) == (202, [REQUEST_ID] * 2)


@pytest.mark.parametrize('status', ['400 Bad Request', '403 Forbidden', '500 Error', '300 Choose'])
def test_a_server_that_nova_refuses_leaves_no_lease(user, nova, service, status):
    nova.status, nova.says = status, {'badRequest': {'code': 400, 'message': 'no'}}
    assert user.boots(RESERVED) == nova.says
    assert service.log == ['lease', 'nova', 'dropped']
    assert 'X-Climate-Lease-Id' not in user.headers
    assert nova.closed == 1


@pytest.mark.parametrize('error', [ValueError('broken'), SystemExit()])
def test_a_nova_that_breaks_leaves_no_lease(user, nova, service, error):
    nova.error = error
    with pytest.raises(type(error)):
        user.boots(RESERVED)
    assert service.log == ['lease', 'nova', 'dropped']


def test_an_answer_that_breaks_off_leaves_no_lease(make, service, nova, monkeypatch):
    def broken(self):
        yield b'{'
        raise OSError('gone')
    monkeypatch.setattr(Body, '__iter__', broken)
    with pytest.raises(OSError, match='gone'):
        make().boots(RESERVED)
    assert (service.log[-1], nova.closed) == ('dropped', 1)


@pytest.mark.parametrize('response', [
    {'exc': requests.exceptions.ConnectionError}, {'status_code': 500, 'text': 'x'},
    climate_says(409, 'bad_transition', 'Not now.')], ids=str)
def test_a_lease_that_cannot_be_deleted_is_left_to_climate(user, nova, service, caplog, response):
    service.refuses('DELETE', '/leases/l1', **response)
    nova.status = '403 Forbidden'
    user.boots(RESERVED)
    assert user.status == 403
    assert 'Lease l1 has no server and could not be deleted' in caplog.text


def test_a_lease_that_is_gone_already_is_deleted(user, nova, service, caplog):
    service.refuses('DELETE', '/leases/l1', **climate_says(404, 'lease_not_found', 'Gone.'))
    nova.status = '403 Forbidden'
    user.boots(RESERVED)
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


@pytest.mark.parametrize('response', [
    {'exc': requests.exceptions.ConnectionError}, climate_says(409, 'server_leased', 'It is.')],
    ids=str)
def test_a_server_that_cannot_be_bound_is_left_to_climate(user, service, caplog, response):
    service.refuses('PUT', '/reservations/r1', **response)
    assert user.boots(RESERVED) == {'server': {'id': 's1'}}
    assert user.headers['X-Climate-Lease-Id'] == 'l1'
    assert 'Lease l1 could not be bound to server s1' in caplog.text
    assert 'user-token' not in caplog.text


def test_each_new_server_may_get_a_lease(make, nova, service):
    user = make(default_lease=True)
    user.boots()
    assert service.log == ['lease', 'nova', 'bound to s1']
    assert service.asked[0].json() == {
        'name': 'lease-vm1', 'duration': '30d', 'reservations': [
            {'resource_type': 'virtual:instance', 'resource_id': None, 'flavor_id': '7'}]}
    assert nova.asked[HINTS] == {'reservation': 'r1'}


def test_a_default_lease_keeps_what_the_user_says(make, service):
    user = make(default_lease=True, default_lease_days=7)
    user.boots({'reserved': 'True', 'lease_params': '{"name": "mine", "on_end": "delete"}'})
    asked = service.asked[0].json()
    assert (asked['name'], asked['duration']) == ('mine', '7d')
    assert asked['reservations'][0]['on_end'] == 'delete'


def test_a_default_lease_stands_back_for_a_reservation(make, service, nova):
    user = make(default_lease=True)
    user.boots({'reservation': 'r9'})
    assert (service.asked, nova.asked[HINTS]) == ([], {'reservation': 'r9'})


def test_a_project_may_be_exempt_from_default_leases(make, service):
    make(default_lease=True, default_lease_exempt_projects='p0,p1').boots()
    assert service.asked == []
    make(default_lease=True, default_lease_exempt_projects='p0').boots()
    assert service.log == ['nova', 'lease', 'nova', 'bound to s1']


def test_without_climate_a_default_lease_refuses_the_server(make, service, nova):
    service.refuses('POST', '/leases', exc=requests.exceptions.ConnectTimeout)
    user = make(default_lease=True)
    assert told(user, user.boots())[0] == 503
    assert nova.bodies == []


def test_what_is_no_request_for_a_server_gets_no_default_lease(make, service, nova):
    make(default_lease=True).sends(b'{"server": 7}')
    assert (service.asked, nova.bodies) == ([], [b'{"server": 7}'])


def test_a_request_without_an_id_gets_one(user, service):
    raw = json.dumps({'server': {'name': 'vm1', 'flavorRef': '7'}, HINTS: RESERVED}).encode()
    user.sends(raw, **{'nova.context': None, 'openstack.request_id': 'req-2'})
    assert service.asked[0].headers['Idempotency-Key'] == 'req-2'
    user.sends(raw, **{'nova.context': None})
    assert service.asked[2].headers['Idempotency-Key'].startswith('req-')


def test_climate_may_be_named_by_its_address_alone(write, service, nova):
    address = write({'endpoint_override': 'http://climate.example:1234/v1'})
    with nova_standin.api(address) as (factory, _conf):
        User(factory({})(nova)).boots(RESERVED)
    assert service.log == ['lease', 'nova', 'bound to s1']


def test_without_any_way_to_climate_nova_does_not_start(write):
    with nova_standin.api(write({})) as (factory, _conf), pytest.raises(
            exceptions.MissingAuthPlugin, match='neither auth_type nor endpoint_override'):
        factory({})


def test_both_pipelines_can_have_the_filter(write, login, nova, service):
    with nova_standin.api(write(login)) as (factory, _conf):
        for _ in range(2):
            User(factory({'here': '/etc/nova'}, option='x')(nova)).boots(RESERVED)
    assert service.log == ['lease', 'nova', 'bound to s1'] * 2


def test_an_application_may_answer_anew_until_a_part_is_out(service, write, login):
    def app(environ, start_response):
        start_response('202 Accepted', [])
        try:
            raise ValueError('late')
        except ValueError as error:
            write = start_response('500 Error', [], (ValueError, error, error.__traceback__))
        write(b'{}')
        start_response('500 Error', [], (ValueError, ValueError('too late'), None))
    with nova_standin.api(write(login)) as (factory, _conf), pytest.raises(
            ValueError, match='too late'):
        User(factory({})(app)).boots(RESERVED)
    assert service.log == ['lease', 'dropped']


def test_an_application_that_answers_nothing_is_broken(service, write, login):
    with nova_standin.api(write(login)) as (factory, _conf), pytest.raises(
            RuntimeError, match='has not called start_response'):
        User(factory({})(lambda environ, start_response: [])).boots(RESERVED)
    assert service.log == ['lease', 'dropped']
