# SPDX-License-Identifier: Apache-2.0
"""The stage of an upgrade: two managers and two APIs of an earlier release, and two of this one."""
import contextlib
import signal
import subprocess
import sys
import threading

from support import balanced
from support import loopback
from support import waiting

from chaos import clients
from chaos import stage as stages
from chaos import subscriber
from chaos import tenants
from tools.cloud import commands

OLD_MANAGERS, NEW_MANAGERS = ('manager1', 'manager2'), ('manager3', 'manager4')
OLD_APIS, NEW_APIS = ('api1', 'api2'), ('api3', 'api4')
_DB = 'climate-db'
_SECONDS = 120


class RollingStage(stages.Stage):
    """A Stage with programs of two releases, of which the earlier ones run at first.

    :param python: the Python of the environment with the earlier release.
    """

    def __init__(self, plan, python):
        super().__init__(plan)
        self.pythons = dict.fromkeys((*OLD_MANAGERS, *OLD_APIS), python)
        self.auditor = NEW_MANAGERS[0]
        self._earlier = python

    def climate_db(self, *words, python=sys.executable):
        """Run climate-db; return (exit status, all that it wrote)."""
        commands.write(self._file(_DB), f'[database]\nconnection = {self.url}\n')
        done = subprocess.run(
            [python, '-c', stages.MAIN.format('db'), '--config-file', self._file(_DB), *words],
            cwd=self.plan.place.run, env=self._environment(
                _DB if python == sys.executable else OLD_MANAGERS[0]),
            capture_output=True, text=True, check=False, timeout=_SECONDS)
        return done.returncode, done.stdout + done.stderr

    def _create_tables(self):
        status, written = self.climate_db('upgrade', python=self._earlier)
        assert status == 0, written

    def _at_first(self):
        self.serve_by(OLD_APIS)
        return [self.daemons[name] for name in (*OLD_MANAGERS, *OLD_APIS)]

    def serve_by(self, apis):
        """Set `urls` to those of some APIs, which run."""
        self.urls = [f'http://127.0.0.1:{self._api_ports[name]}' for name in apis]

    @property
    def api_ports(self):
        """The ports of all APIs, also of those that do not run."""
        return list(self._api_ports.values())

    def begin(self, names):
        """Start programs; return when the managers are ready and the APIs reach one."""
        before = {name: self._starts(name) for name in names if name in self.managers}
        for name in names:
            self.daemons[name].up()
        for name, count in before.items():
            waiting.until(lambda name=name, count=count: self._starts(name) > count,
                          f'{name} is not ready.', _SECONDS)
        for name in set(names) & set(self.apis):
            waiting.until(lambda name=name: loopback.listens(self._api_ports[name]),
                          f'{name} does not listen.', _SECONDS)
        self.wait_until_well()

    def _starts(self, manager):
        """Return how often a manager has become ready."""
        log = self.plan.place.log / f'{manager}.log'
        return log.read_text().count(': ready') if log.exists() else 0

    def end(self, names):
        """Stop programs as an operator does; return when they have ended."""
        for name in names:
            program = self.daemons[name]
            program.signal(signal.SIGTERM)
            waiting.until(program.has_ended, f'{name} does not end.', _SECONDS)
            # So that nobody starts it again.
            program.kill()


class Reader(threading.Thread):
    """A client that only reads, like a page that is open all the time.

    It reads the hosts of leases, too. Managers of the earlier release may not know that call, and
    the answer is then 503 ``manager_outdated``.

    :ivar outdated: the number of these answers, and `wrong` the other failures, in words.
    """

    def __init__(self, plan, url):
        super().__init__(daemon=True)
        self._door = clients.Door([url], plan.chances('reader'), plan.answer_seconds,
                                  roles='admin,member,reader')
        self._stopping = threading.Event()
        self.outdated, self.wrong = 0, []

    def run(self):
        while not self._stopping.wait(0.2):
            self._read('/leases')
            for lease in (self._read('/leases?limit=2') or {}).get('leases', ()):
                for part in ('', '/history', '/hosts'):
                    self._read(f'/leases/{lease["id"]}{part}')

    def stop(self):
        """Return when the reader has ended."""
        self._stopping.set()
        self.join()

    def _read(self, path):
        code, found = self._door.ask('GET', path, subscriber.PROJECTS[0])
        if code == 503 and found.get('error_name') == 'manager_outdated':
            self.outdated += 1
        # Leases of others end, and are deleted, meanwhile.
        elif code not in (200, 404):
            self.wrong.append(f'{path}: {code} {found}')
        return found if code == 200 else None


@contextlib.contextmanager
def leasing(stage, folder):
    """Run a Crowd and a Reader that use the APIs through nginx in the block; yield them."""
    with contextlib.ExitStack() as stack:
        [url] = balanced.nginx(stack, folder, stage.api_ports)
        crowd, reader = clients.Crowd(stage.plan, [url]), Reader(stage.plan, url)
        guests = tenants.Tenants(stage.state)
        for each in (crowd, reader, guests):
            each.start()
        try:
            yield crowd, reader
        finally:
            for each in (crowd, reader, guests):
                each.stop()


def more(crowd, count):
    """Return when the clients got a number of further answers."""
    before = sum(crowd.answers.values())
    waiting.until(lambda: sum(crowd.answers.values()) >= before + count,
                  'The clients get no answers.', _SECONDS)
