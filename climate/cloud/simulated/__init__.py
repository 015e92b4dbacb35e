# SPDX-License-Identifier: Apache-2.0
"""The built-in cloud: Nova, Placement and Keystone as they behave, in a small database."""
import collections
from concurrent import futures
import contextlib
import threading
import time

from climate import errors
from climate.cloud import base
from climate.cloud.simulated import aggregates
from climate.cloud.simulated import calls
from climate.cloud.simulated import faults
from climate.cloud.simulated import flavors
from climate.cloud.simulated import hosts
from climate.cloud.simulated import keystone
from climate.cloud.simulated import nova
from climate.cloud.simulated import placement
from climate.cloud.simulated import servers
from climate.cloud.simulated import store
from climate.nova import rules


class SimulatedCloud(base.Cloud):
    """A cloud with the face of the real one, beside what demonstrations and tests do to it.

    What is not of the face takes no time and has no fault points.

    :ivar faults: the FaultPoints; its ``on_point`` may be set at any time.
    :param on_point: None, or callable(call name, 'before' or 'after').
    :param clock: returns this moment, in seconds since the epoch; only deletions look at it.
    """

    def __init__(self, conf, on_point=None, clock=time.time):
        options = conf.simulated
        self.faults = faults.FaultPoints(options.crash_at, on_point)
        self._options = options
        self._rules = rules.Options(
            freepool=conf.nova.aggregate_freepool, owner_key=conf.nova.aggregate_owner_key,
            zone_prefix=conf.nova.availability_zone_prefix)
        self._clock = clock
        self._store = store.Store(
            options.state, lambda connection: _found(connection, options.hosts))
        # Calls that take no time are made in order, so that fault points have fixed numbers.
        self._pool = None
        if options.delay_seconds and conf.nova.concurrency > 1:
            self._pool = futures.ThreadPoolExecutor(conf.nova.concurrency, 'simulated-cloud')
        # As the adapters of the real cloud do it.
        self._turns = {name: threading.BoundedSemaphore(conf[name].concurrency)
                       for name in ('nova', 'placement', 'keystone')}
        self._service = self._services(None)

    def as_service(self):
        return self._service

    def as_user(self, trust_id):
        if not trust_id:
            raise errors.TrustDead(service='Keystone', reason='there is no trust.')
        services = self._services(trust_id)
        services.keystone.login()
        return services

    def fail(self, call_name, times, error):
        """Make the next `times` calls of that name, such as 'nova.add_host', raise `error`."""
        self.faults.fail(call_name, times, error)

    def boot(self, project_id, name, hints=None, host=None, flavor=None):
        """A new Server, on the emptiest host that the scheduler filter lets it onto.

        :param hints: scheduler hints, such as {'reservation': 'the id'}.
        :param host: the name of a hypervisor, to be on this one or on none.
        :param flavor: the id of the flavor; None for one that is of no interest.
        :raises Conflict: no host may take it. (Their sizes do not count, custom classes do.)
        :raises NotFound: the project has no such flavor.
        """
        reservations = rules.hinted((hints or {}).get('reservation'))
        with self._transaction() as connection:
            inside = _aggregates_of_hosts(connection)
            rooms, reserved = _flavor(connection, flavor, project_id)
            may = [row['service_host'] for row in hosts.every(connection)
                   if row['up'] and row['enabled'] and host in (None, row['name'])
                   and (rooms is None or row['name'] in rooms)
                   and rules.passes(reservations, project_id,
                                    inside.get(row['service_host'], ()), self._rules,
                                    flavor_reserved=reserved)]
            if not may:
                raise errors.Conflict(reason='No valid host was found.')
            taken = collections.Counter(server.host for server in servers.every(connection))
            return servers.boot(connection, project_id, name,
                                min(may, key=lambda each: taken[each]), flavor)

    def servers(self, project_id=None):
        """The Servers of a project, or of all, oldest first."""
        with self._transaction() as connection:
            return [server for server in servers.every(connection)
                    if project_id in (None, server.project_id)]

    def delete_server(self, server_id):
        """Delete a server at once, as its owner might."""
        with self._transaction() as connection:
            servers.delete(connection, server_id, self._clock())

    def images(self):
        """The images made of servers, oldest first, as dicts: id, name, server_id, project_id.

        An image that Climate made as itself is of the project 'service'.
        """
        with self._transaction() as connection:
            return [dict(row) for row in
                    connection.execute('SELECT * FROM images ORDER BY rowid')]

    def add_flavor(self, flavor_id, name, vcpus=1, ram=512, disk=1, **more):
        """Add a flavor; `more` may be ephemeral, swap, public, extra_specs."""
        with self._transaction() as connection:
            flavors.make(connection, flavor_id, name, vcpus, ram, disk, **more)

    def leftovers(self):
        """What reservations of instances have in the cloud, as one dict that can be compared."""
        with self._transaction() as connection:
            found = {name: [tuple(row) for row in connection.execute(
                f'SELECT * FROM {name} ORDER BY 1')]
                for name in ('flavors', 'flavor_access', 'server_groups', 'resource_classes')}
            found['inventories'] = [tuple(row) for row in connection.execute(
                "SELECT name, inventory FROM providers WHERE inventory != '{}' ORDER BY 1")]
            return found

    def add_host(self, name, service_host=None, vcpus=16, memory_mb=65536, disk_gb=500,
                 traits=(), hypervisor_type='QEMU'):
        """Add a hypervisor. Its name may be one that there is, its service host may not."""
        with self._transaction() as connection:
            hosts.add(connection, name, service_host, vcpus, memory_mb, disk_gb, traits,
                      hypervisor_type)

    def mark_host(self, name, up=None, enabled=None):
        """Set whether a hypervisor is up and enabled; None leaves it as it is."""
        with self._transaction() as connection:
            hosts.mark(connection, name, up, enabled)

    def host_names(self):
        """The names of the hypervisors, in the order in which they were made."""
        with self._transaction() as connection:
            return [row['name'] for row in hosts.every(connection)]

    def delete_trustor(self, user_id):
        """Delete a user, and so the trusts that the user gave."""
        with self._transaction() as connection:
            connection.execute('DELETE FROM trusts WHERE trustor_id = ?', (user_id,))

    def close(self):
        """Close the state file. A cloud in memory is lost."""
        self._store.close()

    def _services(self, trust_id):
        identity = calls.Calls(self._store, self.faults, self._turns,
                               self._options.delay_seconds, self._clock, trust_id)
        return base.Services(
            nova=nova.Nova(identity, self._pool, self._options.delete_seconds, self._clock),
            flavors=flavors.Flavors(identity), placement=placement.Placement(identity),
            keystone=keystone.Keystone(identity))

    @contextlib.contextmanager
    def _transaction(self):
        with self._store.transaction() as connection:
            servers.forget(connection, self._clock())
            yield connection


def _found(connection, count):
    hosts.found(connection, count)
    flavors.found(connection)


def _flavor(connection, flavor_id, project_id):
    """(names of the hypervisors with room for it or None, whether it is of a reservation)."""
    if flavor_id is None:
        return None, False
    found = flavors.usable(connection, flavor_id, project_id)
    if found is None:
        raise errors.NotFound(what=f'Flavor {flavor_id}')
    return (flavors.hosts_with_room(connection, found),
            rules.FLAVOR_KEY in found.extra_specs)


def _aggregates_of_hosts(connection):
    """{service host: its aggregates, as the rules want them}; hosts in none are not in it."""
    found = {}
    for each in aggregates.every(connection):
        for service_host in each.hosts:
            found.setdefault(service_host, []).append(
                rules.Aggregate(each.name, each.zone, each.metadata))
    return found
