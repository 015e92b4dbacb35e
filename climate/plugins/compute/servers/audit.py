# SPDX-License-Identifier: Apache-2.0
"""The audit of leased servers: the metadata that a lease writes on its server.

Only servers that are awake and have no task are compared, because Nova refuses to change the
metadata of other servers.
"""
from climate.domain import audit
from climate.plugins import audited
from climate.plugins.compute.servers import nova_server


def traces(servers, resource_type):
    """Yield the Traces, as ``Audited.traces``.

    A server that is not bound to a reservation yet names only its lease.
    """
    for server in servers:
        made_for = _made_for(server)
        if made_for is not None and _may_be_changed(server):
            yield audit.Trace(made_for, 'metadata of server', server.id, signed_by=resource_type)


def lacks(servers, lease, reservation):
    """Return the Drifts, as ``Audited.lacks``."""
    server_id = nova_server.id_of(reservation)
    if server_id is not None and server_id not in {server.id for server in servers}:
        return [audit.Drift('incomplete', f'reservation {reservation.id}',
                            f'its server {server_id} is gone')]
    marks = {nova_server.LEASE_KEY: lease.id, nova_server.RESERVATION_KEY: reservation.id}
    return [audited.incomplete(reservation, f'server {server_id} does not name it in its metadata')
            for server in servers if server.id == server_id and _may_be_changed(server)
            and marks.items() - server.metadata.items()]


def clear(cloud, made_for):
    """Remove the metadata from the servers of an ended reservation or lease."""
    services = cloud.as_service()
    for server in services.servers.every():
        if made_for == _made_for(server):
            nova_server.remove_marks(services, server)


def _made_for(server):
    """Return the id of the reservation or else of the lease that a server names, or None."""
    return server.metadata.get(nova_server.RESERVATION_KEY,
                               server.metadata.get(nova_server.LEASE_KEY))


def _may_be_changed(server):
    return server.status in nova_server.AWAKE and server.task is None
