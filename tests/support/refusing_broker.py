# SPDX-License-Identifier: Apache-2.0
"""A broker that refuses each login, as RabbitMQ does with a wrong password or virtual host."""
import functools
import socketserver
import struct

from support import loopback

#: (reply code, text) of a wrong password.
PASSWORD = (403, b'ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For '
                 b'details see the broker logfile.')
#: (reply code, text) of virtual hosts that do not exist, and that the user may not use.
VIRTUAL_HOSTS = ((530, b'NOT_ALLOWED - vhost unknown not found'),
                 (530, b"NOT_ALLOWED - access to vhost 'unknown' refused for user 'climate'"))


def _frame(method, payload):
    body = struct.pack('>HH', *method) + payload
    return struct.pack('>BHL', 1, 0, len(body)) + body + b'\xce'


def _long(text):
    return struct.pack('>L', len(text)) + text


# Connection.Start with no properties (AMQP 0-9-1).
_START = _frame((10, 10), b'\x00\x09' + _long(b'') + _long(b'PLAIN AMQPLAIN') + _long(b'en_US'))


def _close(code, text):
    return _frame((10, 50), struct.pack('>HB', code, len(text)) + text + struct.pack('>HH', 0, 0))


class _Refuse(socketserver.BaseRequestHandler):
    def __init__(self, refusal, *args):
        self._refusal = refusal
        super().__init__(*args)

    def handle(self):
        if self.request.recv(8)[:4] != b'AMQP':
            return
        self.request.sendall(_START)
        if self.request.recv(65536):
            self.request.sendall(_close(*self._refusal))
            # Until the client has read it and says so.
            self.request.recv(65536)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


def listening(refusal=PASSWORD):
    """Refuse logins in a block, which gets the port on loopback."""
    return loopback.serving(_Server(('127.0.0.1', 0), functools.partial(_Refuse, refusal)))
