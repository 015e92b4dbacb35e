# SPDX-License-Identifier: Apache-2.0
"""Serve the WSGI application of one module on loopback: wsgi_runner.py MODULE PORT [OPTION...]

The options are for the module, which may read its configuration from them.
"""
import importlib
import os
import signal
import sys

import waitress

THREADS = 8


def serve(module, port, *options):
    """Answer requests until SIGTERM, in one process with a pool of native threads."""
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))
    sys.argv = [module, *options]  # the services read their own options from it
    application = importlib.import_module(module).application
    waitress.serve(application, listen=f'127.0.0.1:{port}', threads=THREADS,
                   channel_timeout=300, connection_limit=500, ident=None)


if __name__ == '__main__':
    serve(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
