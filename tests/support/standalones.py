# SPDX-License-Identifier: Apache-2.0
"""A running standalone Climate of a test, as the program of the README."""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

BIN = pathlib.Path(sys.executable).parent


@contextlib.contextmanager
def running(folder, note=None):
    """A Climate of its own; gives the environment that finds it, and the commands it prints."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    config = folder / 'standalone.conf'
    config.write_text(f'[api]\nport = {port}\n')
    env = {name: value for name, value in os.environ.items() if not name.startswith('OS_')}
    env |= {'CLIMATE_STATE': str(folder),
            'CLIMATE_STANDALONE_FILE': str(note or folder / 'note.json')}
    process = subprocess.Popen([BIN / 'climate-standalone', '--config-file', config], env=env,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        printed = []
        for line in process.stdout:
            printed += re.findall(r'^  \S*(climate .*)$', line)
            if line.startswith('Ctrl-C'):
                break
        yield env, printed
    finally:
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 0, err
