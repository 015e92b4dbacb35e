# SPDX-License-Identifier: Apache-2.0
"""The share of the console's threads that the requests of one user may occupy."""
import threading

import console_world
import pytest
from support import simultaneous

from climate.console import app
from climate.console import login
from climate.console import shares

THREADS = 8


class SlowLogin:
    """A login of any user, whose projects are listed only once `answer` is set."""

    asks = True

    def __init__(self, url):
        self._url = url
        self.answer = threading.Event()
        self.waiting = threading.Semaphore(0)

    def log_in(self, form):
        return console_world.an_identity(self._url, user=form['username'])

    def projects(self, identity):
        self.waiting.release()
        assert self.answer.wait(60)
        return [login.Project('demo', 'demo')]


@pytest.fixture
def slow(url):
    return SlowLogin(url)


@pytest.fixture
def console(conf, slow):
    conf.set_override('threads', THREADS, group='console')
    return app.build(conf, console_world.a_region(), slow)


def logged_in(console, user):
    client = console.test_client()
    client.post('/login', data={'username': user})
    return client


def test_slow_requests_of_one_user_keep_nobody_else_away(console, slow):
    eve, bob = logged_in(console, 'eve'), logged_in(console, 'bob')

    def others():
        for _ in range(THREADS // 4):
            assert slow.waiting.acquire(timeout=60)
        refused = eve.get('/projects')
        assert (refused.status_code, refused.headers['Retry-After']) == (429, '1')
        assert 'still in progress' in refused.text
        script = eve.get('/rest/session')
        assert (script.status_code, 'error_message' in script.json) == (429, True)
        assert eve.get('/login').status_code == bob.get('/login').status_code == 200
        assert bob.get('/rest/session').status_code == 200
        slow.answer.set()

    clients = [logged_in(console, 'eve') for _ in range(THREADS // 4)]
    answers = simultaneous.at_once(*(lambda each=each: each.get('/projects').status_code
                                     for each in clients), others)
    assert answers[:-1] == [200] * len(clients)
    assert eve.get('/projects').status_code == 200


def test_all_users_together_leave_threads_for_the_login_page():
    taken = shares.Shares(16)
    users = [user for user in 'abcdef' for _ in range(16) if taken.take(user)]
    assert len(users) == 14
    assert {users.count(user) for user in 'abc'} == {4}
    for user in users:
        taken.release(user)
    assert taken.take('g')


def test_a_console_with_two_threads_serves_one_slow_request():
    taken = shares.Shares(2)
    assert taken.take('a') and not taken.take('b')
