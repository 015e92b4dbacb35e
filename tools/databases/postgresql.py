# SPDX-License-Identifier: Apache-2.0
"""A private PostgreSQL: made, started and stopped."""
import os
import pathlib
import shutil
import signal
import subprocess

from tools.cloud import commands
from tools.cloud import processes
from tools.cloud import settings
from tools.databases import owner

PACKAGES = ('postgresql',)
PORT = 24432

_USER = 'postgres'
_OPTIONS = {
    'listen_addresses': '127.0.0.1', 'unix_socket_directories': '', 'max_connections': 300,
    # Quick: what is committed outlives the server, but not the machine.
    'fsync': 'off', 'full_page_writes': 'off',
}


def program():
    """The path of the newest server that Debian installed, or None."""
    found = sorted(pathlib.Path('/usr/lib/postgresql').glob('*/bin/postgres'),
                   key=lambda path: float(path.parts[-3]))
    return found[-1] if found else None


def url(port=PORT):
    """The URL of the database, for SQLAlchemy."""
    return f'postgresql+psycopg2://climate:{settings.PASSWORD}@127.0.0.1:{port}/climate_test'


def up(place, port=PORT):
    """Start it unless it runs; returns when it answers and has its database."""
    processes.refuse_taken_ports(place, [('postgresql', port)])
    data = _home(place) / 'data'
    if not processes.pid_of(place, 'postgresql'):
        if not (data / 'PG_VERSION').exists():
            _make(place, data)
        # What a crash left; the server would trust that file if its number lived again.
        (data / 'postmaster.pid').unlink(missing_ok=True)
        options = [word for name, value in {**_OPTIONS, 'port': port}.items()
                   for word in ('-c', f'{name}={value}')]
        processes.start(place, 'postgresql',
                        _as_its_user(data, [_server(data), '-D', data, *options]))
    commands.wait(lambda: _ready(place, port), f'PostgreSQL to answer; see {place.log}')
    if _ask(place, port, "SELECT 1 FROM pg_database WHERE datname = 'climate_test'") == '':
        _ask(place, port, 'CREATE DATABASE climate_test')


def down(place):
    """Stop it; harmless when it does not run."""
    pid = processes.pid_of(place, 'postgresql')
    if pid:
        # SIGTERM would wait for the clients to go; this one does not.
        os.kill(pid, signal.SIGINT)
        commands.wait(lambda: not processes.pid_of(place, 'postgresql'), 'PostgreSQL to stop')
    processes.stop(place, 'postgresql')


def wipe(place):
    """Remove the data of one that does not run."""
    shutil.rmtree(_home(place))


def _home(place):
    return owner.home(place, 'postgresql', _USER)


def _make(place, data):
    # A first try that was cut off leaves half of it, which initdb refuses.
    if data.exists():
        shutil.rmtree(data)
    password = data.parent / 'password'
    password.write_text(settings.PASSWORD)
    if os.geteuid() == 0:
        shutil.chown(password, _USER)
    password.chmod(0o600)
    initdb = program().with_name('initdb')
    try:
        commands.run(place, _as_its_user(data.parent, [
            initdb, '-D', data, '--username=climate', f'--pwfile={password}',
            '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync']),
            'postgresql-install.log')
    finally:
        password.unlink()


def _server(data):
    """The server of the version that made the data: a newer one cannot read them."""
    version = (data / 'PG_VERSION').read_text().strip()
    path = pathlib.Path('/usr/lib/postgresql') / version / 'bin' / 'postgres'
    if not path.exists():
        raise settings.CloudError(
            f'{data} was made by PostgreSQL {version}, which is not installed. '
            f'Remove that folder; it holds nothing but tests.')
    return path


def _as_its_user(folder, command):
    """The command as it is run: the server refuses root, so root becomes another user first."""
    return owner.command(folder, _USER, command)


def _ready(place, port):
    if not processes.pid_of(place, 'postgresql'):
        raise settings.CloudError(
            f'postgresql ended. {commands.last_lines(place.log / "postgresql.out")}')
    return _ask(place, port, 'SELECT 1') == '1'


def _ask(place, port, question):
    """The answer of one statement as text; None when it failed."""
    done = subprocess.run(
        [program().with_name('psql'), '--no-psqlrc', '-At', '-h', '127.0.0.1', '-p', str(port),
         '-U', 'climate', '-d', 'postgres', '-c', question],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env=commands.environment(place) | {'PGPASSWORD': settings.PASSWORD})
    return done.stdout.strip() if done.returncode == 0 else None
