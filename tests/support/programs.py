# SPDX-License-Identifier: Apache-2.0
"""Programs that tests start and end."""
import contextlib
from importlib import metadata
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import requests

from support import waiting

#: A process that has imported most of Climate forks itself for each run of a program: a new Python
#: needs two seconds for the imports. Sockets of eventlet cannot do that. There is one such process,
#: so what it imports does not depend on which test is the first.
FORKS = multiprocessing.get_context(
    'forkserver' if 'forkserver' in multiprocessing.get_all_start_methods() else 'spawn')
FORKS.set_forkserver_preload(['climate.cmd.db', 'climate.cmd.status', 'climate.cmd.audit',
                              'climate.cmd.manager_service'])


#: climate-db, which is killed just before a commit; commits are counted from 0.
_DIES_AT_A_COMMIT = '''
import os, signal
import sqlalchemy as sa
from climate.cmd import db
left = iter(range({commit}))
sa.event.listen(sa.Engine, 'commit', lambda _: next(left, None) is None and os.kill(
    os.getpid(), signal.SIGKILL))
db.main()
'''


def climate_db_that_dies(commit):
    """Return the first words of a command that runs climate-db, which is killed at a commit.

    :param commit: which commit, from 0; the process is killed just before it.
    """
    return sys.executable, '-c', _DIES_AT_A_COMMIT.format(commit=commit)


def run(program, *words, seconds=120, **more):
    """Run a program of Climate in a process of its own, without a new Python.

    :param more: variables of its environment, besides ours.
    :returns: the exit status, and all that the program wrote to stdout and to stderr.
    """
    with tempfile.TemporaryDirectory() as folder:
        written = [pathlib.Path(folder, name) for name in ('out', 'err')]
        process = FORKS.Process(target=_carry_out, args=(
            [program, *map(str, words)], {**os.environ, **more}, written))
        process.start()
        try:
            process.join(seconds)
            assert process.exitcode is not None, f'{program} did not end within {seconds} s.'
        finally:
            process.kill()
            process.join()
        return process.exitcode, *(path.read_text() for path in written)


def _carry_out(argv, environ, written):
    """Run the console script that argv names, as the file in bin does."""
    for descriptor, path in enumerate(written, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    os.environ.clear()
    os.environ.update(environ)
    sys.path[:0] = filter(None, environ.get('PYTHONPATH', '').split(os.pathsep))
    sys.argv[:] = argv
    [point] = metadata.entry_points(group='console_scripts', name=argv[0])
    sys.exit(point.load()())


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
