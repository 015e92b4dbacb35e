# SPDX-License-Identifier: Apache-2.0
"""Idle hosts and capacity are taken back: first nothing may come, then it is seen what is there."""
from climate import errors
from climate.plugins.compute import aggregates

# The statuses of a server that has no host and gets none by itself.
_AT_REST = frozenset({'SHELVED_OFFLOADED', 'ERROR', 'DELETED', 'SOFT_DELETED'})
_HINT = 'reservation'


def close(conf, cloud, reservation):
    """Take the owner from the aggregate of a reservation, so that the filter lets no server in.

    Climate's own answer to the filter refuses the reservation, too, while its lease is being taken
    back; the filter asks again where a remembered answer contradicts the aggregate.
    """
    nova = cloud.as_service().nova
    aggregate = nova.aggregate(reservation.id)
    if aggregate is None:
        raise errors.StillBusy.plain('Nova', f'the aggregate of {reservation.id} is missing.')
    aggregates.close(conf, nova, aggregate)


def occupied(cloud, lease, reservation, resources):
    """Return the ids of the Resources on which there is a server, or on which one may come.

    A server that was let in before `close` is listed before it has a host.
    """
    if not resources:
        return frozenset()
    services = cloud.as_service()
    on_its_way = [each for each in services.servers.every()
                  if _may_come(each, lease, reservation)]
    if on_its_way:
        return frozenset(each.id for each in resources)
    # After the list of all: a server that found its host meanwhile is seen here.
    servers, beside = aggregates.servers_on(
        services, aggregates.service_hosts(resources), resources)
    taken = {each.host for each in (*servers, *beside)}
    return frozenset(each.id for each in resources if each.facts['service_name'] in taken)


def occupied_capacity(cloud, reservation, resources):
    """Return the ids of all Resources if any server has the private flavor, wherever it is."""
    services = cloud.as_service()
    there = services.flavors.servers(reservation.id)
    # The servers of a cell that does not answer are not in that list.
    aggregates.refuse_silent(services, aggregates.service_hosts(resources))
    return frozenset(each.id for each in resources) if there else frozenset()


def give_up(conf, cloud, reservation, resources):
    """Return empty hosts to the freepool.

    :raises StillBusy: a server is on one of them; Nova lets no host with servers leave a zone.
    """
    nova = cloud.as_service().nova
    known = nova.aggregates()
    freepool = nova.ensure_aggregate(conf.nova.aggregate_freepool, known=known)
    aggregates.move_to_freepool(nova, aggregates.named(known, reservation.id),
                                aggregates.service_hosts(resources), freepool)


def _may_come(server, lease, reservation):
    """Return whether a Server that is being placed or moved may come onto the reservation."""
    if server.host is None and server.status in _AT_REST and server.task is None:
        return False
    if server.host is not None and server.task is None:
        return False
    if server.hints is None:
        # An older Nova does not show with which hints a server was booted.
        return server.project_id == lease.project_id
    return not {reservation.id, lease.id}.isdisjoint(server.hints.get(_HINT, ()))
