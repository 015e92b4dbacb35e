# SPDX-License-Identifier: Apache-2.0
"""The scene of the tests on the real cloud: builders, and readers of its state."""
import contextlib
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid

import leaks

from climate import client
from climate.client import errors
from tools.cloud import processes

PYTHON = sys.executable
BIN = pathlib.Path(PYTHON).parent
POOLS = ('host', 'address', 'backend', 'segment')
OVER = ('ACTIVE', 'ERROR')
UTC = datetime.UTC


def until(look, what, seconds=30, pause=0.1):
    """Return the result of `look` as soon as it is true.

    :raises AssertionError: it was not within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f'waited {seconds} s for {what} without success'
        time.sleep(pause)


def in_seconds(seconds):
    """Return the moment `seconds` from now, in the format of the API."""
    return (datetime.datetime.now(UTC) + datetime.timedelta(seconds=seconds)).isoformat()


def seconds_since(text):
    """Return the seconds since a moment in the format of the API."""
    return (datetime.datetime.now(UTC) - datetime.datetime.fromisoformat(text)).total_seconds()


def days_between(start, end):
    """Return the days between two moments in the format of the API."""
    start, end = (datetime.datetime.fromisoformat(text) for text in (start, end))
    return (end - start) / datetime.timedelta(days=1)


def run(settings, *words, code=0, seconds=120, **variables):
    """Return the output of a command; it must end with that code, within `seconds`.

    :param variables: more of the environment.
    :returns: (stdout, stderr).
    """
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, timeout=seconds,
        stdin=subprocess.DEVNULL, env=environment(settings) | variables)
    assert done.returncode == code, f'{words}: {done.returncode}\n{done.stdout}\n{done.stderr}'
    return done.stdout, done.stderr


def environment(settings):
    """Return the environment of a command, without the logins and the proxies of this shell."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith('OS_') and not name.lower().endswith('_proxy')}
    return kept | {'CLOUD_DIR': str(settings.folder),
                   'OS_CLIENT_CONFIG_FILE': str(settings.home / 'clouds.yaml')}


def tool(settings, *words):
    """Run a verb of tools.cloud for the cloud under test."""
    return run(settings, PYTHON, '-m', 'tools.cloud', *words)


def kill_manager(settings):
    """Kill the manager with all its processes."""
    for member in processes.members(processes.pid_of(settings, 'climate-manager')):
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)


def replace_manager(settings):
    """Kill the manager, and start another one."""
    kill_manager(settings)
    tool(settings, 'climate-up')


@contextlib.contextmanager
def frozen(settings, name):
    """A process of the cloud, and all it forked, stands still inside."""
    pid = processes.pid_of(settings, name)
    assert pid, f'{name} does not run'
    members = processes.members(pid)
    try:
        for member in members:
            os.kill(member, signal.SIGSTOP)
        yield
    finally:
        for member in members:
            os.kill(member, signal.SIGCONT)


