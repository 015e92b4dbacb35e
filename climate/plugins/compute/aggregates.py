# SPDX-License-Identifier: Apache-2.0
"""The aggregates in which leased hosts are: each reservation of hosts has one, named by its id.

Enrolled hosts that are not leased are in the freepool, an aggregate too. A host is always in one
of them, because Nova places anybody's servers on a host that is in none.
"""
import contextlib

from oslo_log import log

from climate import errors
from climate.domain import audit
from climate.plugins.compute import shared_hosts

LOG = log.getLogger(__name__)

#: The metadata of an aggregate that has the id of its reservation.
RESERVATION_KEY = 'reservation'


def stage(conf, nova, lease, reservation, known=None):
    """Make the Aggregate of a reservation without hosts, and return it.

    :param known: a recent result of ``nova.aggregates``, to save the call.
    """
    return nova.ensure_aggregate(
        reservation.id, zone=zone(conf, reservation.id),
        metadata={conf.nova.aggregate_owner_key: lease.project_id}, known=known)


def hand_over(conf, nova, lease, reservation, resources):
    """Let the project of a lease have these hosts; return (its Aggregate, the freepool).

    :raises ResourcesRefused: Nova refuses some of the hosts: servers are on them, or they are in
        another zone. They stay where they are.
    """
    known = nova.aggregates()
    aggregate = stage(conf, nova, lease, reservation, known)
    return aggregate, _move_in(conf, nova, aggregate, resources, known)


def hand_over_staged(conf, nova, reservation, aggregate_id, resources):
    """Let the project of a lease have these hosts, as `hand_over`, in the Aggregate of `stage`."""
    _move_in(conf, nova, nova.empty_aggregate(aggregate_id, reservation.id), resources,
             nova.aggregates(), alone=True)


def _move_in(conf, nova, aggregate, resources, known, alone=False):
    """Move hosts from the freepool into an aggregate; return the freepool."""
    wanted = service_hosts(resources)
    freepool = nova.ensure_aggregate(conf.nova.aggregate_freepool, known=known)
    # In both for a moment: a host that is in no pool is open to everybody.
    with resource_names(resources):
        nova.add_hosts(aggregate, wanted, alone)
    nova.remove_hosts(freepool, wanted)
    return freepool


def made_for(conf, aggregate):
    """Return the id of the reservation for which an Aggregate was made; None: for none.

    Its name says so; if somebody renamed it, its zone or its metadata does.
    """
    prefix, zone_name = conf.nova.availability_zone_prefix, aggregate.zone or ''
    said = (aggregate.name, zone_name.removeprefix(prefix) if zone_name.startswith(prefix) else '',
            aggregate.metadata.get(RESERVATION_KEY, ''))
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


def renamed(aggregate, reservation):
    """Return the Drift of an Aggregate of a running reservation that somebody renamed."""
    return audit.Drift('incomplete', f'reservation {reservation.id}', (
        f'its aggregate is named {aggregate.name}: rename it back to {reservation.id}'))


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
    """
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
