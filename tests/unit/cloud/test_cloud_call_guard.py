# SPDX-License-Identifier: Apache-2.0
"""The guard of calls: the concurrency limit, the check of the caller, and repeated reads."""
import abc
from concurrent import futures
from http import server
import threading

import pytest
from support import waiting

from climate import errors
from climate.cloud import call_guard
from climate.cloud import concurrency
from climate.cloud import session
from climate.cloud import simulated


class InFlight:
    """Counts the calls in flight, and the greatest number so far.

    :ivar meeting: each call waits here until as many are in flight.
    """

    def __init__(self, meet=1):
        self.meeting = threading.Barrier(meet)
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()

    def change(self, by):
        with self._lock:
            self._now += by
            self.most = max(self.most, self._now)


@pytest.fixture
def service():
    """A service on loopback: (its URL, an InFlight)."""
    in_flight = InFlight()

    class Handler(server.BaseHTTPRequestHandler):
        def do_GET(self):
            in_flight.change(1)
            in_flight.meeting.wait(waiting.SECONDS)
            in_flight.change(-1)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args):
            """Log nothing: the test reads no log."""

    listening = server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield f'http://127.0.0.1:{listening.server_port}/', in_flight
    listening.shutdown()
    listening.server_close()


def test_calls_of_the_real_cloud_wait_for_their_turn(configured, service):
    url, in_flight = service
    in_flight.meeting = threading.Barrier(3)
    conf = configured('[keystone]\nauth_type = none\n[nova]\nconcurrency = 3')
    sessions = session.Sessions(conf)
    one, two = sessions.as_service('nova'), sessions.as_service('nova')
    with futures.ThreadPoolExecutor(20) as pool:
        answers = [pool.submit((one, two)[number % 2].get, url, authenticated=False)
                   for number in range(39)]
    assert {each.result().status_code for each in answers} == {204}
    assert in_flight.most == 3


def test_calls_of_the_simulated_cloud_wait_for_their_turn(conf):
    conf.set_override('concurrency', 3, group='nova')
    # If fewer may be in flight, a meeting breaks.
    in_flight = {'nova': InFlight(3), 'keystone': InFlight(10)}

    def count(name, when):
        service = name.partition('.')[0]
        in_flight[service].change(1 if when == 'before' else -1)
        if when == 'before':
            in_flight[service].meeting.wait(waiting.SECONDS)
    services = simulated.SimulatedCloud(conf, on_point=count).as_service()
    with futures.ThreadPoolExecutor(31) as pool:
        calls = [*[pool.submit(services.nova.aggregates) for _ in range(21)],
                 *[pool.submit(services.keystone.trusts) for _ in range(10)]]
    assert all(call.exception() is None for call in calls)
    assert in_flight['nova'].most == 3
    assert in_flight['keystone'].most == 10


class Gone(Exception):
    """The caller may not act any more."""


def refuse():
    raise Gone


def test_calls_on_other_threads_have_the_check_of_their_caller():
    with futures.ThreadPoolExecutor(2) as pool, pytest.raises(Gone), (
            call_guard.before_each_call(refuse)):
        concurrency.call_all(pool, lambda _: call_guard.check(), range(3))
    with futures.ThreadPoolExecutor(2) as pool:
        assert concurrency.call_all(pool, lambda _: call_guard.check(), range(3)) == [None] * 3


def test_waiting_calls_start_in_the_order_of_their_rank():
    turns, order = concurrency.CallQueue(1), []

    def call(rank):
        with call_guard.before_each_call(None, rank), turns:
            order.append(rank)
    ranks = [call_guard.Rank(value) for value in (2, 1, 0, 1, 0)]
    with futures.ThreadPoolExecutor(len(ranks)) as pool, turns:
        for place, rank in enumerate(ranks, 1):
            pool.submit(call, rank)
            waiting.until(lambda place=place: turns.waiting == place)
    assert order == sorted(ranks)


def test_a_caller_that_lost_its_claim_leaves_its_place_to_others():
    turns = concurrency.CallQueue(1)
    for _ in range(3):
        with call_guard.before_each_call(refuse), pytest.raises(Gone), turns:
            pass
    with turns:
        assert turns.waiting == 0


def test_a_caller_that_lost_its_claim_stops_waiting():
    turns = concurrency.CallQueue(1, poll_seconds=0.01)

    def wait():
        with call_guard.before_each_call(refuse), turns:
            pass
    with futures.ThreadPoolExecutor(1) as pool, turns:
        with pytest.raises(Gone):
            pool.submit(wait).result(waiting.SECONDS)
        assert turns.waiting == 0
    with turns:
        pass


class Reader(abc.ABC):
    """An interface that records its calls, all of which fail."""

    trust_id = None

    def __init__(self):
        self.calls = []

    @abc.abstractmethod
    def read(self):
        """Read something."""

    @abc.abstractmethod
    def change(self):
        """Change something."""


class Failing(Reader):
    service = 'Heat'

    def read(self):
        self.calls.append('read')
        raise OSError('The service is down.')

    def change(self):
        self.calls.append('change')
        raise OSError('The service is down.')


Reader.read.reads_only = True


@pytest.mark.parametrize(('seconds', 'times'), [(60, 3), (0, 1)])
def test_a_read_is_repeated_only_if_it_failed_quickly(seconds, times):
    found = call_guard.guarded(
        Failing, (OSError,), lambda _face, error: errors.CloudUnreachable(
            service='Heat', reason=str(error)), 3, seconds)()
    unreachable = call_guard.CALLS.labels('Heat', call_guard.UNREACHABLE)._value
    before = unreachable.get()
    for call in (found.read, found.change):
        with pytest.raises(errors.CloudUnreachable, match='The service is down'):
            call()
    assert found.calls == ['read'] * times + ['change']
    assert unreachable.get() == before + 2


def test_a_caller_that_lost_its_claim_does_not_call_the_real_cloud(configured, service):
    url, in_flight = service
    calls = session.Sessions(configured('[keystone]\nauth_type = none')).as_service('nova')
    with call_guard.before_each_call(refuse), pytest.raises(Gone):
        calls.get(url, authenticated=False)
    assert in_flight.most == 0
    assert calls.get(url, authenticated=False).status_code == 204
