# SPDX-License-Identifier: Apache-2.0
"""The driver "http", against hostile servers and the server of the recorded exchanges."""
import contextlib
import dataclasses
import datetime
import http.server
import json
import pathlib
import threading

import pytest
from support import credits_server
from support import loopback
from support import thinning

from climate import enforcement
from climate import errors
from climate.enforcement import base

_RECORDED = json.loads((pathlib.Path(credits_server.__file__).parent
                        / 'coral_credits_exchanges.json').read_text())
_NOW = datetime.datetime(2026, 11, 26, 13, 43, 54, tzinfo=datetime.UTC)


def test_every_recorded_exchange_of_the_consumer_routes_gets_the_recorded_answer():
    server = credits_server.Credits(lambda: _NOW, VCPU=1000, MEMORY_MB=1_000_000, DISK_GB=10_000)
    server.projects = {'5756a9a352eb4e96a7dd3e34160e414a'}
    wrong, exchanges, balances = {}, 0, 0
    for recorded in _RECORDED:
        if 'credits' in recorded:
            balances += 1
            assert server.balance == recorded['credits']
            continue
        exchanges += 1
        headers = {name: text.replace('<token>', credits_server.TOKEN)
                   for name, text in recorded['headers'].items()}
        answer = server.handle(recorded['method'], recorded['path'], headers,
                               json.dumps(recorded['body']))
        if answer != (recorded['status'], recorded['answer']):
            wrong[recorded['name']] = answer, (recorded['status'], recorded['answer'])
    assert wrong == {}
    assert (exchanges, balances) == (53, 13)


