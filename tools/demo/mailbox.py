# SPDX-License-Identifier: Apache-2.0
"""A mailbox on loopback, which keeps what an SMTP client sends to it."""
import contextlib
import email
from email import policy
import socketserver
import threading


class _Handler(socketserver.StreamRequestHandler):
    """Speaks as much of RFC 5321 as a client needs to deliver a mail."""

    def handle(self):
        self._say('220 the laboratory')
        for line in self.rfile:
            verb = line[:4].upper()
            if verb == b'DATA':
                self._say('354 go on')
                self._take()
            elif verb == b'QUIT':
                self._say('221 bye')
                return
            self._say('250 the laboratory')

    def _take(self):
        lines = []
        while (line := self.rfile.readline()) != b'.\r\n':
            # A dot at the beginning of a line was doubled by the client.
            lines.append(line[1:] if line.startswith(b'..') else line)
        self.server.mails.append(email.message_from_bytes(b''.join(lines), policy=policy.default))

    def _say(self, text):
        self.wfile.write(f'{text}\r\n'.encode())


@contextlib.contextmanager
def opened():
    """Receive mail during a block; yields (the port, the list of mails, which grows)."""
    with socketserver.ThreadingTCPServer(('127.0.0.1', 0), _Handler) as server:
        server.daemon_threads, server.mails = True, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1], server.mails
        finally:
            server.shutdown()
