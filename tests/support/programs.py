# SPDX-License-Identifier: Apache-2.0
"""Programs that tests start and end."""
import contextlib
import os
import subprocess

import requests

from support import waiting


@contextlib.contextmanager
def listening(*command, port, env=None, log=os.devnull):
    """Run a program that answers GET /healthcheck on a port, be it with 404; yields its process.

    :param env: its environment; None: ours.
    :param log: the path of the file that it writes its output to.
    :raises AssertionError: it ended, or did not answer within a minute.
    """
    with open(log, 'wb') as written:
        process = subprocess.Popen([*map(str, command)], env=env, stdout=written, stderr=written)
    try:
        waiting.until(lambda: process.poll() is not None or _answers(port), str(command))
        assert process.poll() is None, command
        yield process
    finally:
        process.terminate()
        process.wait(waiting.SECONDS)


def _answers(port):
    with contextlib.suppress(requests.ConnectionError, requests.Timeout):
        requests.get(f'http://127.0.0.1:{port}/healthcheck', timeout=5)
        return True
    return False
