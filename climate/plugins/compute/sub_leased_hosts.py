# SPDX-License-Identifier: Apache-2.0
"""The hosts of sub-leases: they stay in the aggregate of their parent, and get another one.

Nova does not move a host with servers between availability zones. So the aggregate of a sub-lease
has no zone, and its metadata says that it comes before the aggregate of the parent. The scheduler
filter refuses new servers of the parent on its hosts. Servers of the parent that run there stay.
"""
from climate import errors
from climate.domain import sub_leases
from climate.domain import texts
from climate.plugins.compute import aggregates


def is_sub_lease(reservation):
    """Return whether a reservation is that of a sub-lease."""
    return sub_leases.PARENT in reservation.binding


def end(conf, cloud, reservation, drain):
    """Delete the servers of a sub-lease and its aggregate; the hosts stay with their parent.

    :param drain: the Drain of the reservation.
    :raises StillBusy: servers of the sub-lease are being deleted.
    """
    nova = cloud.as_service().nova
    own_aggregates = aggregates.all_of(conf, nova.aggregates(), reservation.id)
    for aggregate in own_aggregates:
        aggregates.close(conf, nova, aggregate)
    servers = drain.servers()
    for server in servers:
        nova.delete_server(server.id)
    if servers:
        raise errors.StillBusy.plain('Nova', texts.counted(
            len(servers), f'server of {reservation.id} is being deleted.',
            f'servers of {reservation.id} are being deleted.'))
    for aggregate in own_aggregates:
        nova.remove_hosts(aggregate, list(aggregate.hosts), True)
        nova.delete_aggregate(aggregate)


def in_use(nova, resources):
    """Return the ids of the Resources on which Nova lists servers."""
    hosts = {server.host for server in nova.servers_on(aggregates.service_hosts(resources))}
    return frozenset(each.id for each in resources if each.facts['service_name'] in hosts)
