# SPDX-License-Identifier: Apache-2.0
"""A fast proof that a new lease is within limits, by upper bounds of what its owner holds.

The exact check creates a record for each allocation, which takes ten times as long.
"""
import functools
import json

from climate.db import held_resources
from climate.domain import lifecycle
from climate.domain.limits import rules
from climate.domain.limits import steps

_HOUR = steps.HOUR / 10 ** 6


def prove(core, limits, rows, subject):
    """Return True if a new lease or offer is surely within limits; False: it may not be.

    :param limits: the Limits that apply, except those that depend on the new lease alone.
    :param rows: what ``held_resources.read`` returned for its owner.
    :param subject: the LimitSubject of the new lease or offer.
    """
    if not limits:
        return True
    if subject.before_id is not None or subject.needed or any(
            limit.measure not in rules.OF_COUNTS | rules.OF_AMOUNTS
            or limit.measure is rules.Measure.POOL_SHARE for limit in limits):
        return False
    owned = [row for row in rows if row.what in (held_resources.LEASE, held_resources.OFFER)]
    described = {row.resource_id: row for row in rows if row.what == held_resources.RESOURCE}
    amount_of = _amounts(core)
    parts = [(row.start, row.end, row.copies, (row.pool, row.whole, row.capacity, row.amount))
             for row in owned if row.start is not None]
    for allocation in subject.chosen:
        row = described[allocation.resource_id]
        parts.append((allocation.start, allocation.end, allocation.copies, (
            row.pool, allocation.whole, row.capacity, json.dumps(dict(allocation.amount)))))
    return all(_bound(limit, owned, parts, subject, amount_of) <= limit.most for limit in limits)


def _amounts(core):
    """Return a function for the number of units of one copy of an allocation."""
    @functools.cache
    def amount(unit, part):
        pool_name, whole, capacity, taken = part
        pool = core.registry.pools.get(pool_name)
        if unit == rules.RESOURCES:
            return 1
        if pool is None:
            return 0
        of_capacity, of_amount = pool.unit_classes(unit)
        return json.loads(capacity).get(of_capacity, 0) if whole else (
            json.loads(taken).get(of_amount, 0))
    return amount


def _bound(limit, owned, parts, subject, amount_of):
    """Return an upper bound of the value of a limit after the request."""
    if limit.measure in rules.OF_COUNTS:
        return 1 + len({row.holding_id for row in owned if _may_count(limit, row)})
    unit = limit.unit
    if limit.measure is rules.Measure.RESOURCES:
        start, end = subject.moments
        return sum(copies * amount_of(unit, part) for begin, until, copies, part in parts
                   if begin < end and start < until)
    # One more second for each part, because floating-point numbers are rounded.
    return sum(copies * amount_of(unit, part) * ((until - begin).total_seconds() + 1) / _HOUR
               for begin, until, copies, part in parts)


def _may_count(limit, row):
    if limit.measure is rules.Measure.HELD_OFFERS:
        return row.what == held_resources.OFFER
    if limit.measure is rules.Measure.WAITING_LEASES:
        return row.state == lifecycle.ACQUIRING
    return row.what == held_resources.LEASE


def depends_on_lease_alone(limit):
    """Return whether a limit depends on nothing but the times and the type of one lease."""
    return (limit.measure in rules.OF_ONE_LEASE and limit.measure is not rules.Measure.ROLES
            and limit.pool is None and not limit.property_names)
