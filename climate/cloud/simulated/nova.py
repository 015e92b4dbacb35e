# SPDX-License-Identifier: Apache-2.0
"""Nova of the simulated cloud."""
from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import parallel
from climate.cloud.simulated import aggregates
from climate.cloud.simulated import hosts
from climate.cloud.simulated import quotas
from climate.cloud.simulated import servers


class Nova(base.Nova):
    """Nova under one identity.

    :param link: the Link of that identity.
    """

    def __init__(self, link):
        super().__init__(link.calls.trust_id)
        self._calls = link.calls
        self._pool = link.pool
        self._lifecycle = link.lifecycle

    def hypervisor(self, name):
        return self._call('hypervisor', lambda connection: hosts.record(
            connection, hosts.one(connection, name)))

    def hypervisor_name(self, hypervisor_id):
        if not (hypervisor_id.isascii() and hypervisor_id.isdigit()):
            return hypervisor_id
        return self._call('hypervisor_name', lambda connection: hosts.by_number(
            connection, hypervisor_id)['name'])

    def hypervisors(self):
        return self._call('hypervisors', lambda connection: [
            hosts.record(connection, row) for row in hosts.every(connection)])

    def servers_on(self, service_hosts):
        return self._call('servers_on', lambda connection: servers.on(
            connection, [each for each in service_hosts if each not in self._lifecycle.silent]))

    def delete_server(self, server_id):
        self._calls.make(
            'nova.delete_server', lambda connection, project_id: self._lifecycle.delete(
                connection, server_id, project_id), admin=False)

    def aggregate(self, name):
        return self._call('aggregate', lambda connection: aggregates.find(connection, name))

    def aggregates(self):
        return self._call('aggregates', aggregates.every)

    def ensure_aggregate(self, name, zone=None, metadata=None, known=None):
        found = self.aggregate(name) if known is None else models.named(known, name)
        found = found or self._call(
            'create_aggregate', lambda connection: aggregates.make(connection, name, zone))
        changes = {key: text for key, text in (metadata or {}).items()
                   if found.metadata.get(key) != text}
        rezoned = zone is not None and found.zone != zone
        if not changes and not rezoned:
            return found

        def work(connection):
            if rezoned:
                aggregates.set_zone(connection, found.id, zone)
            aggregates.set_metadata(connection, found.id, changes)
            return aggregates.find(connection, name)

        return self._call('set_aggregate_metadata', work)

    def set_aggregate_metadata(self, aggregate, metadata):
        self._call('set_aggregate_metadata', lambda connection: aggregates.set_metadata(
            connection, aggregate.id, metadata))

    def add_hosts(self, aggregate, service_hosts, alone=False, known_only=False):
        self._move('add_host', aggregates.add_host, aggregate, service_hosts,
                   ignored=errors.ResourceNotFound if known_only else ())

    def remove_hosts(self, aggregate, service_hosts, is_going=False):
        self._move('remove_host', aggregates.remove_host, aggregate, service_hosts)

    def delete_aggregate(self, aggregate):
        self._call('delete_aggregate',
                   lambda connection: aggregates.delete(connection, aggregate.id))

    def quotas(self, project_id):
        return self._call('quotas', lambda connection: quotas.of(connection, project_id))

    def _call(self, name, work):
        """Make a call that only an administrator may make."""
        return self._calls.make(f'nova.{name}', lambda connection, project_id: work(connection))

    def _move(self, name, work, aggregate, service_hosts, ignored=()):
        """Change the membership of each host, in a call of its own.

        :param ignored: the class of the errors that do not count.
        """
        def one(host):
            try:
                self._call(name, lambda connection: work(connection, aggregate.id, host))
            except ignored:
                return None
            except (errors.CloudError, errors.ResourceNotFound) as error:
                return error
            return None

        if self._pool is None:
            refused = [one(host) for host in service_hosts]
        else:
            refused = parallel.each(self._pool, one, service_hosts)
        # As the real one does: rather an error that waiting does not cure.
        single = {}
        for error in sorted(filter(None, refused),
                            key=lambda error: isinstance(error, errors.StillBusy)):
            if not isinstance(error, errors.ResourcesRefused):
                raise error
            single |= error.refused
        if single:
            raise errors.ResourcesRefused(service='Nova', refused=single)
