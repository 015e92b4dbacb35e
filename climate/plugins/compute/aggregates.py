# SPDX-License-Identifier: Apache-2.0
"""The aggregates in which leased hosts are: each reservation of hosts has one, named by its id.

Enrolled hosts that are not leased are in the freepool, an aggregate too. A host is always in one
of them, because Nova places anybody's servers on a host that is in none.
"""
import collections
import contextlib

from oslo_log import log

from climate import errors
from climate.domain import audit
from climate.domain import requirement
from climate.plugins.compute import foreign
from climate.plugins.compute import shared_hosts

LOG = log.getLogger(__name__)

#: The metadata of an aggregate that has the id of its reservation.
RESERVATION_KEY = 'reservation'
#: The metadata by which the scheduler filter knows the aggregate of a reservation of hosts.
MARK = 'climate:reservation'
# The zones, in facts, of hosts to which no aggregate gives one; the name is Nova's default.
_NO_ZONE = (None, 'nova')


def stage(conf, nova, lease, reservation, resources):
    """Make the Aggregate of a reservation without hosts, and return it.

    Whether it has a zone is guessed from the facts of its hosts; `hand_over_staged` corrects it.

    :param resources: the hosts that it is to get.
    """
    usual = all(each.facts.get('availability_zone') in _NO_ZONE for each in resources)
    zoned = {'always': True, 'never': False}.get(_choice(conf), usual)
    return _ensure(conf, nova, lease, reservation, zoned)


def hand_over(conf, nova, lease, reservation, resources):
    """Let the project of a lease have these hosts; return (its Aggregate, the freepool).

    :raises ResourcesRefused: servers are on some of the hosts, or Nova refuses some, because they
        are in another zone. They stay where they are.
    """
    known = nova.aggregates()
    zoned = _gets_zone(conf, reservation, resources, known)
    found = named(known, reservation.id)
    if found is not None and found.zone is not None and not zoned and not found.hosts:
        # It was made for other hosts.
        nova.delete_aggregate(found)
        known = [each for each in known if each is not found]
    aggregate = _ensure(conf, nova, lease, reservation, zoned, known)
    return aggregate, _move_in(conf, nova, aggregate, resources, known)


def hand_over_staged(conf, nova, lease, reservation, aggregate_id, resources):
    """Let the project of a lease have these hosts, as `hand_over`, in the Aggregate of `stage`.

    :returns: the id of its Aggregate, which is another one if its zone does not suit these hosts.
    """
    known = nova.aggregates()
    found = next((each for each in known if each.id == aggregate_id), None)
    if found is None or (found.zone is not None) != _gets_zone(conf, reservation, resources, known):
        return hand_over(conf, nova, lease, reservation, resources)[0].id
    _move_in(conf, nova, found, resources, known, alone=True)
    return aggregate_id


def _ensure(conf, nova, lease, reservation, zoned, known=None):
    """Make the Aggregate of a reservation, with or without a zone, and return it."""
    return nova.ensure_aggregate(
        reservation.id, zone=zone(conf, reservation.id) if zoned else None,
        metadata=marks(conf, lease, reservation), known=known)


def marks(conf, lease, reservation):
    """Return the metadata of the Aggregate of a reservation of hosts."""
    return {conf.nova.aggregate_owner_key: lease.project_id, MARK: reservation.id}


def _move_in(conf, nova, aggregate, resources, known, alone=False):
    """Move hosts from the freepool into an aggregate; return the freepool."""
    wanted = service_hosts(resources)
    freepool = nova.ensure_aggregate(conf.nova.aggregate_freepool, known=known)
    # In both for a moment: a host that is in no pool is open to everybody.
    with resource_names(resources):
        if aggregate.zone is None:
            _refuse_occupied(nova, set(wanted) - set(aggregate.hosts), aggregate.name)
        nova.add_hosts(aggregate, wanted, alone)
    nova.remove_hosts(freepool, wanted)
    return freepool


def _refuse_occupied(nova, hosts, reservation_id):
    """Refuse hosts with servers, as Nova does if they are to get another zone.

    Servers that were booted with the reservation do not count: somebody took their host out of its
    aggregate.

    :raises ResourcesRefused: there are some.
    """
    counts = collections.Counter(
        each.host for each in nova.servers_on(sorted(hosts))
        if not foreign.booted_with(each, {reservation_id})) if hosts else None
    if counts:
        raise errors.ResourcesRefused(service='Nova', refused={
            host: f'The host already has {count} instance(s).' for host, count in counts.items()})


def _choice(conf):
    """Return whether Aggregates of reservations have a zone: always, never or where_none."""
    if conf.nova.reservation_zone == 'where_none' and not conf.nova.cross_az_attach:
        # Cinder has no zone of a reservation, so Nova would attach no volume there.
        return 'never'
    return conf.nova.reservation_zone


def _gets_zone(conf, reservation, resources, known):
    """Return whether the Aggregate of a reservation has a zone if it gets these hosts."""
    choice = _choice(conf)
    if choice != 'where_none':
        return choice == 'always'
    found = named(known, reservation.id)
    if found is not None and found.hosts:
        # Nova changes the zone of no host with servers.
        return found.zone is not None
    return not own_zones(conf, known).keys() & set(service_hosts(resources))


def joins(conf, nova, reservation):
    """Return the criteria of hosts that can join those in the Aggregate of a reservation.

    Nova adds no host of a zone to an Aggregate with another zone.
    """
    if _choice(conf) == 'never':
        return requirement.NOTHING
    known = nova.aggregates()
    found, zones = named(known, reservation.id), own_zones(conf, known).values()
    if not zones or found is None or not found.hosts or found.zone is None:
        return requirement.NOTHING
    return requirement.Not(requirement.In(
        'availability_zone', tuple(sorted({each.zone for each in zones}))))


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
    """Return the id of the reservation for which an Aggregate was made; None: for none.

    Its name says so; if somebody renamed it, its zone or its metadata does.
    """
    prefix, zone_name = conf.nova.availability_zone_prefix, aggregate.zone or ''
    said = (aggregate.name, zone_name.removeprefix(prefix) if zone_name.startswith(prefix) else '',
            aggregate.metadata.get(RESERVATION_KEY, ''), aggregate.metadata.get(MARK, ''))
    return next((each for each in said if audit.is_id(each)), None)


def all_of(conf, known, reservation_id):
    """Return the Aggregates that were made for a reservation; more than one if one was renamed."""
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
    # Once more: from here on the filter lets no new one in.
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


def close(conf, nova, aggregate):
    """Take the owner from an aggregate, so that the filter lets no new server in."""
    nova.set_aggregate_metadata(aggregate, {conf.nova.aggregate_owner_key: None})


def move_to_freepool(nova, aggregate, hosts, freepool, is_going=False):
    """Move empty service hosts from an aggregate to the freepool.

    A host that Nova does not know any more only leaves the aggregate.

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
