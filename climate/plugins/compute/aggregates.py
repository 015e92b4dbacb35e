# SPDX-License-Identifier: Apache-2.0
"""The aggregates of enrolled hosts: the freepool, and one for each reservation of hosts.

The name of a reservation's aggregate is the id of the reservation. Hosts that are not leased are in
the freepool. An enrolled host is always in one of these aggregates, because Nova would otherwise
place servers of any project on it.
"""
from oslo_log import log

from climate import errors
from climate.domain import audit
from climate.domain import records
from climate.domain import shares
from climate.plugins.compute import parent_marks
from climate.plugins.compute import shared_hosts

LOG = log.getLogger(__name__)

#: The metadata key for the reservation's id, in aggregates of instance capacity.
RESERVATION_KEY = 'reservation'
#: The metadata key for the reservation's id, in aggregates of reserved hosts.
MARK = 'climate:reservation'
#: The value of the metadata key that is the id of a project with which Climate shares the hosts.
#: The key of an operator, who shares them without Climate, has another value.
SHARED = 'climate:share'
#: The prefix of the metadata key of a project with which the hosts were shared before.
FORMER = 'climate:former:'
#: The prefix of the metadata key of a lease that had the reservation before a transfer.
FORMER_LEASE = 'climate:former_lease:'


def marks(conf, lease, reservation):
    """Return the metadata of the Aggregate of a reservation of hosts."""
    return {conf.nova.aggregate_owner_key: lease.project_id, MARK: reservation.id,
            **{FORMER_LEASE + lease_id: SHARED
               for lease_id in reservation.binding.get(records.FORMER_LEASES, ())},
            **parent_marks.of_lease(lease), **guest_marks(lease)}


def former_leases(aggregate):
    """Return the ids of the leases that had the reservation of an Aggregate before transfers."""
    return {key.removeprefix(FORMER_LEASE) for key in aggregate.metadata
            if key.startswith(FORMER_LEASE)}


def guest_marks(lease):
    """Return the metadata for the shares of a lease; keys with None are removed."""
    marks_of_guests = {}
    for project_id in shares.guests(lease.shares):
        marks_of_guests |= {project_id: SHARED, FORMER + project_id: None}
    for project_id in shares.former_guests(lease.shares):
        marks_of_guests |= _former(project_id)
    return marks_of_guests


def mark_guests(nova, aggregate, lease):
    """Write the metadata for the shares of a lease to an Aggregate, as far as it differs."""
    changes = {key: text for key, text in guest_marks(lease).items()
               if aggregate.metadata.get(key) != text}
    if changes:
        nova.set_aggregate_metadata(aggregate, changes)


def _former(project_id):
    return {project_id: None, FORMER + project_id: SHARED}


def admits(aggregate, project_id):
    """Return whether servers of another project belong on the hosts of an Aggregate.

    After a share was withdrawn, the project's running servers still do.
    """
    return bool(aggregate.metadata.get(project_id) or aggregate.metadata.get(FORMER + project_id))


def reserves(conf, aggregate):
    """Return whether the mark or the zone of an Aggregate shows that it has reserved hosts."""
    prefix = conf.nova.availability_zone_prefix
    return bool(aggregate.metadata.get(MARK)
                or (prefix and (aggregate.zone or '').startswith(prefix)))


def own_zones(conf, aggregates):
    """Return {service host: its Aggregate with a zone}, without aggregates of reservations."""
    return {host: each for each in aggregates if each.zone and not reserves(conf, each)
            for host in each.hosts}


def foreign_zones(conf, aggregates):
    """Return {service host: the Aggregate whose zone prevents a lease of the host}.

    Nova allows only one zone for a host, and some configurations give each reservation a zone.
    """
    return own_zones(conf, aggregates) if conf.nova.reservation_zone == 'always' else {}


def unmarked(aggregate, metadata):
    """Return the metadata that an Aggregate lacks, as sentences of an audit."""
    return [f'its aggregate still has {key}' if text is None
            else f'its aggregate lacks {key}={text}' for key, text in metadata.items()
            if aggregate.metadata.get(key) != text]


def is_signed(conf, aggregate, reservation_id):
    """Return whether an Aggregate has the zone or the mark of the reservation."""
    return aggregate.zone == zone(conf, reservation_id) or (
        aggregate.zone is None and aggregate.metadata.get(MARK) == reservation_id)


def made_for(conf, aggregate):
    """Return the id of the reservation for which an Aggregate was created, or None.

    If somebody renamed the aggregate, its zone or its metadata has the id.
    """
    prefix, zone_name = conf.nova.availability_zone_prefix, aggregate.zone or ''
    texts = (aggregate.name,
             zone_name.removeprefix(prefix) if zone_name.startswith(prefix) else '',
             aggregate.metadata.get(RESERVATION_KEY, ''), aggregate.metadata.get(MARK, ''))
    return next((text for text in texts if audit.is_id(text)), None)


