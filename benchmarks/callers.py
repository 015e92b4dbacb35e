# SPDX-License-Identifier: Apache-2.0
"""Callers of the REST interface that leave the processor to the service."""
import concurrent.futures
import json
import socket
import time

_TOKEN = 'demo:demo:admin,member,reader'
_HEADERS = ('Host: 127.0.0.1\r\nX-Auth-Token: {}\r\n'
            'OpenStack-API-Version: reservation 1.1\r\n')
_LIMIT_SECONDS = 60


class Caller:
    """One connection, which is kept open; requests are asked one after the other.

    The libraries for HTTP spend more of the processor on a request than Climate on a short answer.
    """

    def __init__(self, port, token=_TOKEN):
        self._headers = _HEADERS.format(token).encode()
        self._socket = socket.create_connection(('127.0.0.1', port), _LIMIT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile('rb')

    def call(self, method, path, body=b''):
        """(status, document) of the answer; `body` is JSON, as bytes."""
        self._socket.sendall(
            b'%s %s HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s'
            % (method.encode(), path.encode(), self._headers, len(body), body))
        status = int(self._answers.readline().split()[1])
        length = 0
        while (line := self._answers.readline().lower()) not in (b'\r\n', b''):
            if line.startswith(b'content-length:'):
                length = int(line.partition(b':')[2])
        return status, self._answers.read(length)

    def timed(self, method, path, body=b''):
        """(milliseconds, status, document)."""
        began = time.perf_counter()
        status, document = self.call(method, path, body)
        return (time.perf_counter() - began) * 1000, status, document

    def close(self):
        self._answers.close()
        self._socket.close()


def many(port, clients, requests):
    """Return what Callers that share the work get: (milliseconds, status, document) of each.

    :param requests: [(method, path, body)], asked in this order.
    :returns: (the answers in no order, how many seconds all of it took).
    """
    waiting = iter(requests)

    def work(caller):
        return [caller.timed(*request) for request in waiting]

    callers = [Caller(port) for _ in range(clients)]
    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        began = time.monotonic()
        answers = [answer for heard in pool.map(work, callers) for answer in heard]
        seconds = time.monotonic() - began
    for caller in callers:
        caller.close()
    return answers, seconds


def body(**fields):
    """JSON, as bytes."""
    return json.dumps(fields).encode()
