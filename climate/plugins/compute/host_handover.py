# SPDX-License-Identifier: Apache-2.0
"""The handover of hosts: they move from the freepool into the aggregate of a reservation."""
import collections
import contextlib

from climate import errors
from climate.domain import requirement
from climate.plugins.compute import aggregates
from climate.plugins.compute import foreign
from climate.plugins.compute import sub_leased_hosts

# The values of the fact `availability_zone` of hosts without a zone; "nova" is Nova's default.
_NO_ZONE = (None, 'nova')


def stage(conf, nova, lease, reservation, resources):
    """Create the Aggregate of a reservation without hosts, and return it.

    Whether it gets a zone is guessed from the facts of the hosts; `hand_over_staged` corrects it.

    :param resources: the future hosts of the reservation.
    """
    if sub_leased_hosts.is_sub_lease(reservation):
        return _ensure(conf, nova, lease, reservation, False)
    guess = all(each.facts.get('availability_zone') in _NO_ZONE for each in resources)
    zoned = {'always': True, 'never': False}.get(_zone_setting(conf), guess)
    return _ensure(conf, nova, lease, reservation, zoned)


def hand_over(conf, nova, lease, reservation, resources):
    """Move hosts into the Aggregate of a reservation; return (the Aggregate, the freepool).

    The hosts of a sub-lease are only added, because their parent keeps them; then there is no
    freepool.

    :raises ResourcesRefused: some hosts have servers, or Nova refuses some because they are in
        another zone. No host was removed from the freepool.
    """
    all_aggregates = nova.aggregates()
    if sub_leased_hosts.is_sub_lease(reservation):
        aggregate = _ensure(conf, nova, lease, reservation, False, all_aggregates)
        nova.add_hosts(aggregate, aggregates.service_hosts(resources))
        return aggregate, None
    zoned = _gets_zone(conf, reservation, resources, all_aggregates)
    empty = aggregates.named(all_aggregates, reservation.id)
    if empty is not None and empty.zone is not None and not zoned and not empty.hosts:
        # The Aggregate was staged for other hosts, which needed a zone.
        nova.delete_aggregate(empty)
        all_aggregates = [aggregate for aggregate in all_aggregates if aggregate is not empty]
    aggregate = _ensure(conf, nova, lease, reservation, zoned, all_aggregates)
    return aggregate, _move_in(conf, nova, aggregate, resources, all_aggregates)


def hand_over_staged(conf, nova, lease, reservation, aggregate_id, resources):
    """Move hosts into the Aggregate that `stage` created; return the id of the Aggregate.

    If the Aggregate is gone or has the wrong zone, `hand_over` creates or changes it.
    """
    all_aggregates = nova.aggregates()
    staged = next((aggregate for aggregate in all_aggregates if aggregate.id == aggregate_id), None)
    if staged is None or sub_leased_hosts.is_sub_lease(reservation) or (
            staged.zone is not None) != _gets_zone(conf, reservation, resources, all_aggregates):
        return hand_over(conf, nova, lease, reservation, resources)[0].id
    _move_in(conf, nova, staged, resources, all_aggregates, alone=True)
    return aggregate_id


def _ensure(conf, nova, lease, reservation, zoned, all_aggregates=None):
    """Return the Aggregate of a reservation, which is created if it is missing."""
    return nova.ensure_aggregate(
        reservation.id, zone=aggregates.zone(conf, reservation.id) if zoned else None,
        metadata=aggregates.marks(conf, lease, reservation), known=all_aggregates)


def _move_in(conf, nova, aggregate, resources, all_aggregates, alone=False):
    """Move hosts from the freepool into an aggregate; return the freepool."""
    hosts = aggregates.service_hosts(resources)
    freepool = nova.ensure_aggregate(conf.nova.aggregate_freepool, known=all_aggregates)
    # Add the hosts before removing them from the freepool: any project can use a host that is in
    # neither aggregate.
    with _resource_names(resources):
        if aggregate.zone is None:
            _refuse_occupied(nova, set(hosts) - set(aggregate.hosts), aggregate.name)
        nova.add_hosts(aggregate, hosts, alone)
    nova.remove_hosts(freepool, hosts)
    return freepool


def _refuse_occupied(nova, hosts, reservation_id):
    """Refuse hosts that have servers, as Nova itself does if the aggregate has a zone.

    Servers that were booted with the reservation do not count, because their host was in its
    aggregate before.

    :raises ResourcesRefused: some of the hosts have servers.
    """
    counts = collections.Counter(
        server.host for server in nova.servers_on(sorted(hosts))
        if not foreign.booted_with(server, {reservation_id})) if hosts else None
    if counts:
        raise errors.ResourcesRefused(service='Nova', refused={
            host: f'The host already has {count} instance(s).' for host, count in counts.items()})


def _zone_setting(conf):
    """Return whether Aggregates of reservations have a zone: always, never or where_none."""
    if conf.nova.reservation_zone == 'where_none' and not conf.nova.cross_az_attach:
        # Nova would attach no volumes to servers in such a zone, because Cinder does not have it.
        return 'never'
    return conf.nova.reservation_zone


def _gets_zone(conf, reservation, resources, all_aggregates):
    """Return whether the Aggregate of a reservation with these hosts has a zone."""
    setting = _zone_setting(conf)
    if setting != 'where_none':
        return setting == 'always'
    present = aggregates.named(all_aggregates, reservation.id)
    if present is not None and present.hosts:
        # Nova does not change the zone of hosts with servers.
        return present.zone is not None
    own_zones = aggregates.own_zones(conf, all_aggregates)
    return own_zones.keys().isdisjoint(aggregates.service_hosts(resources))


def joins(conf, nova, reservation):
    """Return the criteria for hosts that can join the Aggregate of a reservation.

    Nova refuses to add a host to an Aggregate with another zone than the host's own zone.
    """
    if _zone_setting(conf) == 'never':
        return requirement.NOTHING
    all_aggregates = nova.aggregates()
    present = aggregates.named(all_aggregates, reservation.id)
    zones = {aggregate.zone for aggregate in aggregates.own_zones(conf, all_aggregates).values()}
    if not zones or present is None or not present.hosts or present.zone is None:
        return requirement.NOTHING
    return requirement.Not(requirement.In('availability_zone', tuple(sorted(zones))))


@contextlib.contextmanager
def _resource_names(resources):
    """Replace service hosts by the names of their Resources in ResourcesRefused."""
    try:
        yield
    except errors.ResourcesRefused as error:
        names = {each.facts['service_name']: each.name for each in resources}
        raise errors.ResourcesRefused(service='Nova', refused={
            names[host]: reason for host, reason in error.refused.items()}) from error