def all_of(conf, aggregates, reservation_id):
    """Return the Aggregates of a reservation; several if one was renamed and recreated."""
    return [each for each in aggregates if reservation_id in (each.name, made_for(conf, each))]


def delete_empty(conf, services, name, resources):
    """Delete the aggregates of an ended reservation.

    :param resources: the enrolled hosts; only these return to the freepool.
    :raises StillBusy: servers are on hosts of an aggregate, which stays.
    """
    nova = services.nova
    for aggregate in all_of(conf, nova.aggregates(), name):
        _refuse_servers(services, aggregate)
        close(conf, nova, aggregate)
        # Check again, because a server may have been placed before the filter refused new ones.
        _refuse_servers(services, aggregate)
        pooled = sorted(set(aggregate.hosts) & set(service_hosts(resources)))
        nova.add_hosts(nova.ensure_aggregate(conf.nova.aggregate_freepool), pooled,
                       known_only=True)
        nova.remove_hosts(aggregate, list(aggregate.hosts), is_going=True)
        nova.delete_aggregate(aggregate)


def named(aggregates, name):
    """Return the Aggregate of that name, or None."""
    return next((each for each in aggregates if each.name == name), None)


def renamed(conf, aggregates, reservation):
    """Return the Drifts of the Aggregates of a running reservation that somebody renamed."""
    return [audit.Drift('incomplete', f'reservation {reservation.id}', (
        f'its aggregate is named {each.name}: rename it back to {reservation.id}'))
        for each in all_of(conf, aggregates, reservation.id) if each.name != reservation.id]


def zone(conf, reservation_id):
    """Return the availability zone of a reservation's aggregate."""
    return conf.nova.availability_zone_prefix + reservation_id


def service_hosts(resources):
    """Return the service hosts of Resources, in their order."""
    return [resource.facts['service_name'] for resource in resources]


def enrolled_hosts(conf, aggregates, lessee=None):
    """Return the set of enrolled service hosts, including leased hosts.

    :param aggregates: all Aggregates.
    :param lessee: the id of a project whose leased hosts are left out.
    """
    owner = conf.nova.aggregate_owner_key
    return {host for aggregate in aggregates for host in aggregate.hosts
            if aggregate.name == conf.nova.aggregate_freepool
            or (reserves(conf, aggregate)
                and (lessee is None or aggregate.metadata.get(owner) != lessee))}


def close(conf, nova, aggregate):
    """Remove the owner and the guests from an aggregate, so that it admits no new servers."""
    changes = {conf.nova.aggregate_owner_key: None}
    for key, text in aggregate.metadata.items():
        if text == SHARED and not key.startswith((FORMER, FORMER_LEASE)):
            changes |= _former(key)
    nova.set_aggregate_metadata(aggregate, changes)


def move_to_freepool(nova, aggregate, hosts, freepool, is_going=False):
    """Move empty service hosts from an aggregate to the freepool.

    A host that Nova does not know any more is only removed from the aggregate.

    :param is_going: True if the caller deletes the aggregate next.
    :raises StillBusy: a server was placed on one of the hosts meanwhile.
    """
    if aggregate.zone is None and nova.servers_on(hosts):
        # If the aggregate has a zone, Nova itself refuses to move a host with servers.
        raise errors.StillBusy.plain('Nova', (
            f'servers were just placed on hosts of {aggregate.name}.'))
    nova.add_hosts(freepool, hosts, known_only=True)
    nova.remove_hosts(aggregate, hosts, is_going)
    LOG.info('Reservation %s: hosts %s are back in the freepool', aggregate.name,
             ', '.join(hosts))


def servers_on(services, hosts, resources):
    """Return the Servers on a reservation's service hosts, in two groups by their hypervisor.

    :param hosts: the service hosts of the reservation's hypervisors.
    :param resources: the Resources of the reservation.
    :returns: (the Servers on the reservation's hypervisors, the Servers on other hypervisors of
        the same service hosts).
    :raises StillBusy: a cell does not answer, so that not all servers are known.
    """
    servers = services.nova.servers_on(hosts)
    refuse_silent(services, hosts)
    others = shared_hosts.of_others(services.nova, servers, resources)
    return [each for each in servers if each not in others], others


def refuse_silent(services, hosts):
    """Refuse service hosts whose cell does not answer.

    Nova leaves out the servers of such a cell, so these hosts would seem empty.

    :raises StillBusy: the cell of some hosts does not answer.
    """
    silent = [each.host for each in services.computes.of_hosts(hosts) if not each.answers]
    if silent:
        raise errors.StillBusy.plain('Nova', (
            f'the cell of {len(silent)} leased hosts does not answer, so that their servers are '
            'not known.'))


def _refuse_servers(services, aggregate):
    servers, others = servers_on(services, aggregate.hosts, ())
    servers += others
    if servers:
        raise errors.StillBusy.plain('Nova', (
            f'servers run on hosts of {aggregate.name} ({len(servers)}).'))
