# SPDX-License-Identifier: Apache-2.0
"""Find the hosts of single reservations for Nova's scheduler."""
import dataclasses

from climate import errors
from climate.db import leases
from climate.db import reservations
from climate.db import shares as stored_shares
from climate.db import sub_leases
from climate.db import usability as stored
from climate.domain import due_events
from climate.domain import lifecycle
from climate.domain import shares
from climate.domain import usability
from climate.plugins.compute import host_pool

_SERVICE_HOST = 'service_name'


class ReservationHosts:
    """The use cases of single reservations.

    A server may name a lease instead of a reservation if only one reservation of the lease is for
    servers.
    """

    def __init__(self, parts):
        self._core = parts

    def lease(self, reservation_id):
        """Return the Lease that a reservation belongs to, even a deleted one.

        :raises ReservationNotFound: no reservation has this id.
        """
        with self._core.database.reader() as connection:
            return leases.get(connection, reservations.lease_of(connection, reservation_id))

    def hosts(self, named_id, project_id):
        """Return the present Usability of a reservation for a project, with its hosts.

        :param named_id: the id of the reservation, or of a lease. If the lease does not have
            exactly one reservation for servers, it is not usable. The reason names all of them.
        :raises ReservationNotFound: no reservation and no lease has this id.
        """
        with self._core.database.reader() as connection:
            try:
                return self._hosts(connection, named_id, project_id)
            except errors.ReservationNotFound:
                lease = _lease_named(connection, named_id)
            ids = self._for_servers(lease)
            if len(ids) == 1:
                return self._hosts(connection, ids[0], project_id)
            return usability.not_one(lease, ids)

    def _for_servers(self, lease):
        """Return the ids of the reservations of a lease in which servers can be placed."""
        for_servers = [each for each in lease.reservations if self._is_for_servers(each)]
        # When a lease is over, all its reservations are deleted.
        open_ones = [each for each in for_servers if each.state != lifecycle.RESERVATION_DELETED]
        return [each.id for each in open_ones or for_servers]

    def _is_for_servers(self, reservation):
        """Return True if a reservation leases a server, or has capacity on hosts."""
        plugin = self._core.registry.plugins.get(reservation.resource_type)
        return plugin is not None and (plugin.schedules_targets or any(
            need.pool == host_pool.HostPool.name for need in plugin.needs(reservation.request)))

    def hosts_of_server(self, server_id, project_id):
        """Return the present Usability, for a project, of the reservation that leases a server.

        :raises TargetGone: no reservation leases the server.
        """
        with self._core.database.reader() as connection:
            reservation_id, _ = reservations.leasing(connection, [server_id]).get(
                server_id, (None, None))
            if reservation_id is None or not self._leases_server(connection, reservation_id):
                raise errors.TargetGone(f'No reservation leases server {server_id}.',
                                        kind='server', target_id=server_id)
            return self._hosts(connection, reservation_id, project_id)

    def _leases_server(self, connection, reservation_id):
        """Return True if the target of a reservation is a server, rather than, say, a volume."""
        plugin = self._core.registry.plugins.get(
            stored.get(connection, reservation_id).resource_type)
        # If the plugin is disabled, assume that the target is a server.
        return plugin is None or plugin.schedules_targets

    def _hosts(self, connection, reservation_id, project_id):
        now = self._core.clock()
        holding = stored.get(connection, reservation_id)
        plugin = self._core.registry.plugins.get(holding.resource_type)
        in_start, target_fields, lease = False, {}, None
        if holding.shared:
            holding = dataclasses.replace(holding, guests=shares.guests(
                stored_shares.of_leases(connection, [holding.lease_id]).get(
                    holding.lease_id, ()), now))
        if holding.state == lifecycle.ERROR:
            lease = leases.get(connection, holding.lease_id)
            holding = dataclasses.replace(holding, healing=due_events.will_be_retried(lease),
                                          deleting=due_events.deletion_ordered(lease))
        is_active = holding.reservation_state == lifecycle.RESERVATION_ACTIVE
        if plugin is not None and (plugin.schedules_targets or not is_active):
            lease = lease or leases.get(connection, holding.lease_id)
            [reservation] = [each for each in lease.reservations if each.id == reservation_id]
            in_start = plugin.schedules_in_start(reservation)
            if plugin.schedules_targets:
                target_fields = {'ordinary': plugin.may_leave_pool(lease, reservation),
                                 'server_id': plugin.leased_id(reservation),
                                 'capacity': plugin.target_capacity(reservation)}
        verdict = dataclasses.replace(usability.judge(holding, project_id, now, in_start),
                                      **target_fields)
        if not verdict.active:
            return verdict
        names = stored.resource_names(connection, reservation_id, host_pool.HostPool.name,
                                      _SERVICE_HOST, now, *_sub_leased(connection, holding, now))
        return dataclasses.replace(
            verdict, hosts=tuple(name for name, _ in names),
            service_hosts=tuple(service or name for name, service in names))


def _sub_leased(connection, holding, now):
    """Return what sub-leases mean for the hosts of a reservation.

    :returns: (the ids of the parent's reservations, which hold the hosts of a sub-lease; the ids
        of the hosts on which sub-leases have begun and are not over).
    """
    holders, without = (), set()
    if holding.parent_id is not None:
        parent = sub_leases.parents(connection, [holding.parent_id]).get(holding.parent_id)
        holders = () if parent is None else parent.reservation_ids
    if holding.sub_leased:
        without = {key for each in sub_leases.of_parents(connection, [holding.lease_id]).get(
            holding.lease_id, ()) if each.start <= now for key in each.resource_ids}
    return holders, without


def _lease_named(connection, named_id):
    """Return the lease that is named instead of a reservation.

    :raises ReservationNotFound: no lease has this id.
    """
    try:
        return leases.get(connection, named_id)
    except errors.LeaseNotFound as error:
        raise errors.ReservationNotFound(reservation_id=named_id) from error
