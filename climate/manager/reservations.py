# SPDX-License-Identifier: Apache-2.0
"""One reservation, as Nova's scheduler asks for it."""
import dataclasses

from climate.db import holdings
from climate.domain import usability
from climate.plugins import pools

_SERVICE_HOST = 'service_name'


class Reservations:
    """The use cases of single reservations."""

    def __init__(self, parts):
        self._core = parts

    def hosts(self, reservation_id, project_id):
        """The Usability of a reservation for a project now, with the hosts that it has.

        :raises ReservationNotFound: no reservation has that id.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            found = usability.judge(holdings.get(connection, reservation_id), project_id, now)
            if not found.active:
                return found
            had = holdings.names(connection, reservation_id, pools.HostPool.name,
                                 _SERVICE_HOST, now)
        return dataclasses.replace(
            found, hosts=tuple(name for name, _ in had),
            service_hosts=tuple(service or name for name, service in had))
