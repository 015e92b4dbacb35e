# SPDX-License-Identifier: Apache-2.0
"""Read what the owner of a request holds, as far as the limits that apply need it."""
import collections
import dataclasses
import datetime
import functools
import json

from climate.db import held_resources
from climate.domain import lifecycle
from climate.domain import requirement
from climate.domain import selection
from climate.domain.limits import holdings
from climate.domain.limits import resource_hours
from climate.domain.limits import rules
from climate.manager import property_values

_FIRST = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
#: A moment after all leases.
LAST = datetime.datetime(datetime.MAXYEAR, 12, 31, tzinfo=datetime.UTC)


@dataclasses.dataclass(frozen=True)
class ResourceFacts:
    """The facts of a resource by which limits count it."""

    pool: str
    units: dict
    properties: dict


@dataclasses.dataclass(frozen=True)
class ReadHoldings:
    """The Holdings of an owner by their ids, the facts of resources, and the PoolParts."""

    by_id: dict
    facts: dict
    parts: tuple


def read(core, connection, limits, owner, span, now, resource_ids=(), is_change=True):
    """Return the rows of the project and the user of a request, by one statement.

    :param limits: the Limits that apply.
    :param owner: (project id, user id).
    :param span: the (start, end) of the time in which the request changes what is held.
    :param resource_ids: ids of further resources whose facts are read.
    :param is_change: whether the request changes a lease or an offer that exists.
    """
    per = {limit.per for limit in limits}
    project_id, user_id = owner
    names = _stored_names(core, limits)
    since, between = reach(limits, span)
    # Only the lease of the request is needed even if it has no allocations.
    counts = is_change or any(limit.measure in rules.OF_COUNTS for limit in limits)
    return held_resources.read(connection, held_resources.HeldSearch(
        project_id=project_id if rules.Per.PROJECT in per else None,
        user_id=user_id if rules.Per.USER in per else None, now=now,
        since=since, span=between, resource_ids=tuple(sorted(set(resource_ids))),
        pools=_shared_pools(limits), names=names, counts=counts))


def since_of(limits, now):
    """Return the moment before which limits count no lease that is over."""
    return _reach(limits, (now, now))[0]


def read_projects(core, connection, limits, project_ids, span, now):
    """Return the ReadHoldings of several projects, by one statement.

    The parameters are those of `read`.
    """
    names = _stored_names(core, limits)
    since, between = reach(limits, span)
    rows = held_resources.read(connection, held_resources.HeldSearch(
        project_id=None, user_id=None, project_ids=tuple(project_ids), now=now,
        since=since, span=between, pools=_shared_pools(limits), names=names))
    return parsed(core, rows, limits)


def reach(limits, span):
    """Return (since, (start, end)): the moment and the time of a ``held_resources.HeldSearch``."""
    since, *between = _reach(limits, span)
    return since if since < span[0] else None, tuple(between)


def _shared_pools(limits):
    """Return the sorted names of the pools whose capacities limits need."""
    return tuple(sorted({limit.pool for limit in limits
                         if limit.measure is rules.Measure.POOL_SHARE}))


def _stored_names(core, limits):
    """Return the names of the properties in the criteria of limits that are stored as values."""
    computed = {'region', *(name for pool in core.registry.pools.values()
                            for name in (pool.name_fact, *pool.capacity_names))}
    return tuple(sorted(frozenset().union(*(
        requirement.names(limit.criteria) for limit in limits)) - computed))


def _reach(limits, span):
    """Return (since, start, end): the times whose leases and allocations limits count."""
    start, end = span
    moments = [(start, end)]
    for limit in limits:
        if limit.measure is rules.Measure.RESOURCE_HOURS and limit.window is None:
            moments.append((resource_hours.period_of(limit, start)[0],
                            resource_hours.period_of(limit, end)[1]))
        else:
            length = limit.window or (
                limit.duration if limit.measure is rules.Measure.PAUSE else None)
            if length:
                moments.append((_moved(start, -length), _moved(end, length)))
    first = min(first for first, _ in moments)
    return first, first, max(last for _, last in moments)


def _moved(moment, length):
    """Return a moment moved by a length, within the calendar."""
    try:
        return moment + length
    except OverflowError:
        return _FIRST if length < datetime.timedelta(0) else LAST


