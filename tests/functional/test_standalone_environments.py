# SPDX-License-Identifier: Apache-2.0
"""The standalone Climate and the first five commands of the README work in any environment."""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(sys.executable).parent
# Nobody listens there.
DEAD = 'http://127.0.0.1:9'

_PROXIES = ('http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY')
#: {name: (variables that are set, variables that are removed)}. Several at a time, because each
#: start takes seconds.
ENVIRONMENTS = {
    'IPv6, proxy, latin-1': (
        {'OS_API__HOST': '::1', 'OS_CONSOLE__HOST': '::1', 'PYTHONIOENCODING': 'latin-1',
         **dict.fromkeys(_PROXIES, DEAD)}, ('no_proxy', 'NO_PROXY')),
    'no home, ASCII': (
        {'LC_ALL': 'POSIX', 'PYTHONCOERCECLOCALE': '0', 'PYTHONUTF8': '0'},
        ('HOME', 'XDG_STATE_HOME')),
    'home that cannot be written, odd terminal': (
        {'HOME': '/proc/1', 'TERM': 'dumb', 'COLUMNS': '0', 'LINES': '0',
         'TZ': 'Pacific/Chatham', **dict.fromkeys(_PROXIES, '')}, ('XDG_STATE_HOME',)),
}


@contextlib.contextmanager
def standalone(folder, env):
    """Run a Climate of its own; yield the text that it printed."""
    host = env.get('OS_API__HOST', '127.0.0.1')
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [BIN / 'climate-standalone'], env={**env, 'OS_API__PORT': str(port)}, cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        lines = []
        for line in process.stdout:
            lines.append(line.decode('utf-8', 'replace'))
            if lines[-1].startswith('Ctrl-C'):
                break
        yield ''.join(lines)
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        sys.stderr.write(err.decode('utf-8', 'replace'))
    assert process.returncode == 0


@pytest.mark.proof
@pytest.mark.parametrize('name', sorted(ENVIRONMENTS))
def test_the_commands_of_the_readme_work(tmp_path, name):
    more, less = ENVIRONMENTS[name]
    if 'IPv6' in name and not socket.has_ipv6:
        pytest.skip('This machine has no IPv6.')
    folder = tmp_path / ('d\u00e4ten' if 'ASCII' not in name else 'data')
    folder.mkdir()
    env = {key: value for key, value in os.environ.items()
           if not key.startswith('OS_') and key not in less}
    env |= {'CLIMATE_STATE': str(folder), **more}
    if 'home' not in name:
        env['CLIMATE_STANDALONE_FILE'] = str(folder / 'note.json')
    commands = re.findall(r'^    \.venv/bin/(climate .*)$', (ROOT / 'README.rst').read_text(),
                          re.MULTILINE)
    with standalone(folder, env) as printed:
        env |= dict(re.findall(r'^  export (CLIMATE_STANDALONE_FILE)=(.*)$', printed,
                               re.MULTILINE))
        for command in commands:
            done = subprocess.run(f'{BIN}/{command}', shell=True, env=env, cwd=folder,
                                  capture_output=True, timeout=60, check=False)
            err = done.stderr.decode('utf-8', 'replace')
            assert done.returncode == 0, f'{command}: {err}'
            assert 'Traceback' not in err
