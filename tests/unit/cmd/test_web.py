# SPDX-License-Identifier: Apache-2.0
"""The web server finishes the requests in progress before it ends."""
import http.client
import queue
import threading

import pytest

from climate.cmd import web


class Site:
    """A server on free ports, whose application answers when it is allowed to."""

    def __init__(self, **more):
        self.begun, self.allowed = queue.Queue(), queue.Queue()
        self.server = web.WebServer(self._answer, listen='127.0.0.1:0 127.0.0.1:0', threads=4,
                                    **more)
        self.port = self.server.port
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()

    def _answer(self, environ, start_response):
        self.begun.put(environ['PATH_INFO'])
        self.allowed.get(timeout=60)
        start_response('200 OK', [('Content-Length', '4')])
        return [b'done']

    def connect(self):
        return http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)

    def stop(self, within_seconds=60):
        """Order the stop, and wait until the server does not listen any more."""
        closed = threading.Event()
        self.server.order(self.server.stop, within_seconds)
        # It is carried out after the listening socket was closed.
        self.server.order(lambda: self.server.order(closed.set))
        return closed


@pytest.fixture
def site():
    made = Site()
    yield made
    made.allowed.put(None)
    made.server.order(made.server.stop, 0)
    made.thread.join(60)
    assert not made.thread.is_alive()


def test_a_request_in_progress_is_answered_and_its_connection_is_closed(site):
    busy = site.connect()
    busy.request('GET', '/busy')
    assert site.begun.get(timeout=60) == '/busy'
    site.stop().wait(60)
    with pytest.raises(ConnectionRefusedError):
        site.connect().request('GET', '/later')
    site.allowed.put(None)
    answer = busy.getresponse()
    assert (answer.status, answer.read(), answer.headers['Connection']) == (200, b'done', 'close')
    site.thread.join(60)
    assert not site.thread.is_alive()


def test_an_open_connection_may_send_one_more_request(site):
    connection = site.connect()
    site.allowed.put(None)
    connection.request('GET', '/first')
    first = connection.getresponse()
    first.read()
    site.stop().wait(60)
    site.allowed.put(None)
    connection.request('POST', '/second')
    second = connection.getresponse()
    assert (first.headers['Connection'], second.status, second.headers['Connection']) == (
        None, 200, 'close')


def test_a_request_that_never_ends_is_given_up(site, caplog):
    busy = site.connect()
    busy.request('GET', '/busy')
    site.begun.get(timeout=60)
    site.stop(0)
    site.thread.join(60)
    assert not site.thread.is_alive()
    assert '1 requests were not finished in time' in caplog.text


def test_idle_connections_do_not_delay_the_end_for_long():
    site = Site(idle_seconds=0)
    connection = site.connect()
    connection.connect()
    site.stop().wait(60)
    site.thread.join(60)
    assert not site.thread.is_alive()
    assert connection.sock.recv(1) == b''


def test_an_order_to_a_closed_server_is_without_effect(site):
    site.stop(0)
    site.thread.join(60)
    # As by a second SIGTERM. The trigger of waitress has no descriptor any more.
    site.server.order(site.server.stop, 0)
    site.server.order(pytest.fail, 'carried out')