class Service:
    """A server that answers as a test says, and records its requests.

    :ivar answer: a function of the handler of a request.
    :ivar requests: (path, headers, body).
    """

    def __init__(self):
        self.requests = []
        self.answer = lambda handler: handler.send_answer(204)
        self.stopped = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    def send_answer(self, status, content=b'', **headers):
        self.send_response(status)
        for name, text in {'Content-Length': str(len(content)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content)

    def _answer(self):
        content = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        self.server.service.requests.append((self.path, dict(self.headers), content))
        with contextlib.suppress(OSError):
            self.server.service.answer(self)

    do_GET = do_POST = _answer  # noqa: N815

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def service(conf):
    """A Service at [enforcement] url, which is asked in the dialect of Blazar."""
    found = Service()
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.service, server.daemon_threads, server.block_on_close = found, True, False
    with loopback.serving(server) as port:
        for name, value in {'driver': 'http', 'url': f'http://127.0.0.1:{port}/hook',
                            'token': 'secret-token', 'timeout_seconds': 1}.items():
            conf.set_override(name, value, group='enforcement')
        yield found
        found.stopped.set()


class Cloud:
    """A cloud whose Keystone has a token for Climate itself."""

    def as_service(self):
        return self

    @property
    def keystone(self):
        return self

    def own_token(self):
        return 'token-of-climate'


def _call(kind=base.CREATE, token=None, **reservation):
    lease = {'id': 'l1', 'name': 'a', 'start_date': '2030-05-01T12:00:00',
             'end_date': '2030-05-01T13:00:00', 'resource_requests': {'VCPU': 4, 'DISK_GB': 0},
             'reservations': [{'id': 'r1', 'resource_type': 'physical:host', 'allocations': [
                 {'id': '1', 'hypervisor_hostname': 'c1', 'extra': {'su_factor': '2.5'}}],
                 **reservation}]}
    body = {'context': {'user_id': 'u', 'project_id': 'p'}, 'lease': lease}
    if kind == base.UPDATE:
        body['current_lease'] = {**lease, 'end_date': '2030-05-01T12:30:00'}
    return base.Call('call-1', kind, body, token)


def _driver(conf, **options):
    for name, value in options.items():
        conf.set_override(name, value, group='enforcement')
    return enforcement.load(conf, Cloud())


def test_a_question_has_the_body_of_blazar_and_an_id_that_stays_the_same(conf, service):
    driver = _driver(conf)
    driver.ask(_call())
    driver.ask(_call())
    (path, headers, content), (_, again, _) = service.requests
    assert path == '/hook/check-create'
    assert headers['X-Auth-Token'] == 'secret-token'
    assert headers['Idempotency-Key'] == again['Idempotency-Key'] == 'call-1'
    assert json.loads(content) == _call().body


@pytest.mark.parametrize(('dialect', 'calls'), [
    ('blazar', ['check-create', 'check-update', 'check-create', 'check-update', 'on-end']),
    ('coral', ['check-create', 'check-update', 'create', 'update', 'on-end', 'update']),
    ('chameleon', ['check-create/', 'check-update/', 'check-create/', 'check-update/', 'on-end/']),
])
@pytest.mark.parametrize('slash', ['', '/'])
def test_each_dialect_has_its_own_paths(dialect, calls, slash, conf, service):
    driver = _driver(conf, dialect=dialect, url=conf.enforcement.url + slash)
    driver.ask(_call())
    driver.ask(_call(base.UPDATE))
    driver.commit(_call())
    driver.commit(_call(base.UPDATE))
    driver.end(_call(base.END))
    assert [path for path, *_ in service.requests] == [f'/hook/{name}' for name in calls]


def test_a_call_may_have_a_url_of_its_own(conf, service):
    root = conf.enforcement.url.removesuffix('/hook')
    driver = _driver(conf, url='', check_create_url=f'{root}/a?b=c',
                     check_update_url=f'{root}/b/', on_end_url=f'{root}/c')
    driver.ask(_call())
    driver.ask(_call(base.UPDATE))
    driver.end(_call(base.END))
    assert [path for path, *_ in service.requests] == ['/a?b=c', '/b/', '/c']


@pytest.mark.parametrize(('options', 'token', 'header', 'sent'), [
    ({}, 'of-the-user', 'X-Auth-Token', 'secret-token'),
    ({'token': ''}, 'of-the-user', 'X-Auth-Token', 'of-the-user'),
    ({'token': ''}, None, 'X-Auth-Token', 'token-of-climate'),
    ({'dialect': 'coral'}, None, 'Authorization', 'Bearer secret-token'),
    ({'dialect': 'coral', 'token_header': 'X-Auth-Token'}, None, 'X-Auth-Token', 'secret-token'),
    ({'token_header': 'Authorization'}, None, 'Authorization', 'Bearer secret-token'),
])
def test_the_token_is_in_the_header_of_the_dialect_or_of_the_option(
        options, token, header, sent, conf, service):
    _driver(conf, **options).ask(_call(token=token))
    [(_, headers, _)] = service.requests
    assert headers[header] == sent


@pytest.mark.parametrize(('affinity', 'sent'), [(None, 'None'), (True, 'True'), (False, 'False')])
def test_coral_gets_the_affinity_as_a_text_and_no_empty_properties(affinity, sent, conf, service):
    _driver(conf, dialect='coral').ask(_call(
        resource_type='virtual:instance', affinity=affinity, resource_properties=''))
    [(*_, content)] = service.requests
    [reservation] = json.loads(content)['lease']['reservations']
    assert reservation['affinity'] == sent
    assert 'resource_properties' not in reservation


def test_coral_gets_at_least_1_of_each_class(conf, service):
    _driver(conf, dialect='coral').ask(_call())
    [(*_, content)] = service.requests
    assert json.loads(content)['lease']['resource_requests'] == {'VCPU': 4, 'DISK_GB': 1}


def test_chameleon_gets_the_factor_of_each_host(conf, service):
    _driver(conf, dialect='chameleon').ask(_call())
    [(*_, content)] = service.requests
    [[allocation]] = [each['allocations'] for each in json.loads(content)['lease']['reservations']]
    assert allocation['su_factor'] == 2.5


def _after_silence(handler):
    handler.server.service.stopped.wait(5)


def _drip(handler):
    handler.wfile.write(b'HTTP/1.1 204 No Content\r\n')
    while not handler.server.service.stopped.wait(0.1):
        handler.wfile.write(b'X')


def _drip_a_refusal(handler):
    handler.send_response(403)
    handler.send_header('Content-Length', '5000')
    handler.end_headers()
    while not handler.server.service.stopped.wait(0.1):
        handler.wfile.write(b'{')


@pytest.mark.parametrize(('answer', 'reason'), thinning.few([
    (lambda handler: handler.send_answer(200, b'{}'), 'answered with 200'),
    (lambda handler: handler.send_answer(302, Location='http://127.0.0.1/other'), 'Redirects'),
    (lambda handler: handler.send_answer(403, b'x' * 10_000_000), 'more than 65536 bytes'),
    (lambda handler: handler.send_answer(500, b'<html>broken</html>'), '500 (<html>broken'),
    (lambda handler: handler.send_answer(401, b'{"detail": "Invalid token."}'), 'Invalid token.'),
    (lambda handler: handler.send_answer(404), 'Check the URL'),
    (lambda handler: handler.wfile.write(b'no HTTP\r\n\r\n'), 'BadStatusLine'),
    (lambda handler: None, 'RemoteDisconnected'),
    *(pytest.param(answer, 'longer than [enforcement] timeout_seconds', marks=pytest.mark.proof)
      for answer in (_after_silence, _drip, _drip_a_refusal)),
], 4))
def test_an_answer_that_is_neither_yes_nor_no_counts_as_none(answer, reason, conf, service):
    service.answer = answer
    with pytest.raises(errors.EnforcementUnavailable) as caught:
        _driver(conf).ask(_call())
    assert reason in caught.value.message
    assert 'secret-token' not in caught.value.message
    assert reason not in caught.value.owner_message
    assert len(service.requests) == 1


@pytest.mark.parametrize(('content', 'message'), [
    (b'{"message": "No service units are left."}', 'No service units are left.'),
    (b'{"error": "QuotaExceeded(\'too much\')"}', 'too much'),
    (b'{"message": ', 'it gives no reason.'),
])
def test_a_refusal_has_the_text_of_the_service(content, message, conf, service):
    service.answer = lambda handler: handler.send_answer(403, content)
    with pytest.raises(errors.EnforcementRefused) as caught:
        _driver(conf).ask(_call())
    assert caught.value.message.endswith(f'refuses the lease: {message}')


def test_a_repeated_creation_and_the_end_of_an_unknown_lease_are_successes_with_coral(conf):
    now = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
    credit = credits_server.Credits(lambda: now, VCPU=1000, DISK_GB=1000)
    with credits_server.serving(credit) as url:
        driver = _driver(conf, driver='http', dialect='coral', url=url,
                         token=credits_server.TOKEN)
        call = _call()
        call.body['context'].update(auth_url='http://127.0.0.1:5000/v3', region_name='RegionOne')
        driver.commit(call)
        driver.commit(call)
        assert credit.balance == {'VCPU': 996, 'DISK_GB': 999}
        credit.charges.clear()
        driver.end(dataclasses.replace(call, kind=base.END))
    assert [action for action, *_ in credit.calls] == ['create', 'create', 'on-end', 'update']


def test_more_requests_than_may_wait_are_refused_at_once(conf, service):
    service.answer = _after_silence
    driver = _driver(conf, at_once=1)
    threads = [threading.Thread(target=_ask_quietly, args=(driver,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    while driver._places._value:
        threading.Event().wait(0.01)
    with pytest.raises(errors.EnforcementBusy):
        driver.ask(_call())
    service.stopped.set()
    for thread in threads:
        thread.join()


def _ask_quietly(driver):
    with contextlib.suppress(errors.ClimateError):
        driver.ask(_call())


@pytest.mark.parametrize(('options', 'problem'), [
    ({'url': ''}, r'\[enforcement\] url is not set'),
    ({'url': 'credits.example.org'}, 'url is not a URL'),
    ({'dialect': 'coral', 'token': ''}, 'token is not set'),
    ({'dialect': 'coral', 'resource_classes': []}, 'resource_classes is empty'),
    ({'resource_types': []}, 'resource_types is empty'),
    ({'ca_file': '/nowhere.pem'}, 'ca_file cannot be used'),
    ({'on_end_url': 'ftp://example.org'}, 'on_end_url is not a URL'),
])
def test_options_that_cannot_be_used_are_named(options, problem, conf, service):
    with pytest.raises(errors.ConfigurationError, match=problem):
        _driver(conf, **options)


def test_a_service_can_be_reached_if_it_answers_at_all(conf, service):
    service.answer = lambda handler: handler.send_answer(405)
    assert _driver(conf).reach() is None
    assert 'refused' in _driver(conf, url='http://127.0.0.1:9/hook').reach()
