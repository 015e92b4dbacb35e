# SPDX-License-Identifier: Apache-2.0
"""The simulated cloud: the behaviour of the services that Climate uses, on SQLite."""
from concurrent import futures
import contextlib
import json
import re
import sqlite3
import time

from climate import errors
from climate.cloud import base
from climate.cloud import call_guard
from climate.cloud import concurrency
from climate.cloud import models
from climate.cloud import registry
from climate.cloud.simulated import aggregates
from climate.cloud.simulated import computes
from climate.cloud.simulated import faults
from climate.cloud.simulated import flavors
from climate.cloud.simulated import heat
from climate.cloud.simulated import hosts
from climate.cloud.simulated import images
from climate.cloud.simulated import interface
from climate.cloud.simulated import lifecycle
from climate.cloud.simulated import machines
from climate.cloud.simulated import network_control
from climate.cloud.simulated import scheduler
from climate.cloud.simulated import server_rows
from climate.cloud.simulated import store
from climate.nova import host_rules

_LEASED = 'climate:lease_id'
_TABLE = re.compile(r'CREATE TABLE IF NOT EXISTS (\w+)')


class SimulatedCloud(base.CloudDriver):
    """A cloud with the interface of the real one, and methods for demonstrations and tests.

    The additional methods take no time and pass no fault points.

    :ivar faults: the FaultPoints; its ``on_point`` may be set at any time.
    :ivar network: the NetworkControl, for changes by others in Neutron.
    :ivar machines: the Machines, for their power and for changes of storage by others.
    :param on_point: None, or callable(call name, 'before' or 'after').
    :param clock: returns the current time, in seconds since the epoch.
    :param adapters: {name: Adapter class}; None: all installed adapters.
    """

    def __init__(self, conf, on_point=None, clock=time.time, adapters=None):
        if adapters is None:
            adapters = registry.load(conf, 'simulated')
        self.adapters = adapters
        options = conf.simulated
        self.faults = faults.FaultPoints(options.crash_at, on_point)
        self._scheduler = scheduler.Scheduler(host_rules.AggregateNames(
            freepool=conf.nova.aggregate_freepool, owner_key=conf.nova.aggregate_owner_key,
            zone_prefix=conf.nova.availability_zone_prefix))
        self._lifecycle = lifecycle.Lifecycle(options, self._scheduler.choose, clock)
        self._store = store.StateStore(
            options.state, lambda connection: _fill(connection, options.hosts),
            [statement for adapter in adapters.values() for statement in adapter.tables])
        # Without a delay calls are made one after the other, so fault points have fixed numbers.
        self._pool = None
        if options.delay_seconds and conf.nova.concurrency > 1:
            self._pool = futures.ThreadPoolExecutor(conf.nova.concurrency, 'simulated-cloud')
        self._queues = {name: concurrency.CallQueue(conf[name].concurrency) for name in adapters}
        self._kinds = {name: call_guard.guarded(kind, (sqlite3.Error,), _cloud_error)
                       for adapter in adapters.values()
                       for name, kind in adapter.interfaces.items()}
        self._service = self._services(None)
        self.network = network_control.NetworkControl(self._transaction)
        self.machines = machines.Machines(self._transaction)

    def log_in(self):
        # This is no call of the cloud, which would change the numbers of later fault points.
        with call_guard.counted('Keystone'):
            self.faults.refuse('keystone.log_in')

    def check(self):
        self.log_in()

    def as_service(self):
        return self._service

    def as_user(self, trust_id):
        if not trust_id:
            raise errors.TrustDead(service='Keystone', reason='there is no trust.')
        services = self._services(trust_id)
        with call_guard.counted('Keystone'):
            services.keystone.login()
        return services

    def as_caller(self, context):
        return self._services(None, context.project_id)

    def fail(self, call_name, times, error):
        """Make the next `times` calls of that name, such as 'nova.add_host', raise `error`."""
        self.faults.fail(call_name, times, error)

    @property
    def answers(self):
        """The callable that answers for Climate, or None: see ``Scheduler.answers``."""
        return self._scheduler.answers

    @answers.setter
    def answers(self, answers):
        self._scheduler.answers = answers

    def boot(self, project_id, name, hints=None, host=None, flavor=None, metadata=None,
             forced=False):
        """Boot a server on the host with the fewest servers that can take it; return the Server.

        :param hints: scheduler hints, such as {'reservation': 'the id'}. One more,
            ``availability_zone``, binds the server to a zone that `host` is in.
        :param host: the name of the only hypervisor to try; None: all.
        :param flavor: the id of the flavor; None: a server without a flavor, which takes nothing.
        :param metadata: {key: text}; the key climate:lease_id marks a server that Climate leases.
        :param forced: an administrator forces it onto `host`, past the filter and the capacity.
        :raises Conflict: no host may take it or has the capacity.
        :raises NotFound: the project has no such flavor.
        """
        with self._transaction() as connection:
            own_flavor = _flavor(connection, flavor, project_id)
            named = None if host is None else frozenset(
                row['service_host'] for row in hosts.every(connection) if row['name'] == host)
            chosen = min(named) if forced else self._scheduler.choose(
                connection, scheduler.HostRequest(
                    project_id, hints or {}, own_flavor, leased=_LEASED in (metadata or {}),
                    hosts=named))
            if chosen is None:
                raise errors.Conflict(reason='No valid host was found.')
            return self._lifecycle.boot(connection, models.Server(
                id='', name=name, host=chosen, project_id=project_id, status='BUILD',
                metadata=metadata or {}, flavor=own_flavor, hypervisor=host), hints or {})

    def stacks(self, project_id=None):
        """Return the Stacks of a project, or of all projects, oldest first."""
        with self._transaction() as connection:
            heat.settle(connection, self._lifecycle.now)
            return [heat.record(row) for row in heat.every(connection)
                    if project_id in (None, row['project_id'])]

    def set_quota(self, project_id, name, most):
        """Limit the instances, cores or ram of a project; there is no limit by default."""
        with self._transaction() as connection:
            connection.execute('INSERT OR REPLACE INTO quotas VALUES (?, ?, ?)',
                               (project_id, name, most))

    def servers(self, project_id=None):
        """Return the Servers of a project, or of all projects, oldest first."""
        with self._transaction() as connection:
            return [server for server in server_rows.every(connection)
                    if project_id in (None, server.project_id)]

    def delete_server(self, server_id):
        """Delete a server at once, as its owner would."""
        with self._transaction() as connection:
            row = server_rows.find(connection, server_id)
            self._lifecycle.delete(connection, server_id, row and row['project_id'], seconds=0)

    def mark_server(self, server_id, status):
        """Set the status of a server, such as SHUTOFF, as if it had changed by itself."""
        with self._transaction() as connection:
            server_rows.put(connection, server_id, status=status)

    def resize_server(self, server_id, flavor):
        """Resize a server to the flavor of that id, as its owner would, and confirm the resize.

        Its own host is also a candidate.

        :raises Conflict: no host may take it or has the capacity.
        """
        with self._transaction() as connection:
            row = server_rows.find(connection, server_id)
            new_flavor = _flavor(connection, flavor, row['project_id'])
            chosen = self._scheduler.choose(connection, scheduler.HostRequest(
                row['project_id'], json.loads(row['hints']), new_flavor, leased=True,
                server_id=server_id))
            if chosen is None:
                raise errors.Conflict(reason='No valid host was found.')
            server_rows.resize(connection, server_id, new_flavor, chosen)

    def lock_server(self, server_id):
        """Lock a server, so that only administrators may change it."""
        with self._transaction() as connection:
            server_rows.put(connection, server_id, locked=1)

    def break_server(self, server_id):
        """Put a server into ERROR on its host, and let every later stop fail."""
        self._lifecycle.broken.add(server_id)
        self.mark_server(server_id, 'ERROR')

    def aggregates(self):
        """Return all Aggregates, oldest first."""
        with self._transaction() as connection:
            return aggregates.every(connection)

    def share_aggregate(self, name, project_id):
        """Share an aggregate with another project, as an administrator can."""
        with self._transaction() as connection:
            aggregates.set_metadata(connection, aggregates.find(connection, name).id,
                                    {project_id: 'yes'})

    def compute_services(self):
        """Return all ComputeServices."""
        with self._transaction() as connection:
            return computes.everything(connection)

    def images(self):
        """Return the images of servers, oldest first, as dicts.

        Their keys are id, name, server_id, project_id, status, key and kind (snapshot or shelved).
        An image that Climate created as itself belongs to the project 'service'.
        """
        with self._transaction() as connection:
            return [dict(row) for row in
                    connection.execute('SELECT * FROM images ORDER BY rowid')]

    def add_flavor(self, flavor_id, name, vcpus=1, ram=512, disk=1, **more):
        """Add a flavor; `more` may have ephemeral, swap, public and extra_specs."""
        with self._transaction() as connection:
            flavors.make(connection, flavor_id, name, vcpus, ram, disk, **more)

    def leftovers(self):
        """Return the objects that reservations may leave behind, as one dict to compare."""
        with self._transaction() as connection:
            objects = {name: [tuple(row) for row in connection.execute(
                f'SELECT * FROM {name} ORDER BY 1')]
                for name in ('flavors', 'flavor_access', 'server_groups', 'resource_classes')}
            objects['images'] = [tuple(row) for row in connection.execute(
                'SELECT name, kind, status, project_id FROM images ORDER BY 1, 2, 3, 4')]
            objects['floating_ips'] = [tuple(row) for row in connection.execute(
                'SELECT address, project_id, port_id, tags FROM floating_ips ORDER BY 1')]
            objects['server_metadata'] = sorted(
                (server.name, *item) for server in server_rows.every(connection)
                for item in server.metadata.items())
            objects['inventories'] = [tuple(row) for row in connection.execute(
                "SELECT name, inventory FROM providers WHERE inventory != '{}' ORDER BY 1")]
            for name in _tables(self.adapters):
                objects[name] = [tuple(row) for row in connection.execute(
                    f'SELECT * FROM {name} ORDER BY 1')]
            return objects

    def add_host(self, name, service_host=None, vcpus=16, memory_mb=65536, disk_gb=500,
                 traits=(), hypervisor_type='QEMU'):
        """Add a hypervisor. There may be others of its name, and others on its service host."""
        with self._transaction() as connection:
            hosts.add(connection, name, service_host, vcpus, memory_mb, disk_gb, traits,
                      hypervisor_type)

    def rehome_host(self, name, service_host):
        """Move a hypervisor with its servers to another nova-compute, as Ironic does."""
        with self._transaction() as connection:
            hosts.rehome(connection, name, service_host)

    def mark_host(self, name, up=None, enabled=None, reason=None):
        """Set whether a hypervisor is up and enabled; None leaves a value unchanged.

        :param reason: the reason with which an administrator disables it.
        """
        with self._transaction() as connection:
            hosts.mark(connection, name, up, enabled, reason)

    def spoil_moves(self, *service_hosts):
        """Make every later migration to these hosts fail after it has begun."""
        self._lifecycle.unreachable |= set(service_hosts)

    def spoil_images(self, server_id, fault):
        """Make every later image of a server fail.

        :param fault: 'refused', Nova refuses it; 'lost', its upload fails and Nova deletes it;
            'stuck', it never becomes active; None: images succeed again.
        """
        if fault is None:
            self._lifecycle.image_faults.pop(server_id, None)
        else:
            self._lifecycle.image_faults[server_id] = images.FAULTS[images.FAULTS.index(fault)]

    def silence_cell(self, *service_hosts):
        """Silence the cell of these hosts; all other cells answer.

        Nova then lists neither their servers nor the state of their services.
        """
        self._lifecycle.silent.clear()
        self._lifecycle.silent.update(service_hosts)

    def keep_volumes_in_zones(self):
        """Attach volumes only to servers in their zone, as with cross_az_attach = false in Nova."""
        self._lifecycle.keeps_zones = True

    def lose_traits(self, times):
        """Lose the trait in Placement at the next `times` changes of compute services."""
        self._lifecycle.traits_to_lose = times

    def change_host(self, name, **values):
        """Change vcpus, memory_mb, disk_gb or traits of a hypervisor."""
        with self._transaction() as connection:
            hosts.change(connection, name, **values)

    def remove_host(self, name):
        """Remove a hypervisor from the cloud."""
        with self._transaction() as connection:
            hosts.remove(connection, name)

    def host_names(self):
        """Return the names of the hypervisors, in the order in which they were added."""
        with self._transaction() as connection:
            return [row['name'] for row in hosts.every(connection)]

    def delete_trustor(self, user_id):
        """Delete a user, and with that the trusts that the user gave."""
        with self._transaction() as connection:
            connection.execute('DELETE FROM trusts WHERE trustor_id = ?', (user_id,))
            connection.execute("INSERT OR IGNORE INTO departures VALUES (?, '')", (user_id,))

    def leave(self, user_id='', project_id=''):
        """Remove all roles of a user in a project; without a user, disable the project.

        A user without a project is disabled.
        """
        with self._transaction() as connection:
            connection.execute('INSERT OR IGNORE INTO departures VALUES (?, ?)',
                               (user_id, project_id))

    def join(self, user_id='', project_id=''):
        """Undo `leave`."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM departures WHERE user_id = ? AND project_id IN (?, '')",
                               (user_id, project_id))

    def set_unified_limit(self, name, most, project_id=''):
        """Set a unified limit of a project; without a project, the registered default."""
        with self._transaction() as connection:
            connection.execute('INSERT OR REPLACE INTO unified_limits VALUES (?, ?, ?)',
                               (project_id, name, most))

    def state(self):
        """Return a context manager of a transaction on the tables, which yields a connection."""
        return self._transaction()

    def close(self):
        """Close the state file; a cloud in memory is lost."""
        self._store.close()

    def _services(self, trust_id, project_id=None):
        connection = interface.SimulatedConnection(
            self._store, self.faults, self._queues, self._pool, self._lifecycle, trust_id,
            project_id)
        return base.CloudServices(self._kinds, lambda name: self._kinds[name](connection))

    @contextlib.contextmanager
    def _transaction(self):
        with self._store.transaction() as connection:
            self._lifecycle.settle(connection)
            yield connection


def _cloud_error(caller, error):
    return errors.CloudError(service=caller.service, reason=f'the state of the cloud: {error}')


def _tables(adapters):
    """Return the names of the tables of the adapters."""
    return [match[1] for adapter in adapters.values() for statement in adapter.tables
            if (match := _TABLE.match(statement))]


def _fill(connection, count):
    hosts.add_first(connection, count)
    flavors.add_first(connection)


def _flavor(connection, flavor_id, project_id):
    """Return the Flavor of that id; None if no id is given."""
    if flavor_id is None:
        return None
    flavor = flavors.usable(connection, flavor_id, project_id)
    if flavor is None:
        raise errors.NotFound(what=f'Flavor {flavor_id}')
    return flavor
