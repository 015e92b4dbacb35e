# SPDX-License-Identifier: Apache-2.0
"""Start, find and stop the cloud's processes, each by its own pid file and session.

Every process leads a session of its own. What it forks stays in that session and is stopped with
it; nothing is ever looked for by name.
"""
import os
import pathlib
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from tools.cloud import commands
from tools.cloud import settings
from tools.cloud.inside import pidfile


def _file(cloud, name):
    return cloud.home_of(name) / 'run' / f'{name}.pid'


def _output(cloud, name):
    return cloud.home_of(name) / 'log' / f'{name}.out'


def names(cloud):
    """All processes that were started and not stopped, also those that died."""
    return sorted({path.stem for run in (cloud.run, cloud.home / 'run')
                   for path in run.glob('*.pid')})


def pid_of(cloud, name):
    """The pid of a running process of the cloud; None when it does not run."""
    return pidfile.alive(_file(cloud, name))


def members(pid):
    """The pids of every process in the session that `pid` leads or led."""
    found = [int(path.name) for path in pathlib.Path('/proc').glob('[0-9]*')]
    # Of the fields from the state on, the fourth is the session.
    return [other for other in found if pidfile.stat(other)[3:4] == [str(pid)]]


def start(cloud, name, command, env=None):
    """Start a process unless it runs already; returns at once."""
    if pid_of(cloud, name):
        return
    with _output(cloud, name).open('ab') as output:
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
            stderr=output, env=commands.environment(cloud) | (env or {}), cwd=cloud.run,
            start_new_session=True)
    pidfile.write(_file(cloud, name), process.pid)


def stop(cloud, name, grace_seconds=10):
    """Ask a process to end, then end all that is left of its session. Harmless when repeated."""
    noted = pidfile.read(_file(cloud, name))
    if noted and pidfile.began(noted[0]) in (noted[1], None):
        pid = noted[0]
        if pid_of(cloud, name):
            _send(pid, signal.SIGTERM)
        deadline = time.monotonic() + grace_seconds
        while pid_of(cloud, name) and time.monotonic() < deadline:
            time.sleep(0.05)
        for member in members(pid):
            _send(member, signal.SIGKILL)
        while any(pidfile.began(member) for member in members(pid)):
            time.sleep(0.05)
    _file(cloud, name).unlink(missing_ok=True)


def _send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # it went by itself


def refuse_taken_ports(cloud, listeners):
    """Make sure that each process of the cloud runs or finds its port free.

    :param listeners: pairs (process, port).
    :raises CloudError: somebody else has one of the ports.
    """
    for name, port in listeners:
        if not pid_of(cloud, name):
            _refuse_taken_port(name, port)


def _refuse_taken_port(name, port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(('127.0.0.1', port))
        except OSError as error:
            raise settings.CloudError(
                f'Port {port}, which {name} needs, is taken ({error.strerror}). Stop the '
                f'program that listens there; "ss -ltnp" names it.') from error


def wait_for_port(cloud, name, port):
    """Wait until a process listens.

    :raises CloudError: it ended, or does not listen in time.
    """
    def listens():
        _check_alive(cloud, name)
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex(('127.0.0.1', port)) == 0
    commands.wait(listens, f'{name} to listen on port {port}; see {cloud.log}')


def wait_for_answer(cloud, name, url):
    """Wait until an API answers with anything below 500.

    :raises CloudError: its process ended, or it does not answer in time.
    """
    def answered():
        _check_alive(cloud, name)
        return answers(url)
    commands.wait(answered, f'{name} to answer at {url}; see {cloud.log}')


def answers(url):
    """Return whether a GET is answered below 500, without any proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(url, timeout=5).close()
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False
    return True


def _check_alive(cloud, name):
    if not pid_of(cloud, name):
        raise settings.CloudError(
            f'{name} ended. {commands.last_lines(_output(cloud, name))}')


def memory_mib(pid):
    """Memory of a process's session in MiB, shared pages counted by share."""
    total = 0
    for member in members(pid):
        try:
            rollup = pathlib.Path(f'/proc/{member}/smaps_rollup').read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in rollup.splitlines()
                     if line.startswith('Pss:'))
    return total / 1024
