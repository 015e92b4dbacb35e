# SPDX-License-Identifier: Apache-2.0
"""The drain of leased hosts: their servers are deleted, and the hosts return to the freepool."""
import dataclasses
from typing import Any

from climate import errors
from climate.domain import texts
from climate.plugins.compute import aggregates
from climate.plugins.compute import foreign
from climate.plugins.compute import parent_marks

# The prefix of the keys of warnings about servers that stay.
_STAYS = 'foreign server '


@dataclasses.dataclass(frozen=True)
class Drain:
    """Drains the hosts of one reservation.

    :ivar cloud: the ``plugins.cloud.LeaseCloud`` of the action.
    :ivar resources: the Resources that the reservation occupies. Servers on other hypervisors of
        the same service hosts stay.
    :ivar images: the ServerImages or NoImages of the servers that are deleted.
    """

    conf: Any
    cloud: Any
    lease: Any
    reservation: Any
    resources: Any
    images: Any

    def lost_hosts(self, aggregate, freepool, kept):
        """Drain the hosts that the reservation does not have any more.

        :param kept: the Resources that it still has.
        :raises StillBusy: servers are still on the drained hosts.
        :raises CloudError: a server is kept, because it has no image.
        """
        kept_hosts = set(aggregates.service_hosts(kept))
        self._drain(aggregate, sorted(set(aggregate.hosts) - kept_hosts), freepool)
        # Hosts in the freepool were never handed over.
        self._return_removed(set(aggregates.service_hosts(self.resources)) - kept_hosts
                             - {*aggregate.hosts, *freepool.hosts}, freepool)

    def all_hosts(self):
        """Drain all hosts of the reservation, and delete its aggregate.

        If servers stay, the hosts without servers are returned nevertheless.

        :raises StillBusy: servers are being imaged or deleted, or Climate must not delete them.
        :raises CloudError: a server is kept, because it has no image.
        """
        nova = self.cloud.as_service().nova
        all_aggregates = nova.aggregates()
        freepool = nova.ensure_aggregate(self.conf.nova.aggregate_freepool, known=all_aggregates)
        removed = aggregates.service_hosts(self.resources)
        for aggregate in aggregates.all_of(self.conf, all_aggregates, self.reservation.id):
            aggregates.close(self.conf, nova, aggregate)
            self._drain(aggregate, list(aggregate.hosts), freepool, is_end=True)
            nova.delete_aggregate(aggregate)
            removed = [host for host in removed if host not in aggregate.hosts]
        self._return_removed(removed, freepool)

    def _return_removed(self, hosts, freepool):
        """Return the hosts that somebody removed from the reservation's aggregate.

        :raises StillBusy: servers of the reservation on these hosts are being deleted.
        """
        if not hosts:
            return
        hosts = sorted(hosts)
        services = self.cloud.as_service()
        own_servers = self._servers_on_removed(services, hosts)
        unsaved = self._delete(own_servers)
        if unsaved is not None:
            raise unsaved
        self._refuse(own_servers, [], [])
        services.nova.add_hosts(freepool, hosts, known_only=True)

    def _delete(self, servers):
        """Delete the Servers that the images release; return the error for the others, or None."""
        released, unsaved = self.images.release(servers)
        for server in released:
            self.cloud.as_service().nova.delete_server(server.id)
        return unsaved

    def secure(self):
        """Close the hosts to new servers, and make images of the present servers.

        :raises StillBusy: some images are not active yet, or not all servers are known.
        :raises CloudError: a server is kept, because it has no image.
        """
        nova = self.cloud.as_service().nova
        for aggregate in aggregates.all_of(self.conf, nova.aggregates(), self.reservation.id):
            aggregates.close(self.conf, nova, aggregate)
        _, unsaved = self.images.release(self.servers())
        if unsaved is not None:
            raise unsaved

    def servers(self):
        """Return the Servers that the end of the reservation deletes.

        :raises StillBusy: not all servers are known.
        """
        services = self.cloud.as_service()
        return [server for aggregate in aggregates.all_of(
                    self.conf, services.nova.aggregates(), self.reservation.id)
                for server in self._own_servers(services, aggregate, aggregate.hosts)]

    def lost_servers(self, kept=None):
        """Return the Servers that `lost_hosts` or `all_hosts` would delete. Reads only.

        :param kept: the Resources that `lost_hosts` would keep; None: as `all_hosts`.
        :raises StillBusy: not all servers are known.
        """
        services = self.cloud.as_service()
        all_aggregates, servers = services.nova.aggregates(), []
        stay = set(aggregates.service_hosts(kept or ()))
        removed = set(aggregates.service_hosts(self.resources)) - stay
        for aggregate in aggregates.all_of(self.conf, all_aggregates, self.reservation.id):
            servers += self._own_servers(services, aggregate,
                                         sorted(set(aggregate.hosts) - stay))
            removed -= set(aggregate.hosts)
        freepool = aggregates.named(all_aggregates, self.conf.nova.aggregate_freepool)
        if kept is not None and freepool is not None:
            removed -= set(freepool.hosts)
        return servers + (self._servers_on_removed(services, sorted(removed)) if removed else [])

    def _own_servers(self, services, aggregate, hosts):
        """Return the Servers on service hosts of an aggregate, without those that stay."""
        if not hosts:
            return []
        servers, _ = self._servers_on(services, hosts)
        staying = self._staying(aggregate, servers)
        return [server for server in servers if server not in staying]

    def _servers_on_removed(self, services, hosts):
        """Return the reservation's Servers on hosts that somebody removed from its aggregate."""
        servers, _ = aggregates.servers_on(services, hosts, self.resources)
        foreign_servers = foreign.on_leased(servers, self.lease.project_id, None, self._names)
        return [server for server in servers if server not in foreign_servers]

    def _drain(self, aggregate, hosts, freepool, is_end=False):
        """Drain these service hosts.

        :param is_end: True if the caller deletes the aggregate next. Then empty hosts do not wait
            for servers that stay on the other hosts for long.
        """
        if not hosts:
            return
        services = self.cloud.as_service()
        own_hosts = sorted(set(hosts) & set(aggregates.service_hosts(self.resources)))
        servers, elsewhere = self._servers_on(services, hosts)
        staying = self._staying(aggregate, servers)
        own_servers = [server for server in servers if server not in staying]
        unsaved = self._delete(own_servers)
        empty = sorted(set(own_hosts) - {server.host for server in [*servers, *elsewhere]})
        if is_end and empty and _lasts(own_servers, staying, unsaved):
            aggregates.move_to_freepool(services.nova, aggregate, empty, freepool)
            self.cloud.release(self.reservation, [
                resource for resource in self.resources
                if resource.facts['service_name'] in empty])
        if unsaved is not None:
            raise unsaved
        self._refuse(own_servers, staying, elsewhere)
        if own_hosts:
            aggregates.move_to_freepool(services.nova, aggregate, own_hosts, freepool,
                                        is_going=is_end)
        if len(own_hosts) < len(hosts):
            # An administrator added the other hosts. Only remove them from the aggregate.
            services.nova.remove_hosts(aggregate, sorted(set(hosts) - set(own_hosts)), is_end)

    def _servers_on(self, services, hosts):
        """Return the result of ``aggregates.servers_on`` for service hosts of the aggregate.

        If somebody added a host to the aggregate, its result has only servers that were booted with
        the reservation.
        """
        own_hosts = aggregates.service_hosts(self.resources)
        return [[server for server in servers
                 if server.host in own_hosts or foreign.booted_with(server, self._names)]
                for servers in aggregates.servers_on(services, hosts, self.resources)]

    @property
    def _names(self):
        """The ids by which a scheduler hint can name the reservation."""
        return {self.reservation.id, self.lease.id}

    def _staying(self, aggregate, servers):
        """Return the Servers on hosts of the reservation that Climate does not delete."""
        if self.conf['physical:host'].foreign_servers == 'delete' and not (
                parent_marks.names(aggregate)):
            return []
        return foreign.on_leased(servers, self.lease.project_id, aggregate, self._names)

    def _refuse(self, deleted, staying, elsewhere):
        """Raise StillBusy if any server still occupies its host.

        :param deleted: Servers that are being deleted.
        :param staying: Servers that Climate does not delete.
        :param elsewhere: Servers on other hypervisors of the same service hosts.
        """
        name = self.reservation.id
        if deleted:
            raise errors.StillBusy.plain('Nova', texts.counted(
                len(deleted), f'server of {name} is being deleted.',
                f'servers of {name} are being deleted.'))
        if staying:
            for server in staying:
                self._warn_of(server)
            raise errors.StillBusy.plain('Nova', texts.counted(
                len(staying),
                f'server on a host of reservation {name} was not booted with it. Climate does '
                'not delete it: its owner must delete it, or an administrator must move it.',
                f'servers on hosts of reservation {name} were not booted '
                'with it. Climate does not delete them: their owners must delete them, or an '
                'administrator must move them.'))
        if elsewhere:
            raise errors.StillBusy(service='Nova', reason=texts.counted(
                len(elsewhere),
                f'server on {elsewhere[0].host} is on a hypervisor that reservation {name} does '
                'not include; Climate does not delete it. Move it away.',
                f'servers on {elsewhere[0].host} are on a hypervisor that reservation {name} does '
                'not include; Climate does not delete them. Move them away.',
            ), owner_reason=texts.counted(
                len(elsewhere),
                f'server runs on a hypervisor that reservation {name} does not include; an '
                'administrator must move it away.',
                f'servers run on a hypervisor that reservation {name} does not include; an '
                'administrator must move them away.'))

    def _warn_of(self, server):
        """Warn once of a foreign Server that delays the return of its host."""
        is_own = server.project_id == self.lease.project_id
        subject = f'Server {server.name} ({server.id})' if is_own else 'A server of another project'
        self.cloud.warn(self.reservation, f'{_STAYS}{server.id}', (
            f'{subject} on a host of reservation {self.reservation.id} was not booted with it, so '
            'Climate does not delete it. The host is released when the server is gone.'), (
            f'Foreign server {server.id} of project {server.project_id} on host {server.host} '
            f'keeps the host of reservation {self.reservation.id}: move or delete it.'))


def _lasts(deleted, staying, unsaved):
    """Return True if the empty hosts must not wait for the servers on the other hosts."""
    failed = unsaved is not None and not isinstance(unsaved, errors.StillBusy)
    return failed or (staying and not deleted)
