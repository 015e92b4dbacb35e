# SPDX-License-Identifier: Apache-2.0
"""The hypervisors, aggregates and quotas of the simulated Nova."""
from climate import errors
from climate.cloud import base
from climate.cloud import concurrency
from climate.cloud import models
from climate.cloud.simulated import aggregates
from climate.cloud.simulated import attachments
from climate.cloud.simulated import computes
from climate.cloud.simulated import flavors
from climate.cloud.simulated import hosts
from climate.cloud.simulated import interface
from climate.cloud.simulated import server_rows
from climate.cloud.simulated import servers
from climate.cloud.simulated import storage


class SimulatedNova(interface.SimulatedInterface, base.Nova):
    """Nova under one identity."""

    def hypervisor(self, name):
        return self._admin_call('hypervisor', lambda connection: hosts.record(
            connection, hosts.one(connection, name)))

    def hypervisor_name(self, hypervisor_id):
        if not (hypervisor_id.isascii() and hypervisor_id.isdigit()):
            return hypervisor_id
        return self._admin_call('hypervisor_name', lambda connection: hosts.by_number(
            connection, hypervisor_id)['name'])

    def hypervisors(self):
        return self._admin_call('hypervisors', lambda connection: [
            hosts.record(connection, row) for row in hosts.every(connection)])

    def servers_on(self, service_hosts):
        return self._admin_call('servers_on', lambda connection: server_rows.on(
            connection, [host for host in service_hosts if host not in self._lifecycle.silent]))

    def delete_server(self, server_id):
        self._call('delete_server', lambda connection, project_id: self._lifecycle.delete(
            connection, server_id, project_id))

    def aggregate(self, name):
        return self._admin_call('aggregate', lambda connection: aggregates.find(connection, name))

    def aggregates(self):
        return self._admin_call('aggregates', aggregates.every)

    def ensure_aggregate(self, name, zone=None, metadata=None, known=None):
        aggregate = self.aggregate(name) if known is None else models.named(known, name)
        aggregate = aggregate or self._admin_call(
            'create_aggregate', lambda connection: aggregates.make(connection, name, zone))
        changes = {key: text for key, text in (metadata or {}).items()
                   if aggregate.metadata.get(key) != text}
        rezoned = zone is not None and aggregate.zone != zone
        if not changes and not rezoned:
            return aggregate

        def work(connection):
            if rezoned:
                aggregates.set_zone(connection, aggregate.id, zone)
            aggregates.set_metadata(connection, aggregate.id, changes)
            return aggregates.find(connection, name)
        return self._admin_call('set_aggregate_metadata', work)

    def set_aggregate_metadata(self, aggregate, metadata):
        self._admin_call('set_aggregate_metadata', lambda connection: aggregates.set_metadata(
            connection, aggregate.id, metadata))

    def add_hosts(self, aggregate, service_hosts, alone=False, known_only=False):
        self._move('add_host', aggregates.add_host, aggregate, service_hosts,
                   ignored=errors.ResourceNotFound if known_only else ())

    def remove_hosts(self, aggregate, service_hosts, is_going=False):
        self._move('remove_host', aggregates.remove_host, aggregate, service_hosts)

    def delete_aggregate(self, aggregate):
        self._admin_call('delete_aggregate',
                         lambda connection: aggregates.delete(connection, aggregate.id))

    def quotas(self, project_id):
        return self._admin_call('quotas', lambda connection: quotas(connection, project_id))

    def _move(self, name, work, aggregate, service_hosts, ignored=()):
        """Change the membership of each host, in a call of its own.

        :param ignored: the class of the errors to ignore.
        """
        def one(host):
            try:
                self._admin_call(name, lambda connection: work(connection, aggregate.id, host))
            except ignored:
                return None
            except (errors.CloudError, errors.ResourceNotFound) as error:
                return error
            return None

        if self._cloud.pool is None:
            refused = [one(host) for host in service_hosts]
        else:
            refused = concurrency.call_all(self._cloud.pool, one, service_hosts)
        self.raise_worst(filter(None, refused))


def quotas(connection, project_id):
    """Return {name: Quota} of a project; there is no limit unless one was set."""
    limits = {row['name']: row['most'] for row in connection.execute(
        'SELECT * FROM quotas WHERE project_id = ?', (project_id,))}
    flavors_used = [server_rows.flavor(row) for row in connection.execute(
        'SELECT * FROM servers WHERE project_id = ?', (project_id,))]
    used = {'instances': len(flavors_used),
            'cores': sum(flavor.vcpus for flavor in flavors_used if flavor),
            'ram': sum(flavor.ram for flavor in flavors_used if flavor)}
    return {name: models.Quota(limits.get(name), count) for name, count in used.items()}


class SimulatedNovaAdapter(base.NovaAdapter):
    """Nova of the simulated cloud."""

    interfaces = {'nova': SimulatedNova, 'flavors': flavors.SimulatedFlavors,
                  'servers': servers.SimulatedServers, 'computes': computes.SimulatedComputes,
                  'attachments': attachments.SimulatedAttachments}
    tables = storage.TABLES
