# SPDX-License-Identifier: Apache-2.0
"""HTTP connections whose name lookup and traffic end at a deadline, however slow the server is."""
import contextlib
import http.client
import socket
import ssl
import threading
import time
from typing import Any

#: The default ports of the schemes of URLs.
PORTS = {'https': 443, 'http': 80}
_SHORTEST_SECONDS = 0.1


class LookupFailed(Exception):
    """The name of a host could not be looked up. The text is the reason, as a sentence."""


class Connection(http.client.HTTPConnection):
    """A connection to one IP address, with the name of the host in the header and in TLS.

    :param context: an SSLContext; None: without TLS.
    :ivar aborted: whether `abort` ended the connection.
    """

    def __init__(self, host: str, port: int, timeout: float, address: str,
                 context: ssl.SSLContext | None = None) -> None:
        super().__init__(host, port, timeout=timeout)
        self._address = address
        self._tls = context
        self.aborted = False
        self._open: socket.socket | None = None
        # http.client leaves this port out of the header Host.
        self.default_port = PORTS['https' if context else 'http']

    def connect(self) -> None:
        # http.client forgets its socket while the body of an answer is being read.
        self.sock = self._open = socket.create_connection((self._address, self.port), self.timeout)
        # Otherwise the last packet of a long request would wait for the receipt of the others.
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._tls is not None:
            # The handshake is separate, so that `abort` can already close the socket.
            self.sock = self._open = self._tls.wrap_socket(
                self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock.do_handshake()
        if self.aborted:
            raise TimeoutError('the time is over')

    def abort(self) -> None:
        """End the connection, even while another thread is waiting for it."""
        self.aborted = True
        if self._open is not None:
            # The TLS socket's own method would change the object that the other thread uses.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._open, socket.SHUT_RDWR)


def left(deadline: float) -> float:
    """Return the seconds until a deadline of ``time.monotonic``, at least a tenth of a second."""
    return max(deadline - time.monotonic(), _SHORTEST_SECONDS)


@contextlib.contextmanager
def aborting(deadline: float, connection: Connection) -> Any:
    """Context manager: abort the connection at the deadline, and leave it open after the block.

    The timeout of a socket applies to each read. Without this, a server that sends single bytes
    would hold the connection for ever.
    """
    timer = threading.Timer(left(deadline), connection.abort)
    timer.daemon = True
    timer.start()
    try:
        yield connection
    finally:
        timer.cancel()


@contextlib.contextmanager
def until(deadline: float, connection: Connection) -> Any:
    """Context manager: abort the connection at the deadline, and close it after the block."""
    try:
        with aborting(deadline, connection):
            yield connection
    finally:
        connection.close()


def addresses(host: str | None, port: int, deadline: float, resolve: Any = None) -> list[str]:
    """Return the IP addresses of a host, in the order of the resolver.

    :param resolve: a function such as ``socket.getaddrinfo``, which is the default.
    :raises LookupFailed: the lookup took too long, or the name is unknown.
    """
    results: list[Any] = []

    def work() -> None:
        try:
            results.append((resolve or socket.getaddrinfo)(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            results.append(error)
    thread = threading.Thread(target=work, daemon=True, name='resolve')
    thread.start()
    thread.join(left(deadline))
    if not results:
        raise LookupFailed('could not be looked up in time')
    if isinstance(results[0], Exception):
        raise LookupFailed(f'is not known: {results[0]}') from results[0]
    return [address for *_, (address, *_) in results[0]]
