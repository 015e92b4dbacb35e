# SPDX-License-Identifier: Apache-2.0
"""What a lease leaves on a leased server, its metadata, and whether it is there.

Only servers that are awake and left alone count, for Nova lets nobody change the others.
"""
import dataclasses

from climate.domain import audit
from climate.plugins.compute.servers import leased


@dataclasses.dataclass(frozen=True)
class Observed:
    """What is compared: all Servers."""

    servers: list


def observe(cloud):
    """As ``Audited.observe``."""
    return Observed(cloud.as_service().servers.every())


def traces(observed, resource_type):
    """As ``Audited.traces``; what names no reservation was made for the lease that it names."""
    for each in observed.servers:
        made_for = _made_for(each)
        if made_for is not None and _may_be_changed(each):
            yield audit.Trace(made_for, 'metadata of server', each.id, signed_by=resource_type)


def lacks(observed, lease, reservation):
    """As ``Audited.lacks``. A server that is gone is found by the manager's watch."""
    server_id = leased.id_of(reservation)
    wanted = {leased.LEASE_KEY: lease.id, leased.RESERVATION_KEY: reservation.id}
    return [audit.Drift('incomplete', f'reservation {reservation.id}',
                        f'the metadata of server {server_id} do not name it', audit.COMPLETE,
                        reservation.id)
            for each in observed.servers
            if each.id == server_id and _may_be_changed(each)
            and wanted.items() - each.metadata.items()]


def complete(cloud, lease, reservation):
    """As ``Audited.complete``."""
    leased.Leased(cloud, lease, reservation).mark(leased.ACTIVE)
    return dict(reservation.binding)


def clear(cloud, made_for):
    """Remove what Climate wrote on the servers of a reservation or lease that is over."""
    services = cloud.as_service()
    for each in services.servers.every():
        if made_for == _made_for(each):
            leased.remove_marks(services, each)


def _made_for(found):
    """The id of the reservation, else of the lease, that a server names, or None."""
    return found.metadata.get(leased.RESERVATION_KEY, found.metadata.get(leased.LEASE_KEY))


def _may_be_changed(found):
    return found.status in leased.AWAKE and found.task is None
