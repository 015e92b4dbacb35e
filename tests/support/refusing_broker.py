# SPDX-License-Identifier: Apache-2.0
"""A broker that refuses each login, as RabbitMQ does with a wrong password."""
import socketserver
import struct

from support import loopback

_REFUSED = (b'ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details '
            b'see the broker logfile.')


def _frame(method, payload):
    body = struct.pack('>HH', *method) + payload
    return struct.pack('>BHL', 1, 0, len(body)) + body + b'\xce'


def _long(text):
    return struct.pack('>L', len(text)) + text


# Connection.Start with no properties, and Connection.Close with code 403 (AMQP 0-9-1).
_START = _frame((10, 10), b'\x00\x09' + _long(b'') + _long(b'PLAIN AMQPLAIN') + _long(b'en_US'))
_CLOSE = _frame((10, 50), struct.pack('>HB', 403, len(_REFUSED)) + _REFUSED
                + struct.pack('>HH', 0, 0))


class _Refuse(socketserver.BaseRequestHandler):
    def handle(self):
        if self.request.recv(8)[:4] != b'AMQP':
            return
        self.request.sendall(_START)
        if self.request.recv(65536):
            self.request.sendall(_CLOSE)
            # Until the client has read it and says so.
            self.request.recv(65536)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


def listening():
    """Refuse logins in a block, which gets the port on loopback."""
    return loopback.serving(_Server(('127.0.0.1', 0), _Refuse))
