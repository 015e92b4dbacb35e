# SPDX-License-Identifier: Apache-2.0
"""Programs that run while a block does, each with its output in a file."""
import contextlib
import socket
import subprocess
import time

_STOP_SECONDS = 30
_WAIT_SECONDS = 60


class Failed(Exception):
    """A program did not do its work; the message ends with what it wrote."""


def free_port():
    """Return a port of loopback on which nobody listens."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def done(folder, name, command):
    """Run a program to its end.

    :raises Failed: its exit code is not 0.
    """
    with (folder / f'{name}.log').open('w') as log:
        code = subprocess.run([str(word) for word in command], cwd=folder, stdout=log,
                              stderr=log, stdin=subprocess.DEVNULL, check=False).returncode
    if code:
        raise Failed(f'{name} ended with {code}: {_end(folder, name)}')


@contextlib.contextmanager
def running(folder, name, command):
    """Run a program during a block; yields a function that waits for an answer of it.

    :raises Failed: (from that function) the program ended, or the answer did not come.
    """
    with (folder / f'{name}.log').open('w') as log, subprocess.Popen(
            [str(word) for word in command], cwd=folder, stdout=log, stderr=log,
            stdin=subprocess.DEVNULL) as process:

        def wait(question):
            give_up = time.monotonic() + _WAIT_SECONDS
            while not (answer := question()):
                if process.poll() is not None or time.monotonic() > give_up:
                    raise Failed(f'{name} did not do its work: {_end(folder, name)}')
                time.sleep(0.1)
            return answer
        try:
            yield wait
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _end(folder, name):
    return (folder / f'{name}.log').read_text()[-2000:]
