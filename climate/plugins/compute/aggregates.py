# SPDX-License-Identifier: Apache-2.0
"""The aggregates in which leased hosts are: each reservation of hosts has one, named by its id.

Enrolled hosts that are not leased are in the freepool, an aggregate too. A host is always in one
of them, because Nova places anybody's servers on a host that is in none.
"""
import contextlib

from oslo_log import log

from climate import errors
from climate.plugins.compute import foreign
from climate.plugins.compute import shared_hosts

LOG = log.getLogger(__name__)


def occupy(conf, services, lease, reservation, resources, images):
    """Let the project of a lease have these hosts and no other; return the aggregate.

    :param images: the ``server_images.Images`` or NoImages of servers that it deletes.
    :raises ResourcesRefused: as `hand_over`.
    :raises StillBusy: servers run on hosts that the reservation no longer has.
    :raises CloudError: a server that has no image is kept.
    """
    wanted = service_hosts(resources)
    aggregate, freepool = hand_over(conf, services.nova, lease, reservation, resources)
    _take_back(conf, services, lease, aggregate, sorted(set(aggregate.hosts) - set(wanted)),
               freepool, resources, images)
    return aggregate


def hand_over(conf, nova, lease, reservation, resources):
    """Let the project of a lease have these hosts; return (its Aggregate, the freepool).

    :raises ResourcesRefused: Nova refuses some of the hosts: servers are on them, or they are in
        another zone. They stay where they are.
    """
    wanted = service_hosts(resources)
    known = nova.aggregates()
    aggregate = nova.ensure_aggregate(
        reservation.id, zone=zone(conf, reservation.id),
        metadata={conf.nova.aggregate_owner_key: lease.project_id}, known=known)
    freepool = nova.ensure_aggregate(conf.nova.aggregate_freepool, known=known)
    # In both for a moment: a host that is in no pool is open to everybody.
    with resource_names(resources):
        nova.add_hosts(aggregate, wanted)
    nova.remove_hosts(freepool, wanted)
    return aggregate, freepool


def release(conf, services, lease, reservation, resources, images, returned):
    """Delete the servers on the hosts of a reservation, and return the hosts to the freepool.

    If servers are kept, the hosts without servers are returned nevertheless.

    :param images: as in `occupy`.
    :param returned: callable(service hosts), called after hosts were returned beside kept servers.
    :raises StillBusy: servers are still being imaged or deleted, or servers that Climate does not
        delete are in the way.
    :raises CloudError: a server that has no image is kept.
    """
    nova = services.nova
    known = nova.aggregates()
    freepool = nova.ensure_aggregate(conf.nova.aggregate_freepool, known=known)
    aggregate = named(known, reservation.id)
    left = service_hosts(resources)
    if aggregate is not None:
        _open_to_nobody(conf, nova, aggregate)
        _take_back(conf, services, lease, aggregate, list(aggregate.hosts), freepool, resources,
                   images, returned)
        nova.delete_aggregate(aggregate)
        left = [host for host in left if host not in aggregate.hosts]
    nova.add_hosts(freepool, left)


def delete_empty(conf, services, name, resources):
    """Delete an aggregate that no reservation has any more, if it exists and no server is in it.

    :param resources: the enrolled hosts; only they return to the freepool.
    :raises StillBusy: servers run in it.
    """
    nova = services.nova
    aggregate = nova.aggregate(name)
    if aggregate is None:
        return
    _refuse_servers(services, aggregate)
    _open_to_nobody(conf, nova, aggregate)
    # Once more: from here on the filter lets no new one in.
    _refuse_servers(services, aggregate)
    pooled = sorted(set(aggregate.hosts) & set(service_hosts(resources)))
    nova.add_hosts(nova.ensure_aggregate(conf.nova.aggregate_freepool), pooled)
    nova.remove_hosts(aggregate, list(aggregate.hosts))
    nova.delete_aggregate(aggregate)


def servers_of(conf, services, lease, reservation, resources):
    """Return the Servers on the hosts of a reservation that are deleted at its end.

    :param resources: those that the reservation has; servers of other hypervisors do not count.
    :raises StillBusy: Nova does not know all of them.
    """
    aggregate = services.nova.aggregate(reservation.id)
    if aggregate is None:
        return []
    servers = _servers_on(services, aggregate.hosts, resources)[0]
    kept = _kept(conf, lease, aggregate, servers)
    return [each for each in servers if each not in kept]


def named(aggregates, name):
    """Return the Aggregate of that name, or None."""
    return next((each for each in aggregates if each.name == name), None)


