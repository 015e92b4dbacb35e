# SPDX-License-Identifier: Apache-2.0
"""The audit of leased servers: the metadata that a lease writes on its server.

Only servers that are awake and have no task count, because Nova lets no client change the others.
"""
import dataclasses

from climate.domain import audit
from climate.plugins.compute.servers import leased


@dataclasses.dataclass(frozen=True)
class Observed:
    """What is observed of the cloud: all Servers."""

    servers: list


def observe(cloud):
    """Observe the cloud, as ``Audited.observe``."""
    return Observed(cloud.as_service().servers.every())


def traces(observed, resource_type):
    """Return the Traces, as ``Audited.traces``; a server may name only its lease."""
    for each in observed.servers:
        made_for = _made_for(each)
        if made_for is not None and _may_be_changed(each):
            yield audit.Trace(made_for, 'metadata of server', each.id, signed_by=resource_type)


def lacks(observed, lease, reservation):
    """Return the Drifts, as ``Audited.lacks``; the target watch ends the lease of a lost server."""
    server_id = leased.id_of(reservation)
    if server_id is not None and server_id not in {each.id for each in observed.servers}:
        return [audit.Drift('incomplete', f'reservation {reservation.id}',
                            f'its server {server_id} is gone')]
    wanted = {leased.LEASE_KEY: lease.id, leased.RESERVATION_KEY: reservation.id}
    return [audit.Drift('incomplete', f'reservation {reservation.id}',
                        f'the metadata of server {server_id} do not name it', audit.COMPLETE,
                        reservation.id)
            for each in observed.servers
            if each.id == server_id and _may_be_changed(each)
            and wanted.items() - each.metadata.items()]


def complete(cloud, lease, reservation):
    """Write the metadata again, as ``Audited.complete``."""
    leased.Leased(cloud, lease, reservation).mark(leased.ACTIVE)
    return dict(reservation.binding)


def clear(cloud, made_for):
    """Remove the metadata from the servers of an ended reservation or lease."""
    services = cloud.as_service()
    for each in services.servers.every():
        if made_for == _made_for(each):
            leased.remove_marks(services, each)


def _made_for(found):
    """Return the id of the reservation that a server names, else of its lease, or None."""
    return found.metadata.get(leased.RESERVATION_KEY, found.metadata.get(leased.LEASE_KEY))


def _may_be_changed(found):
    return found.status in leased.AWAKE and found.task is None
