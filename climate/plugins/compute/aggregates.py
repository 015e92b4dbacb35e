# SPDX-License-Identifier: Apache-2.0
"""The aggregates of enrolled hosts: each reservation of hosts has one, named by its id.

Enrolled hosts that are not leased are in another aggregate, the freepool. A host is always in one
of them, because Nova places servers of any project on a host that is in none.
"""
from oslo_log import log

from climate import errors
from climate.domain import audit
from climate.plugins.compute import shared_hosts

LOG = log.getLogger(__name__)

#: The metadata of an aggregate that has the id of its reservation.
RESERVATION_KEY = 'reservation'
#: The metadata by which the scheduler filter knows the aggregate of a reservation of hosts.
MARK = 'climate:reservation'


def marks(conf, lease, reservation):
    """Return the metadata of the Aggregate of a reservation of hosts."""
    return {conf.nova.aggregate_owner_key: lease.project_id, MARK: reservation.id}


def reserves(conf, aggregate):
    """Return whether an Aggregate, by its mark or its zone, is that of a reservation of hosts."""
    prefix = conf.nova.availability_zone_prefix
    return bool(aggregate.metadata.get(MARK)
                or (prefix and (aggregate.zone or '').startswith(prefix)))


def own_zones(conf, known):
    """Return {service host: the Aggregate that gives it a zone}, without those of reservations."""
    return {host: each for each in known if each.zone and not reserves(conf, each)
            for host in each.hosts}


def foreign_zones(conf, known):
    """Return {service host: the Aggregate that gives it a zone}, if a lease gives it another one.

    Nova allows one zone for a host.
    """
    return own_zones(conf, known) if conf.nova.reservation_zone == 'always' else {}


def unmarked(aggregate, metadata):
    """Return which of these metadata an Aggregate lacks, as sentences of an audit."""
    return [f'its aggregate has not {key}={text}' for key, text in metadata.items()
            if aggregate.metadata.get(key) != text]


def is_signed(conf, aggregate, reservation_id):
    """Return whether an Aggregate has the zone, or else the mark, of the reservation."""
    return aggregate.zone == zone(conf, reservation_id) or (
        aggregate.zone is None and aggregate.metadata.get(MARK) == reservation_id)


def made_for(conf, aggregate):
    """Return the id of the reservation for which an Aggregate was created; None: for none.

    The name has the id, or, if somebody renamed the aggregate, its zone or its metadata.
    """
    prefix, zone_name = conf.nova.availability_zone_prefix, aggregate.zone or ''
    texts = (aggregate.name,
             zone_name.removeprefix(prefix) if zone_name.startswith(prefix) else '',
             aggregate.metadata.get(RESERVATION_KEY, ''), aggregate.metadata.get(MARK, ''))
    return next((text for text in texts if audit.is_id(text)), None)


def all_of(conf, known, reservation_id):
    """Return the Aggregates of a reservation; several if one was renamed and created again."""
    return [each for each in known if reservation_id in (each.name, made_for(conf, each))]


def delete_empty(conf, services, name, resources):
    """Delete the aggregates of a reservation that is over, unless servers are in them.

    :param resources: the enrolled hosts; only they return to the freepool.
    :raises StillBusy: servers run in it.
    """
    for aggregate in all_of(conf, services.nova.aggregates(), name):
        _delete_empty(conf, services, aggregate, resources)


def _delete_empty(conf, services, aggregate, resources):
    nova = services.nova
    _refuse_servers(services, aggregate)
    close(conf, nova, aggregate)
    # Check again: from here on the filter admits no new servers.
    _refuse_servers(services, aggregate)
    pooled = sorted(set(aggregate.hosts) & set(service_hosts(resources)))
    nova.add_hosts(nova.ensure_aggregate(conf.nova.aggregate_freepool), pooled, known_only=True)
    nova.remove_hosts(aggregate, list(aggregate.hosts), is_going=True)
    nova.delete_aggregate(aggregate)


def named(aggregates, name):
    """Return the Aggregate of that name, or None."""
    return next((each for each in aggregates if each.name == name), None)


def renamed(conf, known, reservation):
    """Return the Drifts of the Aggregates of a running reservation that somebody renamed."""
    return [audit.Drift('incomplete', f'reservation {reservation.id}', (
        f'its aggregate is named {each.name}: rename it back to {reservation.id}'))
        for each in all_of(conf, known, reservation.id) if each.name != reservation.id]


def zone(conf, reservation_id):
    """Return the availability zone of a reservation's aggregate."""
    return conf.nova.availability_zone_prefix + reservation_id


def service_hosts(resources):
    """Return the names that Nova's compute services have on these hosts."""
    return [resource.facts['service_name'] for resource in resources]


def enrolled_hosts(conf, known, but_of=None):
    """Return the set of service hosts that are enrolled, with leased ones.

    :param known: all Aggregates.
    :param but_of: the id of a project; hosts that it has leased as a whole are left out.
    """
    owner = conf.nova.aggregate_owner_key
    return {host for aggregate in known for host in aggregate.hosts
            if aggregate.name == conf.nova.aggregate_freepool
            or (reserves(conf, aggregate)
                and (but_of is None or aggregate.metadata.get(owner) != but_of))}


def close(conf, nova, aggregate):
    """Remove the owner from an aggregate, so that the filter admits no new servers."""
    nova.set_aggregate_metadata(aggregate, {conf.nova.aggregate_owner_key: None})


def move_to_freepool(nova, aggregate, hosts, freepool, is_going=False):
    """Move empty service hosts from an aggregate to the freepool.

    A host that Nova does not know any more is only removed from the aggregate.

    :param is_going: whether the aggregate is deleted next.
    :raises StillBusy: a server has just come to one of them.
    """
    if aggregate.zone is None and nova.servers_on(hosts):
        # Nova itself refuses only to change the zone of a host with servers.
        raise errors.StillBusy.plain('Nova', (
            f'servers have just come to hosts of {aggregate.name}.'))
    nova.add_hosts(freepool, hosts, known_only=True)
    nova.remove_hosts(aggregate, hosts, is_going)
    LOG.info('Reservation %s: hosts %s are back in the freepool', aggregate.name,
             ', '.join(hosts))


def servers_on(services, hosts, resources):
    """Return (the Servers on these service hosts, those on other hypervisors of the hosts).

    :param resources: the Resources that a reservation has of them.
    :raises StillBusy: Nova does not know all of them, because a cell does not answer.
    """
    servers = services.nova.servers_on(hosts)
    refuse_silent(services, hosts)
    others = shared_hosts.of_others(services.nova, servers, resources)
    return [each for each in servers if each not in others], others


def refuse_silent(services, hosts):
    """Refuse to judge service hosts of a cell that does not answer.

    :raises StillBusy: Nova leaves the servers of such a cell out, so its hosts look empty.
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
