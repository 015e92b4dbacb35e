# SPDX-License-Identifier: Apache-2.0
"""The aggregates in which leased hosts are: each reservation of hosts has one, named by its id.

Enrolled hosts that are not leased are in the freepool, an aggregate too. A host is always in one
of them, because Nova places anybody's servers on a host that is in none.
"""
from oslo_log import log

from climate import errors
from climate.plugins.compute import shared_hosts

LOG = log.getLogger(__name__)


def occupy(conf, nova, lease, reservation, resources):
    """Let the project of a lease have these hosts and no other; return the aggregate.

    :raises StillBusy: servers run on hosts that the reservation no longer has.
    """
    wanted = service_hosts(resources)
    aggregate, freepool = hand_over(conf, nova, lease, reservation, resources)
    _take_back(nova, aggregate, sorted(set(aggregate.hosts) - set(wanted)), freepool, resources)
    return aggregate


def hand_over(conf, nova, lease, reservation, resources):
    """Let the project of a lease have these hosts; return (its Aggregate, the freepool)."""
    wanted = service_hosts(resources)
    known = nova.aggregates()
    aggregate = nova.ensure_aggregate(
        reservation.id, zone=zone(conf, reservation.id),
        metadata={conf.nova.aggregate_owner_key: lease.project_id}, known=known)
    freepool = nova.ensure_aggregate(conf.nova.aggregate_freepool, known=known)
    # In both for a moment: a host that is in no pool is open to everybody.
    nova.add_hosts(aggregate, wanted)
    nova.remove_hosts(freepool, wanted)
    return aggregate, freepool


def release(conf, nova, reservation, resources):
    """Delete the servers on the hosts of a reservation, and return the hosts to the freepool.

    :raises StillBusy: servers are still being deleted.
    """
    known = nova.aggregates()
    freepool = nova.ensure_aggregate(conf.nova.aggregate_freepool, known=known)
    aggregate = named(known, reservation.id)
    left = service_hosts(resources)
    if aggregate is not None:
        _open_to_nobody(conf, nova, aggregate)
        _take_back(nova, aggregate, list(aggregate.hosts), freepool, resources)
        nova.delete_aggregate(aggregate)
        left = [host for host in left if host not in aggregate.hosts]
    nova.add_hosts(freepool, left)


def delete_empty(conf, nova, name, resources):
    """Delete an aggregate that no reservation has any more, if it exists and no server is in it.

    :param resources: the enrolled hosts; only they return to the freepool.
    :raises StillBusy: servers run in it.
    """
    aggregate = nova.aggregate(name)
    if aggregate is None:
        return
    _refuse_servers(nova, aggregate)
    _open_to_nobody(conf, nova, aggregate)
    # Once more: from here on the filter lets no new one in.
    _refuse_servers(nova, aggregate)
    pooled = sorted(set(aggregate.hosts) & set(service_hosts(resources)))
    nova.add_hosts(nova.ensure_aggregate(conf.nova.aggregate_freepool), pooled)
    nova.remove_hosts(aggregate, list(aggregate.hosts))
    nova.delete_aggregate(aggregate)


def named(aggregates, name):
    """Return the Aggregate of that name, or None."""
    return next((each for each in aggregates if each.name == name), None)


def zone(conf, reservation_id):
    """Return the availability zone of a reservation's aggregate."""
    return conf.nova.availability_zone_prefix + reservation_id


def service_hosts(resources):
    """Return the names that Nova's compute services have on these hosts."""
    return [resource.facts['service_name'] for resource in resources]


def _open_to_nobody(conf, nova, aggregate):
    """Take the owner from an aggregate, so that the filter lets no new server in."""
    nova.set_aggregate_metadata(aggregate, {conf.nova.aggregate_owner_key: None})


def _take_back(nova, aggregate, hosts, freepool, resources):
    """Take these service hosts back, once they are empty.

    :param resources: those that the reservation has; servers of other hypervisors stay.
    """
    if not hosts:
        return
    servers = nova.servers_on(hosts)
    others = shared_hosts.of_others(nova, servers, resources)
    mine = [each for each in servers if each not in others]
    for server in mine:
        nova.delete_server(server.id)
    if mine:
        raise errors.StillBusy(service='Nova', reason=(
            f'{len(mine)} servers of {aggregate.name} are being deleted.'))
    if others:
        raise errors.StillBusy(service='Nova', reason=(
            f'{len(others)} servers on {others[0].host} are on a hypervisor that is not of '
            f'reservation {aggregate.name}; Climate does not delete them. Move them away.'))
    nova.add_hosts(freepool, hosts)
    nova.remove_hosts(aggregate, hosts)
    LOG.info('Reservation %s: hosts %s are back in the freepool', aggregate.name,
             ', '.join(hosts))


def _refuse_servers(nova, aggregate):
    servers = nova.servers_on(aggregate.hosts)
    if servers:
        raise errors.StillBusy(service='Nova', reason=(
            f'servers run on hosts of {aggregate.name} ({len(servers)}).'))
