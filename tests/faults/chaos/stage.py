# SPDX-License-Identifier: Apache-2.0
"""The processes of a run: database, broker, managers, APIs, and the network between them."""
import functools
import os
import subprocess
import sys

import requests
from support import billing_cases
from support import waiting

from chaos import programs
from chaos import proxy
from chaos import servers
from chaos import subscriber
from chaos import things
from chaos import witness
from climate.db import engine
from climate.db import migrate
from tools.cloud import commands
from tools.cloud import processes
from tools.cloud import settings

_READY_SECONDS = 60
MAIN = 'import sys; from climate.cmd import {0}; sys.exit({0}.main())'
_CONF = """\
[DEFAULT]
transport_url = {transport_url}
plugins = physical:host,{types}
rpc_response_timeout = {plan.answer_seconds}
graceful_shutdown_timeout = 10
[oslo_messaging_rabbit]
rabbit_interval_max = 2
[api]
auth_strategy = noauth
delete_wait_seconds = 2
[cloud]
driver = simulated
[simulated]
state = {state}
hosts = {plan.hosts}
server_seconds = 0.3
image_seconds = 1
volume_seconds = 0.5
stack_seconds = 0.5
cluster_seconds = 0.5
delay_seconds = 0.02
[acquire]
lent_aggregate = lent
retry_pause_longest_seconds = 2
[manager]
claim_seconds = {plan.claim_seconds}
poll_seconds = 0.5
retry_seconds = 0.3
retry_longest_seconds = 2
busy_seconds = 0.2
minutes_before_end_lease = 0
release_grace_seconds = 1
refresh_seconds = 15
audit_interval_seconds = {plan.audit_seconds}
audit_grace_seconds = 3
[billing]
interval_seconds = 1
close_days = 0
[physical:host]
before_end = snapshot
[notifications]
claim_seconds = 10
retry_seconds = 1
retry_longest_seconds = 2
failure_limit = 1000000
[webhook]
allow_http = true
allowed_networks = 127.0.0.1/32
timeout_seconds = 3
"""


