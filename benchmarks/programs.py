# SPDX-License-Identifier: Apache-2.0
"""Climate's own programs, started for a while on a database that was filled before.

The cloud does not know the hosts in it, so nobody compares the two.
"""
import contextlib
import dataclasses
import itertools
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

_LIMIT_SECONDS = 180
_CHECKOUT = pathlib.Path(__file__).resolve().parents[1]
# Without the extra [eventlet], which the tests have and few others: where it is installed it is
# imported, by futurist, whether it is used or not.
_MAIN = ('import sys; sys.modules["eventlet"] = None; from climate.cmd import {0}; '
         'sys.exit({0}.main())')
_CONF = """\
[DEFAULT]
plugins = physical:host
{more}
[api]
port = {port}
auth_strategy = noauth
[cloud]
driver = simulated
[simulated]
state = {folder}/cloud.sqlite
[database]
connection = {url}
[manager]
minutes_before_end_lease = 0
audit_interval_seconds = 0
refresh_seconds = 0
"""


@dataclasses.dataclass(frozen=True)
class Program:
    """A program that runs.

    :ivar ready_seconds: how long it took from its start until it was ready.
    """

    pid: int
    ready_seconds: float

    def memory_mb(self):
        """Return the memory of the program and of its children, in MB."""
        return (_memory_kb(self.pid, 'Rss') + sum(
            _memory_kb(pid, 'Private_Clean', 'Private_Dirty') for pid in _below(self.pid))) / 1024


def configured(folder, url, more=''):
    """(the path of a configuration for these programs, the port of its API).

    :param more: lines of the group [DEFAULT].
    """
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    path = pathlib.Path(folder) / 'climate.conf'
    path.write_text(_CONF.format(folder=folder, port=port, more=more,
                                 url=url))
    return path, port


@contextlib.contextmanager
def running(name, path, folder, is_ready, processor=None):
    """A Program, by the name of its module in `climate.cmd`, from when it is ready to the end.

    :param is_ready: says so of what it has written to its log and its output.
    :param processor: the number of the only one that it runs on, if any.
    """
    written = pathlib.Path(folder) / f'{name}-{time.monotonic_ns()}.log'
    environ = {**os.environ, 'PYTHONPATH': str(_CHECKOUT), 'CLIMATE_STATE': str(folder),
               'CLIMATE_STANDALONE_FILE': f'{folder}/standalone.json'}
    with written.open('w') as output:
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, '-c', _MAIN.format(name), '--config-file', str(path),
             '--log-file', str(written)], stdout=output, stderr=output, env=environ,
            cwd=folder, start_new_session=True)
        if processor is not None:
            os.sched_setaffinity(process.pid, {processor})
        try:
            while not is_ready(written.read_text()):
                assert process.poll() is None, f'{name} ended: {written.read_text()[-2000:]}'
                assert time.monotonic() < began + _LIMIT_SECONDS, f'{name} is not ready in time.'
                time.sleep(0.01)
            yield Program(process.pid, time.monotonic() - began)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                # Of the group that this one began: nothing else is in it.
                os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def standalone(folder, url, groups=''):
    """(the Program of API and manager in one process, its port).

    :param groups: more groups of options, as text.
    """
    path, port = configured(folder, url)
    path.write_text(path.read_text() + groups)
    with running('standalone', path, folder, lambda text: 'Climate listens' in text) as program:
        yield program, port


@contextlib.contextmanager
def manager(folder, path, processor=None):
    """The Program of a manager."""
    with running('manager', path, folder, lambda text: ': ready' in text, processor) as program:
        yield program


@contextlib.contextmanager
def api(folder, path, port, processor=None):
    """The Program of an API, which listens at that port."""
    with running('api', path, folder, lambda _text: _listens(port), processor) as program:
        yield program


@contextlib.contextmanager
def distributed(folder, url, transport, managers=1):
    """(the Program of an API, its port), which reaches a number of managers over the bus.

    Each is on one processor, as scaling.rst advises.
    """
    path, port = configured(folder, url, f'transport_url = {transport}')
    processors = itertools.cycle(sorted(os.sched_getaffinity(0)))
    with contextlib.ExitStack() as stack:
        for _ in range(managers):
            stack.enter_context(manager(folder, path, next(processors)))
        yield stack.enter_context(api(folder, path, port, next(processors))), port


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(('127.0.0.1', port)) == 0


def _memory_kb(pid, *names):
    lines = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.partition(':')[0] in names)


def _below(pid):
    """The ids of the processes that a process has started, and that those have."""
    for each in pathlib.Path(f'/proc/{pid}/task').glob('*/children'):
        for child in each.read_text().split():
            yield int(child)
            yield from _below(int(child))
