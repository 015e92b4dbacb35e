# SPDX-License-Identifier: Apache-2.0
"""Receivers of webhooks on loopback: HTTPS servers in a process of their own, on one port each.

They keep connections open, and do as little as possible, so that they leave the processor to the
managers.
"""
import contextlib
import json
import multiprocessing
import pathlib
import socket
import ssl
import threading
import time

import trustme

NAME = 'localhost'
#: What a receiver does with a request: accept it, fail, redirect, or never answer.
OK, FAILS, REDIRECTS, HANGS = (
    b'HTTP/1.1 204 No Content\r\n\r\n',
    b'HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n',
    b'HTTP/1.1 302 Moved\r\nLocation: https://localhost:1/\r\nContent-Length: 0\r\n\r\n',
    b'')
_FORKS = multiprocessing.get_context('spawn')


class Receivers:
    """The running receivers.

    :ivar ports: their ports, in the order of their behaviours.
    """

    def __init__(self, ports, pipe):
        self.ports = ports
        self._pipe = pipe

    def arrivals(self):
        """Return the accepted requests, oldest first, as (arrival, number of receiver, body)."""
        self._pipe.send(None)
        return [(at, number, json.loads(body)) for at, number, body in self._pipe.recv()]

    def count(self):
        """Return the number of accepted requests."""
        self._pipe.send('count')
        return self._pipe.recv()


@contextlib.contextmanager
def running(folder, behaviours):
    """Yield (Receivers with one of the behaviours each, the path of the authority's file)."""
    authority = trustme.CA()
    certificate = authority.issue_cert(NAME)
    ca_file, pem = pathlib.Path(folder) / 'ca.pem', pathlib.Path(folder) / 'server.pem'
    authority.cert_pem.write_to_path(ca_file)
    certificate.private_key_and_cert_chain_pem.write_to_path(pem)
    own, other = _FORKS.Pipe()
    process = _FORKS.Process(target=_work, args=(other, str(pem), behaviours), daemon=True)
    process.start()
    try:
        yield Receivers(own.recv(), own), str(ca_file)
    finally:
        process.kill()
        process.join()


def _work(pipe, pem, behaviours):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    accepted, ports = [], []
    for number, answer in enumerate(behaviours):
        listener = socket.create_server(('127.0.0.1', 0), backlog=256)
        ports.append(listener.getsockname()[1])
        threading.Thread(target=_listen, args=(listener, context, number, answer, accepted),
                         daemon=True).start()
    pipe.send(ports)
    while True:
        question = pipe.recv()
        pipe.send(len(accepted) if question else list(accepted))


def _listen(listener, context, number, answer, accepted):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=_serve, args=(client, context, number, answer, accepted),
                         daemon=True).start()


def _serve(client, context, number, answer, accepted):
    with contextlib.suppress(OSError), client, context.wrap_socket(
            client, server_side=True) as secured, secured.makefile('rb') as lines:
        secured.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while lines.readline():
            length = 0
            while (line := lines.readline().lower()) not in (b'\r\n', b''):
                if line.startswith(b'content-length:'):
                    length = int(line.partition(b':')[2])
            body = lines.read(length)
            if answer == OK:
                accepted.append((time.time(), number, body))
            if not answer:
                time.sleep(3600)
            secured.sendall(answer)
