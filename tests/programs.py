# SPDX-License-Identifier: Apache-2.0
"""Programs that tests start and end."""
import contextlib
import subprocess
import time

import requests


@contextlib.contextmanager
def listening(*command, port):
    """Run a program that answers GET /healthcheck on a port; yields its process.

    :raises AssertionError: it ended, or did not answer within a minute.
    """
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not _answers(port):
            assert process.poll() is None and time.monotonic() < deadline, command
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _answers(port):
    with contextlib.suppress(requests.ConnectionError):
        requests.get(f'http://127.0.0.1:{port}/healthcheck', timeout=5)
        return True
    return False
