# SPDX-License-Identifier: Apache-2.0
"""Two managers, APIs and consoles beside real services restart under load; no request is lost."""
import contextlib
import itertools
import os
import signal

import pytest
import requests
import sqlalchemy as sa
from support import balanced
from support import builders
from support import waiting

from climate.db import engine
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle
from tools.cloud import climate_service
from tools.cloud import configure
from tools.cloud import processes
from tools.cloud import settings

_RATE = 50
_LATE_SECONDS = 5
# One request in eight of one client creates a lease: real services start it.
_LEASE_EVERY = 8
_CONSOLE = '''
[console]
auth_url = {auth_url}
endpoint_override = {api}/v1
[cache]
enabled = true
backend = dogpile.cache.memcached
memcache_servers = 127.0.0.1:{memcached}
'''


class Programs:
    """Two of each program of Climate: those of the cloud, and a second one of each."""

    def __init__(self, cloud, stack, folder):
        self._cloud = cloud
        api, *ports = settings.PORTS['climate'], *(builders.a_free_port() for _ in range(3))
        self.api, self.console = balanced.nginx(stack, folder, [api, ports[0]], ports[1:])
        console = folder / 'console.conf'
        console.write_text(_CONSOLE.format(auth_url=settings.url('keystone', '/v3'), api=self.api,
                                           memcached=settings.PORTS['memcached']))
        conf = climate_service.conf_file(cloud)
        self.every = [
            self._made('climate-manager', 'climate-manager', conf),
            self._made('climate-manager-second', 'climate-manager', conf),
            self._made('climate-api', 'climate-api', conf, api),
            self._made('climate-api-second', 'climate-api', conf, ports[0]),
            self._made('climate-console-one', 'climate-console', console, ports[1]),
            self._made('climate-console-second', 'climate-console', console, ports[2])]
        for program in self.every:
            if program.name not in climate_service.NAMES:
                stack.callback(processes.stop, cloud, program.name)
                program.up()
        waiting.until(lambda: ': ready' in self.every[1].log.read_text(), 'No second manager.')
        for program in self.every:
            waiting.until(lambda program=program: not program.health or program.is_healthy())

    def _made(self, name, program, conf, port=None):
        group = 'API' if program == 'climate-api' else 'CONSOLE'
        command = [self._cloud.climate_venv / 'bin' / program, '--config-file', conf]
        environ = {f'OS_{group}__PORT': str(port)} if port else {}
        return balanced.Restartable(
            name, lambda number: os.kill(processes.pid_of(self._cloud, name), number),
            lambda: processes.pid_of(self._cloud, name) is None,
            lambda: processes.start(self._cloud, name, command, env=environ),
            self._cloud.home_of(name) / 'log' / f'{name}.out',
            f'http://127.0.0.1:{port}/healthcheck' if port else None)


@pytest.mark.skipif(bool(balanced.missing()), reason='nginx or memcached is not installed')
def test_a_rolling_restart_loses_no_request(scene, cloud, demo, tmp_path):
    name = scene.name()
    with contextlib.ExitStack() as stack:
        programs = Programs(cloud, stack, tmp_path)
        load = balanced.Load(_clients(programs, demo, name, scene), _RATE, _LATE_SECONDS)
        with load.running():
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                for program in programs.every:
                    program.restart(number)
        leases = [lease for lease in scene.climate().leases.list() if lease['name'] == name]
        for lease in leases:
            scene.wait(lease['id'], 'terminated', 120)
    late = _late(cloud, [lease['id'] for lease in leases])
    print(f'{load.answered} requests, the slowest {load.slowest:.1f} s; {len(leases)} leases, '
          f'begun at most {max(late):.1f} s late')
    assert load.wrong == []
    assert len(leases) > 5
    assert max(late) < _LATE_SECONDS


def _clients(programs, demo, name, scene):
    """Return a function for Load: one client creates leases, some read pages, the others lists."""
    token = demo.session.get_token()

    def client(number):
        session = requests.Session()
        session.trust_env = False
        session.headers.update({'X-Auth-Token': token,
                                'OpenStack-API-Version': 'reservation 1.1'})
        if number % 10 == 1:
            login = session.post(f'{programs.console}/login', timeout=60, allow_redirects=False,
                                 data={'username': 'demo', 'password': settings.PASSWORD,
                                       'user_domain': 'Default', 'project': 'demo',
                                       'project_domain': 'Default'})
            assert login.status_code == 302, login.text
            return lambda: session.get(f'{programs.console}/leases', timeout=90,
                                       allow_redirects=False)
        count = itertools.count()

        def send():
            if number or next(count) % _LEASE_EVERY:
                return session.get(f'{programs.api}/v1/leases?limit=10', timeout=90)
            answer = session.post(f'{programs.api}/v1/leases', timeout=90, json={
                'name': name, 'duration': '15s', 'reservations': [
                    {'resource_type': 'virtual:instance', 'amount': 1, 'vcpus': 1,
                     'memory_mb': 64, 'disk_gb': 1}]})
            if answer.ok:
                scene.remember(answer.json()['lease']['id'])
            return answer
        return send
    return client


def _late(cloud, lease_ids):
    """Return how many seconds after their time the starts and ends of leases began."""
    found = engine.Database(f'{configure.database_url()}/{cloud.climate_name}?charset=utf8mb4')
    try:
        with found.reader() as connection:
            rows = connection.execute(sa.select(tables.EVENTS).where(
                tables.EVENTS.c.lease_id.in_(lease_ids),
                tables.EVENTS.c.kind.in_([event_kinds.START, event_kinds.END]),
                tables.EVENTS.c.status == lifecycle.EVENT_DONE)).all()
    finally:
        found.dispose()
    return [(row.begun_at - row.at).total_seconds() for row in rows if row.begun_at]