def zone(conf, reservation_id):
    """Return the availability zone of a reservation's aggregate."""
    return conf.nova.availability_zone_prefix + reservation_id


@contextlib.contextmanager
def resource_names(resources):
    """Let refusals of Nova name the Resources instead of their service hosts."""
    try:
        yield
    except errors.ResourcesRefused as error:
        names = {each.facts['service_name']: each.name for each in resources}
        raise errors.ResourcesRefused(service='Nova', refused={
            names[host]: reason for host, reason in error.refused.items()}) from error


def service_hosts(resources):
    """Return the names that Nova's compute services have on these hosts."""
    return [resource.facts['service_name'] for resource in resources]


def _open_to_nobody(conf, nova, aggregate):
    """Take the owner from an aggregate, so that the filter lets no new server in."""
    nova.set_aggregate_metadata(aggregate, {conf.nova.aggregate_owner_key: None})


def _take_back(conf, services, lease, aggregate, hosts, freepool, resources, images,
               returned=None):
    """Take these service hosts back, once they are empty.

    Foreign servers are deleted only if the option says so.

    :param resources: those that the reservation has; servers of other hypervisors stay.
    :param images: as in `occupy`.
    :param returned: as in `release`.
    """
    if not hosts:
        return
    nova = services.nova
    mine, others = _servers_on(services, hosts, resources)
    strangers = _kept(conf, lease, aggregate, mine)
    mine = [each for each in mine if each not in strangers]
    released, unsaved = images.release(mine)
    for server in released:
        nova.delete_server(server.id)
    empty = sorted(set(hosts) - {each.host for each in [*mine, *strangers, *others]})
    kept = strangers and not mine
    if empty and returned is not None and (kept or (
            unsaved is not None and not isinstance(unsaved, errors.StillBusy))):
        _return(nova, aggregate, empty, freepool)
        returned(empty)
    if unsaved is not None:
        raise unsaved
    if mine:
        raise errors.StillBusy.plain('Nova', (
            f'{len(mine)} servers of {aggregate.name} are being deleted.'))
    if strangers:
        LOG.warning('Reservation %s: foreign servers keep its hosts, move or delete them: %s',
                    aggregate.name, ', '.join(f'{each.id} on {each.host}' for each in strangers))
        raise errors.StillBusy.plain('Nova', (
            f'{len(strangers)} servers on hosts of reservation {aggregate.name} were not booted '
            'with it. Climate does not delete them: their owners must delete them, or an '
            'administrator must move them.'))
    if others:
        raise errors.StillBusy(service='Nova', reason=(
            f'{len(others)} servers on {others[0].host} are on a hypervisor that is not of '
            f'reservation {aggregate.name}; Climate does not delete them. Move them away.'
        ), owner_reason=(
            f'{len(others)} servers run beside the hosts of reservation {aggregate.name}; an '
            'administrator must move them away.'))
    _return(nova, aggregate, hosts, freepool)


def _kept(conf, lease, aggregate, servers):
    """Return those of the Servers on hosts of a reservation that its end does not delete."""
    if conf['physical:host'].foreign_servers == 'delete':
        return []
    return foreign.on_leased(servers, lease.project_id, aggregate, {aggregate.name, lease.id})


def _return(nova, aggregate, hosts, freepool):
    """Move empty service hosts from an aggregate to the freepool."""
    nova.add_hosts(freepool, hosts)
    nova.remove_hosts(aggregate, hosts)
    LOG.info('Reservation %s: hosts %s are back in the freepool', aggregate.name,
             ', '.join(hosts))


def _servers_on(services, hosts, resources):
    """Return (the Servers on these service hosts, those on other hypervisors of the hosts).

    :param resources: those that the reservation has.
    :raises StillBusy: Nova does not know all of them, because a cell does not answer.
    """
    servers = services.nova.servers_on(hosts)
    silent = [each.host for each in services.computes.of_hosts(hosts) if not each.answers]
    if silent:
        # Nova leaves the servers of such a cell out, so its hosts look empty.
        raise errors.StillBusy.plain('Nova', (
            f'the cell of {len(silent)} leased hosts does not answer, so that their servers are '
            'not known.'))
    others = shared_hosts.of_others(services.nova, servers, resources)
    return [each for each in servers if each not in others], others


def _refuse_servers(services, aggregate):
    servers, others = _servers_on(services, aggregate.hosts, ())
    servers += others
    if servers:
        raise errors.StillBusy.plain('Nova', (
            f'servers run on hosts of {aggregate.name} ({len(servers)}).'))
