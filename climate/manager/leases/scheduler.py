# SPDX-License-Identifier: Apache-2.0
"""The use cases of single reservations, as Nova's scheduler asks for them."""
import dataclasses

from climate import errors
from climate.db import holdings
from climate.db import leases
from climate.db import reservations
from climate.domain import agenda
from climate.domain import lifecycle
from climate.domain import usability
from climate.plugins.compute import host_pool

_SERVICE_HOST = 'service_name'


class Reservations:
    """The use cases of single reservations."""

    def __init__(self, parts):
        self._core = parts

    def lease(self, reservation_id):
        """Return the Lease that a reservation belongs to, even a deleted one.

        :raises ReservationNotFound: no reservation has that id.
        """
        with self._core.database.reader() as connection:
            return leases.get(connection, reservations.lease_of(connection, reservation_id))

    def hosts(self, reservation_id, project_id):
        """Return the present Usability of a reservation for a project, with its hosts.

        :raises ReservationNotFound: no reservation has that id.
        """
        with self._core.database.reader() as connection:
            return self._hosts(connection, reservation_id, project_id)

    def hosts_of_server(self, server_id, project_id):
        """Return the present Usability, for a project, of the reservation that leases a server.

        :raises TargetGone: no reservation leases that server.
        """
        with self._core.database.reader() as connection:
            found = reservations.leasing(connection, [server_id])
            if server_id not in found:
                raise errors.TargetGone(f'No reservation leases server {server_id}.',
                                        kind='server', target_id=server_id)
            reservation_id, _ = found[server_id]
            return self._hosts(connection, reservation_id, project_id)

    def _hosts(self, connection, reservation_id, project_id):
        now = self._core.clock()
        holding = holdings.get(connection, reservation_id)
        plugin = self._core.registry.plugins.get(holding.resource_type)
        wakes, more, lease = False, {}, None
        if holding.state == lifecycle.ERROR:
            lease = leases.get(connection, holding.lease_id)
            holding = dataclasses.replace(holding, healing=agenda.is_being_healed(lease),
                                          deleting=agenda.deletion_ordered(lease))
        if plugin is not None and plugin.leases_targets:
            lease = lease or leases.get(connection, holding.lease_id)
            [reservation] = [each for each in lease.reservations if each.id == reservation_id]
            wakes = plugin.unshelves(reservation)
            more = {'ordinary': plugin.may_leave_pool(lease, reservation),
                    'server_id': plugin.leased_id(reservation),
                    'capacity': plugin.target_capacity(reservation)}
        found = dataclasses.replace(usability.judge(holding, project_id, now, wakes), **more)
        if not found.active:
            return found
        had = holdings.names(connection, reservation_id, host_pool.HostPool.name, _SERVICE_HOST,
                             now)
        return dataclasses.replace(
            found, hosts=tuple(name for name, _ in had),
            service_hosts=tuple(service or name for name, service in had))
