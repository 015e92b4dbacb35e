# SPDX-License-Identifier: Apache-2.0
"""The share of the console's threads that the requests of one user may occupy.

Requests wait for climate-api or Keystone in a thread. Without shares, the slow requests of one user
would keep all other users from the login page.
"""
import collections
import threading

import flask
import werkzeug.exceptions as http

from climate.console import guards

_RETRY_SECONDS = 1
# The routes that wait for no other service.
_QUICK = frozenset((*guards.OPEN, 'login.show')) - {'login.submit'}
# All logins share one share, because their users are unknown.
_LOGIN = ''


class Shares:
    """Counts the requests in progress that wait for other services, by user.

    One user gets a quarter of the threads. An eighth is kept for requests that wait for nothing.

    :param threads: the number of threads of the console.
    """

    def __init__(self, threads):
        self._each = max(1, threads // 4)
        self._all = threads - max(1, threads // 8)
        self._busy = collections.Counter()
        self._lock = threading.Lock()

    def take(self, user_id):
        """Take a thread for a user; return whether one was available."""
        with self._lock:
            if self._busy[user_id] >= self._each or self._busy.total() >= self._all:
                return False
            self._busy[user_id] += 1
            return True

    def release(self, user_id):
        """Give a thread back."""
        with self._lock:
            self._busy[user_id] -= 1
            # Without this, the counter would grow with the number of users.
            self._busy += collections.Counter()


def install(app, threads):
    """Refuse requests of a Flask application that exceed the share of their user with 429."""
    shares = Shares(threads)

    @app.before_request
    def _take():
        if flask.request.endpoint in _QUICK:
            return
        user_id = flask.session.get('identity', {}).get('user_id', _LOGIN)
        if not shares.take(user_id):
            raise http.TooManyRequests('guard.busy', retry_after=_RETRY_SECONDS)
        flask.g.share = user_id

    @app.teardown_request
    def _release(_error):
        user_id = flask.g.pop('share', None)
        if user_id is not None:
            shares.release(user_id)