class Stage:
    """Everything of one run; `up` before use, `down` always.

    :ivar managers: Programs by name, in `lines` their Lines to the database where the plan says
        that these can be cut.
    :ivar urls: where the APIs are.
    :ivar subscriber: the Subscriber, which is notified of all leases.
    :ivar pythons: {name of a program: the Python of an environment with another release}; the
        others run with this Python and the checkout.
    :ivar auditor: the manager with whose release and configuration `audit` runs.
    """

    def __init__(self, plan):
        self.plan = plan
        self.pythons, self.auditor = {}, 'manager1'
        self.state = plan.place.data / 'cloud.sqlite'
        ports = iter(servers.free_ports(4 + plan.managers + plan.apis))
        self._database_port = next(ports)
        self.url = servers.DATABASES[plan.database].url(self._database_port)
        self._epmd_port = next(ports)
        self._epmd = servers.epmd(plan.place, self._epmd_port)
        self.database = servers.database(plan.place, plan.database, self._database_port)
        self.broker, self._transport = servers.broker(
            plan.place, next(ports), next(ports), self._epmd_port)
        self.network = proxy.Network()
        self.subscriber = subscriber.Subscriber()
        self.lines, self.managers, self.apis, self.urls = {}, {}, {}, []
        self._manager_ports = {f'manager{number + 1}': next(ports)
                               for number in range(plan.managers)}
        self._api_ports = {f'api{number + 1}': next(ports) for number in range(plan.apis)}

    @property
    def daemons(self):
        """The Programs of Climate by name."""
        return self.managers | self.apis

    def up(self):
        """Start all of it, with the hosts of the cloud enrolled."""
        self._epmd.up()
        self.database.up()
        self.broker.up()
        self._create_tables()
        commands.write(self._file('climate'), _CONF.format(
            plan=self.plan, transport_url=self._transport, state=self.state,
            types=','.join(things.TYPES)))
        witness.appear(self.state, self.plan.hosts, self.plan.lent)
        for name, port in self._manager_ports.items():
            url = self.url
            if self.plan.cuttable:
                self.lines[name] = self.network.line(port, self._database_port)
                url = servers.DATABASES[self.plan.database].url(port)
            self.managers[name] = self._daemon(
                name, 'manager', f'[database]\nconnection = {url}\n', self._affinity())
        for name, port in self._api_ports.items():
            self.apis[name] = self._daemon(name, 'api', f'[api]\nport = {port}\n')
            self.urls.append(f'http://127.0.0.1:{port}')
        for program in self._at_first():
            program.up()
        self.wait_until_well()
        self._enrol()
        self.subscriber.subscribe(self.urls[0])

    def _at_first(self):
        """Return the Programs of Climate that run from the beginning."""
        return self.daemons.values()

    def _create_tables(self):
        found = engine.Database(self.url)
        migrate.upgrade(found)
        found.dispose()

    def down(self):
        """End all that was started, and remove the data of the database."""
        for program in (*self.daemons.values(), self.broker, self.database, self._epmd):
            program.kill()
        self.network.close()
        self.subscriber.close()
        servers.DATABASES[self.plan.database].wipe(self.plan.place)

    def wait_until_well(self):
        """Return when every API reaches a manager, and that its database."""
        def well(url):
            self.tend()
            return _is_well(url)
        for url in self.urls:
            waiting.until(functools.partial(well, url),
                          f'{url} is not well; see {self.plan.place.log}.', _READY_SECONDS)

    def wait_until_answering(self):
        """Return when every API answers what needs no manager."""
        # That the port takes a connection does not do: where nobody listens on a port of the range
        # from which those of clients are taken, a connection can meet itself.
        for name, port in self._api_ports.items():
            processes.wait_for_answer(self.plan.place, name, f'http://127.0.0.1:{port}/')

    def tend(self):
        """Start again what ended by itself."""
        for program in self.daemons.values():
            program.tend()

    def audit(self, *options):
        """Run climate-manager audit; returns (exit status, standard output)."""
        name = self.auditor
        done = subprocess.run(
            [*self._command(name, 'manager'), 'audit', *options], cwd=self.plan.place.run,
            capture_output=True, text=True, check=False, timeout=_READY_SECONDS,
            env=self._environment(name))
        if done.returncode not in (0, 2):
            raise AssertionError(f'audit ended with {done.returncode}: {done.stderr}')
        return done.returncode, done.stdout

    def _daemon(self, name, kind, text, prefix=()):
        commands.write(self._file(name), text)
        return programs.Program(self.plan.place, name, lambda: processes.start(
            self.plan.place, name, [*prefix, *self._command(name, kind)],
            env=self._environment(name)))

    def _affinity(self):
        """Return the words with which the command of the next manager begins."""
        if not self.plan.pinned:
            return ()
        processors = sorted(os.sched_getaffinity(0), reverse=True)
        return 'taskset', '--cpu-list', str(processors[len(self.managers) % len(processors)])

    def _command(self, name, kind):
        return [self.pythons.get(name, sys.executable), '-c', MAIN.format(kind),
                '--config-file', self._file('climate'),
                '--config-file', self._file(name), '--log-file',
                str(self.plan.place.log / f'{name}.log')]

    def _environment(self, name):
        checkout = {} if name in self.pythons else {'PYTHONPATH': str(settings.CHECKOUT)}
        return {**commands.environment(self.plan.place), **checkout}

    def _file(self, name):
        return self.plan.place.conf / f'{name}.conf'

    def _enrol(self):
        self._post('/v1/price-books', billing_cases.BOOK)
        for number in range(self.plan.hosts):
            self._post('/v1/os-hosts', {'name': f'compute-{number + 1}'})
        for pool, bodies in things.POOLS.items():
            for body in bodies:
                self._post(f'/v1/resources/{pool}', body)

    def _post(self, path, body):
        answer = _session().post(f'{self.urls[0]}{path}', json=body, timeout=30, headers={
            'X-Auth-Token': 'root:admin:admin', 'OpenStack-API-Version': 'reservation 1.1'})
        assert answer.status_code == 201, answer.text


def _is_well(url):
    try:
        return _session().get(f'{url}/healthcheck', timeout=10).status_code == 200
    except requests.RequestException:
        return False


def _session():
    session = requests.Session()
    session.trust_env = False
    return session