class Scene:
    """The people of a test, and everything that they make, to be cleaned away.

    :ivar people: {name: connection of openstacksdk}.
    :ivar kinds: what must be in the cloud after a test as it was before, see `leaks`.
    """

    def __init__(self, settings, people, kinds=leaks.COMPUTE):
        self.settings = settings
        self.people = people
        self.kinds = kinds
        self._leases = []
        self._servers = []
        self._undo = []

    def afterwards(self, undo):
        """Have a function called when the test is over, the last one first."""
        self._undo.append(undo)

    def climate(self, person='demo'):
        """Climate's library as that person."""
        return client.Client(self.people[person].session,
                             endpoint_override=self.settings.climate_endpoint)

    def command(self, person, *words, code=0):
        """The JSON that the command `climate` prints; (stdout, stderr) when it fails."""
        more = ['-f', 'json'] if code == 0 else []
        found = run(self.settings, BIN / 'climate', *words, *more, code=code, OS_CLOUD=person)
        return json.loads(found[0]) if code == 0 else found

    def name(self):
        """A name that no other test has."""
        return f'test-{uuid.uuid4().hex[:8]}'

    def remember(self, lease_id):
        """Delete this lease when the test is over."""
        self._leases.append(lease_id)

    def remember_server(self, server_id):
        """Delete this server when the test is over."""
        self._servers.append(server_id)

    def lease(self, person='demo', hosts=(1, 1), where=(), duration='10m', active=True, **more):
        """A new lease of hosts; running, unless `active` is false.

        :param where: criteria, such as (['==', '$rack', 'left'],).
        """
        criteria = ['and', *where] if where else ''
        made = self.climate(person).leases.create(
            self.name(), duration=duration, reservations=[{
                'resource_type': 'physical:host', 'min': hosts[0], 'max': hosts[1],
                'resource_properties': json.dumps(criteria) if criteria else '',
                **more.pop('reservation', {})}], **more)
        self.remember(made['id'])
        return self.wait(made['id'], 'active') if active else made

    def wait(self, lease_id, status, seconds=60):
        """Return the lease with that status, read often by an admin."""
        leases = self.climate('admin').leases

        def look():
            found = leases.get(lease_id)
            return found if found['status'] == status else None
        return until(look, f'lease {lease_id} to be {status}', seconds)

    def boot(self, person='demo', reservation=None, wait=True, flavor='m1.nano', zone=None,
             group=None):
        """A new server; as `booted` unless it is not waited for.

        :param flavor: the name or the id.
        :param zone: the availability zone that the request names.
        :param group: the id of a server group.
        """
        found = self.people[person]
        hints = {name: value for name, value in (('reservation', reservation), ('group', group))
                 if value}
        hints = {'scheduler_hints': hints} if hints else {}
        hints |= {'availability_zone': zone} if zone else {}
        made = found.compute.create_server(
            name=self.name(), image_id=found.image.find_image('tiny').id,
            flavor_id=found.compute.find_flavor(flavor).id,
            networks=[{'uuid': found.network.find_network('private').id}], **hints)
        self.remember_server(made.id)
        return self.booted(made.id) if wait else made

    def booted(self, server_id):
        """A server as soon as it is ACTIVE or ERROR, as an admin sees it."""
        def look():
            found = self.people['admin'].compute.get_server(server_id)
            return found if found.status in OVER else None
        return until(look, f'server {server_id} to be {" or ".join(OVER)}', 120)

    def exists(self, server_id):
        return self.people['admin'].compute.find_server(server_id, all_projects=True) is not None

    def remove(self, server_id):
        """Delete a server and wait until it is gone."""
        self.people['admin'].compute.delete_server(server_id, ignore_missing=True)
        until(lambda: not self.exists(server_id), f'server {server_id} to be gone')

    def aggregate(self, name):
        """The aggregate of that name, or None."""
        return next((each for each in self.people['admin'].compute.aggregates()
                     if each.name == name), None)

    def hosts_in(self, name):
        """The hosts of an aggregate as a set, empty where there is no such aggregate."""
        found = self.aggregate(name)
        return set(found.hosts or ()) if found else set()

    def trusts(self):
        """The ids of the trusts that were given to Climate."""
        admin = self.people['admin']
        trustee = f'to {admin.identity.find_user("climate").id}'
        found = leaks.snapshot(admin, ('trusts',), self._projects())['trusts']
        return {identifier for identifier, what in found.items() if what == trustee}

    def _projects(self):
        """The ids of the only projects that count, where several Climates share a cloud."""
        if not self.settings.is_guest:
            return None
        return {connection.current_project_id for name, connection in self.people.items()
                if name != 'admin'}

    def forget_leases(self):
        """Take from the cloud what leases have there that Climate does not know any more."""
        admin = self.people['admin'].compute
        for aggregate in admin.aggregates():
            if (aggregate.availability_zone or '').startswith('climate_'):
                for server in admin.servers(all_projects=True):
                    if server.compute_host in aggregate.hosts:
                        self.remove(server.id)
                for host in aggregate.hosts:
                    admin.remove_host_from_aggregate(aggregate, host)
                admin.delete_aggregate(aggregate)

    def state(self):
        """All that a test could leave behind, in a form that can be compared."""
        found = leaks.snapshot(self.people['admin'], self.kinds, self._projects())
        return found | {'enrolled': self._enrolled()}

    def _enrolled(self):
        """{pool: names of the resources that Climate knows there}."""
        found = {}
        for pool in POOLS:
            with contextlib.suppress(errors.NotFound):
                found[pool] = {each['name'] for each in self.climate('admin').pool(pool).list()}
        return found

    def clean(self):
        """Delete all objects of this scene."""
        for server_id in self._servers:
            self.people['admin'].compute.delete_server(server_id, ignore_missing=True)
        for server_id in self._servers:
            self.remove(server_id)
        leases = self.climate('admin').leases
        for lease_id in self._leases:
            with contextlib.suppress(errors.NotFound):
                leases.delete(lease_id)
        for lease_id in self._leases:
            until(lambda lease_id=lease_id: leases.get(lease_id)['deleted_at'],
                  f'lease {lease_id} to be deleted', 60)
        for undo in reversed(self._undo):
            undo()
