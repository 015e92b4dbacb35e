# SPDX-License-Identifier: Apache-2.0
"""Small servers on loopback, which answer while a test runs, and names that lead there."""
import contextlib
import socket
import threading


@contextlib.contextmanager
def serving(server):
    """Run a server of socketserver in the block; yield its port."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def listens(port):
    """Return whether something accepts connections on a port of loopback."""
    with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), 5):
        return True
    return False


def resolve(host, port, type):
    """Look up any name: it leads to loopback."""
    return [(socket.AF_INET, type, 6, '', ('127.0.0.1', port))]
