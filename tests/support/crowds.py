# SPDX-License-Identifier: Apache-2.0
"""Many callers who ask at the same moment over REST."""
import collections
import concurrent.futures
import threading

import webtest

from support import builders


class Crowd:
    """Callers, each on a thread of its own, who ask at the same moment."""

    def __init__(self, service, count):
        self._count = count
        self._clients = [webtest.TestApp(service) for _ in range(count)]
        self._start = threading.Barrier(count)
        self._threads = concurrent.futures.ThreadPoolExecutor(count)

    def ask(self, method, path, bodies, headers=None):
        """The answers, whatever their status, in the order of `bodies`, one for each caller."""
        return list(self._threads.map(self._ask, self._clients, [method] * self._count,
                                      [path] * self._count, bodies,
                                      headers or [{}] * self._count))

    def put_each(self, paths, body, headers):
        """The answers to a PUT of one body to several paths, one for each caller."""
        return list(self._threads.map(
            self._ask, self._clients, ['put_json'] * self._count, paths, [body] * self._count,
            [headers] * self._count))

    def leave(self):
        self._threads.shutdown()

    def _ask(self, client, method, path, body, headers):
        self._start.wait(timeout=60)
        return getattr(client, method)(path, body, expect_errors=True,
                                       headers={'X-Auth-Token': builders.DEMO, **headers})


def statuses(answers):
    return collections.Counter(answer.status_code for answer in answers)
