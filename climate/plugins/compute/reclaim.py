# SPDX-License-Identifier: Apache-2.0
"""The reclaim of idle hosts and capacity: close them, check that they are empty, return them."""
from climate import errors
from climate.plugins.compute import aggregates

# Statuses in which a server without a host gets a host only on request.
_AT_REST = frozenset({'SHELVED_OFFLOADED', 'ERROR', 'DELETED', 'SOFT_DELETED'})
_HINT = 'reservation'


def close(conf, cloud, reservation):
    """Remove the owner from the aggregate of a reservation, so that the filter admits no servers.

    While the lease is being reclaimed, Climate also reports to the filter that the reservation is
    not usable. If a cached report contradicts the aggregate, the filter asks again.
    """
    nova = cloud.as_service().nova
    aggregate = nova.aggregate(reservation.id)
    if aggregate is None:
        raise errors.StillBusy.plain('Nova', f'the aggregate of {reservation.id} is missing.')
    aggregates.close(conf, nova, aggregate)


def occupied(cloud, lease, reservation, resources):
    """Return the ids of the Resources that have a server, or may get one that is being placed.

    A server that was admitted before `close` may not have a host yet.
    """
    if not resources:
        return frozenset()
    services = cloud.as_service()
    if any(_may_arrive(server, lease, reservation) for server in services.servers.every()):
        return frozenset(resource.id for resource in resources)
    # List these servers only after the check above. A server that got its host since then is
    # in this list.
    servers, others = aggregates.servers_on(
        services, aggregates.service_hosts(resources), resources)
    occupied_hosts = {server.host for server in (*servers, *others)}
    return frozenset(resource.id for resource in resources
                     if resource.facts['service_name'] in occupied_hosts)


def occupied_capacity(cloud, reservation, resources):
    """Return the ids of all Resources if any server on any host has the private flavor."""
    services = cloud.as_service()
    servers = services.flavors.servers(reservation.id)
    # Nova leaves out the servers of a cell that does not answer.
    aggregates.refuse_silent(services, aggregates.service_hosts(resources))
    return frozenset(resource.id for resource in resources) if servers else frozenset()


def give_up(conf, cloud, reservation, resources):
    """Return empty hosts to the freepool.

    :raises StillBusy: a server is on one of them; Nova lets no host with servers leave a zone.
    """
    nova = cloud.as_service().nova
    all_aggregates = nova.aggregates()
    freepool = nova.ensure_aggregate(conf.nova.aggregate_freepool, known=all_aggregates)
    aggregates.move_to_freepool(nova, aggregates.named(all_aggregates, reservation.id),
                                aggregates.service_hosts(resources), freepool)


def _may_arrive(server, lease, reservation):
    """Return whether a Server is being placed or moved, perhaps to hosts of the reservation."""
    if server.host is None and server.status in _AT_REST and server.task is None:
        return False
    if server.host is not None and server.task is None:
        return False
    if server.hints is None:
        # An older Nova does not show with which hints a server was booted.
        return server.project_id == lease.project_id
    return not {reservation.id, lease.id}.isdisjoint(server.hints.get(_HINT, ()))
