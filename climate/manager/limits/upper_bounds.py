# SPDX-License-Identifier: Apache-2.0
"""A fast proof that a new lease is within limits, by upper bounds of what its owner holds.

The database adds up what is held. The exact check reads each allocation and creates a record for
it, which takes ten times as long. It follows only if an owner may be near a limit.
"""
import dataclasses
import json

from climate.db import held_sums
from climate.domain.limits import rules
from climate.manager.limits import holdings

_HOUR_SECONDS = 3600


def may_prove(limits, subject):
    """Return whether `prove` handles the limits and the kind of request of a LimitSubject.

    :param limits: the Limits that apply, except those that depend on the new lease alone.
    """
    return subject.before_id is None and not subject.needed and all(
        limit.measure in rules.OF_COUNTS | rules.OF_AMOUNTS
        and limit.measure is not rules.Measure.POOL_SHARE for limit in limits)


def prove(core, connection, limits, owner, subject, now):
    """Return True if a new lease or offer is surely within limits; False: it may not be.

    One statement reads the sums.

    :param limits: limits for which `may_prove` returned True.
    :param owner: (project id, user id) of the request.
    """
    rows = _read(connection, limits, owner, subject, now)
    counts = {(row.owner, row.what): row.number for row in rows}
    parts = {per: _parts(rows, per, subject) for per in {
        limit.per for limit in limits if limit.measure in rules.OF_AMOUNTS}}

    def bound(limit):
        """Return an upper bound of the value of a limit after the request."""
        if limit.measure in rules.OF_COUNTS:
            return counts[limit.per, limit.measure] + 1
        if limit.measure is rules.Measure.RESOURCES:
            return sum(part.copies * _amount(core, part, limit.unit) for part in parts[limit.per])
        return sum(part.seconds * _amount(core, part, limit.unit)
                   for part in parts[limit.per]) / _HOUR_SECONDS
    return all(bound(limit) <= limit.most for limit in limits)


@dataclasses.dataclass(slots=True)
class _Part:
    """Equal allocations on resources with equal capacities.

    :ivar copies: their copies in the time of the request, added up.
    :ivar seconds: an upper bound of the copies times their seconds.
    """

    pool: str
    whole: bool
    capacity: dict
    amount: dict
    copies: int
    seconds: int


def _parts(rows, per, subject):
    """Return the _Parts of an owner after the request."""
    resources = {row.resource_id: (row.pool, json.loads(row.capacity))
                 for row in rows if row.what == held_sums.RESOURCE}
    parts = [
        _Part(row.pool, row.whole, json.loads(row.capacity or '{}'), json.loads(row.amount or '{}'),
              int(row.number), int(row.seconds))
        for row in rows if (row.what, row.owner) == (held_sums.PART, per)]
    for allocation in subject.chosen:
        pool, capacity = resources[allocation.resource_id]
        seconds = (allocation.end - allocation.start).total_seconds()
        parts.append(_Part(pool, allocation.whole, capacity, allocation.amount, allocation.copies,
                           allocation.copies * (int(seconds) + 1)))
    return parts


def _read(connection, limits, owner, subject, now):
    project_id, user_id = owner
    moments = now, *subject.moments
    since, reach = holdings.reach(limits, (min(moments), max(moments)))
    adds_up = any(limit.measure in rules.OF_AMOUNTS for limit in limits)
    return held_sums.read(connection, held_sums.SumsSearch(
        owners=frozenset((limit.per, held_sums.PART if limit.measure in rules.OF_AMOUNTS
                          else limit.measure) for limit in limits),
        with_amounts=any(limit.unit != rules.RESOURCES for limit in limits),
        project_id=project_id, user_id=user_id, now=now, since=since, reach=reach,
        span=subject.moments[:2], resource_ids=tuple(sorted(
            {allocation.resource_id for allocation in subject.chosen})) if adds_up else ()))


def _amount(core, part, unit):
    """Return the number of units of one copy of a _Part."""
    if unit == rules.RESOURCES:
        return 1
    pool = core.registry.pools.get(part.pool)
    if pool is None:
        return 0
    of_capacity, of_amount = pool.unit_classes(unit)
    return part.capacity.get(of_capacity, 0) if part.whole else part.amount.get(of_amount, 0)


def depends_on_lease_alone(limit):
    """Return whether a limit depends on nothing but the times and the type of one lease."""
    return (limit.measure in rules.OF_ONE_LEASE and limit.measure is not rules.Measure.ROLES
            and limit.pool is None and not limit.property_names)
