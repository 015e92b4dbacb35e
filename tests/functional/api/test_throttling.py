# SPDX-License-Identifier: Apache-2.0
"""Too many requests for one process: some are refused, and memory does not grow."""
import collections
from concurrent import futures
import threading

import pytest
import requests
from support import builders
from support import waiting
import webtest

from climate.api import app
from climate.cmd import api as program
from climate.manager import endpoint
from climate.rpc import client


class SlowBus:
    """A bus whose answers come when a test lets them; a ping is answered at once.

    :ivar waiting: how many calls wait.
    """

    def __init__(self, core):
        self._manager = endpoint.InProcess(endpoint.Endpoint(core))
        self._open = threading.Event()
        self._changed = threading.Condition()
        self.waiting = 0

    def call(self, context, method, timeout=None, **arguments):
        if method != 'ping':
            with self._changed:
                self.waiting += 1
                self._changed.notify_all()
            self._open.wait(waiting.SECONDS)
        return self._manager.call(context, method, timeout, **arguments)

    def until(self, count):
        """Wait until this number of calls wait."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.waiting >= count,
                                          waiting.SECONDS)

    def go_on(self):
        self._open.set()


@pytest.fixture
def bus(manager):
    made = SlowBus(manager.core)
    yield made
    made.go_on()


@pytest.fixture
def application(conf, bus):
    conf.set_override('max_requests', 3, group='api')
    return app.build(conf, client.ManagerClient(bus), builders.manager_plugins(conf))


def _get(application, path='/v1/leases', version='1.1', status='*', token=builders.DEMO):
    return webtest.TestApp(application).get(path, status=status, headers={
        'X-Auth-Token': token, 'OpenStack-API-Version': f'reservation {version}'})


def test_a_request_too_many_is_told_to_come_back_in_the_form_of_its_version(application, bus):
    with futures.ThreadPoolExecutor(3) as pool:
        taken = [pool.submit(_get, application) for _ in range(3)]
        bus.until(3)
        old, new, odd = (_get(application, version=version) for version in ('1.0', '1.1', '9.9'))
        healthy = _get(application, '/healthcheck')
        known = _get(application, '/v1/openapi.json')
        bus.go_on()
    for answer in (old, new, odd):
        assert answer.status_int == 503
        assert answer.headers['Retry-After'] == '2'
        assert 'again in 2 seconds' in answer.json['error_message']
    assert old.json['error_name'] == 503
    assert new.json['error_name'] == 'overloaded'
    assert new.json['request_id'].startswith('req-')
    assert (healthy.status_int, known.status_int) == (200, 200)
    assert bus.waiting == 3
    assert [each.result().status_int for each in taken] == [200, 200, 200]


def test_answered_requests_free_their_slots(application, bus):
    bus.go_on()
    for _ in range(10):
        assert _get(application).status_int == 200
        assert _get(application, '/v1/nothing').status_int == 404


def test_a_project_cannot_take_all_slots(conf, bus):
    conf.set_override('max_requests', 3, group='api')
    conf.set_override('max_requests_per_project', 2, group='api')
    application = app.build(conf, client.ManagerClient(bus), builders.manager_plugins(conf))
    with futures.ThreadPoolExecutor(3) as pool:
        mine = [pool.submit(_get, application) for _ in range(2)]
        bus.until(2)
        old, new = (_get(application, version=version) for version in ('1.0', '1.1'))
        theirs = pool.submit(_get, application, token=builders.STRANGER)
        bus.until(3)
        bus.go_on()
    for answer in (old, new):
        assert answer.status_int == 429
        assert answer.headers['Retry-After'] == '2'
        assert 'has 2 requests in progress' in answer.json['error_message']
    assert (old.json['error_name'], new.json['error_name']) == (429, 'too_many_requests')
    assert [each.result().status_int for each in (*mine, theirs)] == [200, 200, 200]
    assert _get(application).status_int == 200


@pytest.mark.parametrize('kind', ('reservation', 'server'))
def test_questions_of_nova_pass_while_others_are_refused(application, bus, kind):
    question = f'/v1/{kind}s/7/hosts?project_id=demo'
    with futures.ThreadPoolExecutor(6) as pool:
        taken = [pool.submit(_get, application) for _ in range(3)]
        bus.until(3)
        asked = [pool.submit(_get, application, question, token='nova:service:service')
                 for _ in range(3)]
        bus.until(6)
        assert _get(application).status_int == 503
        assert _get(application, f'/v1/{kind}s/7/hosts/').status_int == 503
        # The questions have a limit of their own.
        assert _get(application, question).status_int == 503
        bus.go_on()
    assert [each.result().status_int for each in taken] == [200] * 3
    assert [each.result().json['error_name'] for each in asked] == [f'{kind}_not_found'] * 3


def test_the_server_refuses_at_once_while_all_requests_wait(application, conf, bus):
    conf.set_override('port', 0, group='api')
    listening = program.listen(application, conf)
    threading.Thread(target=listening.run, daemon=True).start()
    url = f'http://127.0.0.1:{listening.port}/v1/leases'
    headers = {'X-Auth-Token': builders.DEMO}
    with futures.ThreadPoolExecutor(40) as pool:
        answers = [pool.submit(requests.get, url, headers=headers, timeout=2 * waiting.SECONDS)
                   for _ in range(40)]
        bus.until(3)
        # Those that are refused are answered while the others wait.
        waiting.until(lambda: sum(each.done() for each in answers) == 37)
        bus.go_on()
    counts = collections.Counter(each.result().status_code for each in answers)
    assert counts == {200: 3, 503: 37}
    listening.order(listening.stop, 0)