def parsed(core, rows, limits):
    """Return the ReadHoldings of the rows that `read` returned for limits."""
    names, wanted = _stored_names(core, limits), _units_of(limits)
    heads, held, pools = {}, collections.defaultdict(dict), collections.defaultdict(dict)
    facts, parts = {}, []
    describe = _describer(core, names, wanted)
    type_pools = functools.cache(functools.partial(pools_of, core))
    for row in rows:
        if row.what == held_resources.CAPACITY:
            part = describe(row.pool, '', row.capacity, row[-len(names):] if names else ())
            parts.append(holdings.PoolPart(row.pool, row.copies, part.units, part.properties))
            continue
        described = None if row.resource_id is None else describe(
            row.pool, row.name, row.capacity, row[-len(names):] if names else ())
        if row.what == held_resources.RESOURCE:
            facts[row.resource_id] = described
            continue
        heads[row.holding_id] = row
        if row.resource_type is not None:
            pools[row.holding_id][row.resource_type] = type_pools(row.resource_type)
        if described is not None:
            held[row.holding_id][row.allocation_id] = _held(core, row, described, wanted)
    by_id = {key: holdings.Holding(
        key, _kind(row), row.project_id, row.user_id, row.begin, row.until, pools[key],
        tuple(held[key].values()),
        latest_start=row.held_until if row.what == held_resources.LEASE else None,
        held_until=row.held_until if row.what == held_resources.OFFER else None)
        for key, row in heads.items()}
    return ReadHoldings(by_id, facts, tuple(parts))


def _kind(row):
    if row.what == held_resources.OFFER:
        return holdings.Kind.OFFER
    if row.over_at is not None:
        return holdings.Kind.OVER
    return (holdings.Kind.WAITING if row.state == lifecycle.ACQUIRING else holdings.Kind.LEASE)


def pools_of(core, resource_type):
    """Return the names of the pools of a type; none if its plugin is not enabled."""
    plugin = core.registry.plugins.get(resource_type)
    return frozenset(pool.name for pool in plugin.pools) if plugin is not None else frozenset()


def _describer(core, names, wanted):
    """Return a function that describes resources; those with equal values are described once."""
    region = core.conf.region_name

    @functools.cache
    def describe(pool_name, name, capacity, texts):
        amounts = json.loads(capacity)
        pool = core.registry.pools.get(pool_name)
        stored = {key: text for key, text in zip(names, texts, strict=True) if text is not None}
        return ResourceFacts(pool_name, _capacity(pool, amounts, wanted), stored if pool is None
                             else property_values.compared(pool, region, name, amounts, stored))
    return describe


def _units_of(limits):
    return frozenset(limit.unit for limit in limits) - {rules.RESOURCES}


def _capacity(pool, amounts, wanted):
    """Return {unit: number} of a whole resource."""
    if pool is None:
        return {}
    return {unit: amounts.get(pool.unit_classes(unit)[0], 0) for unit in wanted}


def _amount(core, pool_name, amounts, wanted):
    """Return {unit: number} of a part of a resource."""
    pool = core.registry.pools.get(pool_name)
    if pool is None:
        return {}
    return {unit: amounts.get(pool.unit_classes(unit)[1], 0) for unit in wanted}


def _held(core, row, described, wanted):
    return holdings.HeldResource(
        row.reservation_id, row.resource_type, row.pool, row.resource_id, row.start, row.end,
        described.units if row.whole or not wanted else _amount(
            core, row.pool, json.loads(row.amount), wanted), row.copies, described.properties)


def of_allocation(core, allocation, resource_type, described, limits):
    """Return the HeldResource of an Allocation that is not written yet.

    :param described: the ResourceFacts of its resource.
    """
    return holdings.HeldResource(
        allocation.reservation_id, resource_type, described.pool, allocation.resource_id,
        allocation.start, allocation.end, described.units if allocation.whole else _amount(
            core, described.pool, allocation.amount, _units_of(limits)), allocation.copies,
        described.properties)


def of_need(core, wish, resource_type, span, limits):
    """Return the HeldResource that a Wish needs at least, as far as it is known.

    :param span: the (start, end) of the lease.
    """
    demand = wish.need.demand
    amount = {} if demand.amount is selection.WHOLE else _amount(
        core, wish.need.pool, demand.amount, _units_of(limits))
    return holdings.HeldResource(wish.reservation_id, resource_type, wish.need.pool, 0, *span,
                                 amount, demand.at_least)
