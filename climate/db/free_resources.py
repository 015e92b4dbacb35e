# SPDX-License-Identifier: Apache-2.0
"""The candidates for a booking among very many resources, read as plain rows.

A row is a plain tuple. JSON values stay text, because most rows have the same text.
``booking_columns`` reads the bookings of the resources.
"""
import collections
import dataclasses
import functools
import json

import sqlalchemy as sa

from climate.db import allocations
from climate.db import conditions
from climate.db import tables
from climate.domain import health
from climate.domain import interval
from climate.domain import maintenance_windows
from climate.domain import minimum_need

ALLOCATIONS = tables.ALLOCATIONS
MAINTENANCES = tables.MAINTENANCES
MAINTENANCE_RESOURCES = tables.MAINTENANCE_RESOURCES
PROPERTIES = tables.PROPERTIES
RESOURCES = tables.RESOURCES
VALUES = tables.PROPERTY_VALUES
WINDOWS = tables.MAINTENANCE_WINDOWS

# No limit: the largest number that every database accepts.
ALL = 2 ** 63 - 1


@dataclasses.dataclass(frozen=True)
class ResourceSearch:
    """A search for the resources of a pool.

    :ivar span: the Interval, which includes the time for cleaning.
    :ivar own: ids of reservations. Resources that are lent to one of these reservations are
        included, and so are resources that one of them holds.
    :ivar soon: whether to leave out resources that another reservation holds now.
    :ivar ignoring: ids of the reservations whose allocations do not count.
    :ivar condition: the ``conditions.Condition`` that the resources meet.
    :ivar names: the properties and facts whose values are returned.
    :ivar well: whether to leave out resources that are not well.
    :ivar kept: ids of resources that are included even if they are not well or have maintenance.
    """

    pool: str
    span: interval.Interval
    own: frozenset
    soon: bool
    ignoring: frozenset = frozenset()
    condition: conditions.Condition = conditions.NONE
    names: tuple[str, ...] = ()
    well: bool = False
    kept: frozenset = frozenset()


def free(connection, search, after_id, limit):
    """Return the first `limit` unused resources after `after_id`, by id.

    :returns: rows (id, name, the JSON text of the capacity, and the text or None of each property
        in the `names` of the search).
    """
    return _resources(connection, search, after_id, limit, True)


def in_order(connection, search, after_id, limit):
    """Return the first `limit` resources after `after_id`, used or not, as rows like `free`."""
    return _resources(connection, search, after_id, limit, False)


def groups(connection, pool, now, cleaning, ignoring=()):
    """Return the resources of a pool that are free in the cloud, as minimum_need.AlikeResources.

    Criteria are ignored. Resources that are held, lent to a reservation, or booked whole now are
    left out. Two statements suffice for any number of resources.

    :param cleaning: how long an allocation counts after its end.
    :param ignoring: ids of the reservations whose allocations do not count.
    """
    values = {'pool': pool, 'start': now - cleaning, 'ignoring': list(ignoring)}
    counts = collections.Counter()
    for *kind, count in connection.execute(_GROUPS, values):
        counts[tuple(kind)] += count
    used = collections.defaultdict(collections.Counter)
    for resource_id, *kind, amount, copies in connection.execute(_IN_USE, {**values, 'now': now}):
        for name, units in json.loads(amount).items():
            used[resource_id, *kind][name] += units * int(copies)
    group_sizes = collections.Counter()
    for (_, *kind), amount in used.items():
        counts[tuple(kind)] -= 1
        group_sizes[(*kind, tuple(sorted(amount.items())))] += 1
    group_sizes.update({(*kind, ()): count for kind, count in counts.items()})
    return [_group(kind, count, now) for kind, count in group_sizes.items()
            if count > 0 and (kind[1] is None or kind[1] > now)]


def _group(kind, count, now):
    text, whole_from, used_from, in_use = kind
    capacity = json.loads(text)
    for name, units in in_use:
        capacity[name] = max(0, capacity.get(name, 0) - units)
    return minimum_need.AlikeResources(capacity, count, whole_from,
                                       used_from and max(used_from, now))


def _first_start(whole):
    """Return a subquery for the first start among the allocations of a resource that count."""
    statement = sa.select(sa.func.min(ALLOCATIONS.c.start)).where(
        ALLOCATIONS.c.resource_id == RESOURCES.c.id, allocations.REACHES, allocations.IGNORING)
    if whole:
        statement = statement.where(ALLOCATIONS.c.whole.is_(True))
    return statement.scalar_subquery()


_EACH = (
    sa.select(RESOURCES.c.id, sa.cast(RESOURCES.c.capacity, sa.Text).label('capacity'),
              _first_start(True).label('whole_from'), _first_start(False).label('used_from'))
    .where(allocations.RESERVABLE, RESOURCES.c.lent_to.is_(None), RESOURCES.c.held_by.is_(None))
    .subquery())
_GROUPS = (sa.select(_EACH.c.capacity, _EACH.c.whole_from, _EACH.c.used_from, sa.func.count())
           .group_by(_EACH.c.capacity, _EACH.c.whole_from, _EACH.c.used_from))
_AMOUNT = sa.cast(ALLOCATIONS.c.amount, sa.String(4000))
# The allocated parts of resources now. They are summed before the join, because a resource may have
# many allocations.
_PARTS = (
    sa.select(ALLOCATIONS.c.resource_id, _AMOUNT.label('amount'),
              sa.func.sum(ALLOCATIONS.c.copies).label('copies'))
    .join_from(RESOURCES, ALLOCATIONS, ALLOCATIONS.c.resource_id == RESOURCES.c.id)
    .where(allocations.RESERVABLE, ALLOCATIONS.c.whole.is_(False), allocations.REACHES,
           allocations.IGNORING, ALLOCATIONS.c.start <= sa.bindparam('now'))
    .group_by(ALLOCATIONS.c.resource_id, _AMOUNT).subquery())
_IN_USE = (
    sa.select(_EACH.c.id, _EACH.c.capacity, _EACH.c.whole_from, _EACH.c.used_from,
              _PARTS.c.amount, _PARTS.c.copies)
    .join_from(_PARTS, _EACH, _EACH.c.id == _PARTS.c.resource_id))


def _resources(connection, search, after_id, limit, unused):
    values = {'pool': search.pool, 'own': list(search.own), 'after_id': after_id, 'limit': limit,
              'kept': list(search.kept), 'start': search.span.start, 'end': search.span.end,
              **search.condition.values,
              **{f'name_{number}': name for number, name in enumerate(search.names)}}
    if unused:
        values['ignoring'] = list(search.ignoring)
    statement = _statement(unused, search.soon, search.well, search.condition.form,
                           len(search.names))
    return connection.execute(statement, values).all()


# The resources that have maintenance. Their blocks are not enough to exclude them, because a block
# has a gap after a lease has released the resource.
_MAINTAINED = (
    sa.select(MAINTENANCE_RESOURCES.c.resource_id)
    .join(MAINTENANCES, MAINTENANCES.c.id == MAINTENANCE_RESOURCES.c.maintenance_id)
    .join(WINDOWS, WINDOWS.c.maintenance_id == MAINTENANCE_RESOURCES.c.maintenance_id)
    .where(MAINTENANCES.c.closing.is_(False),
           WINDOWS.c.state.not_in((maintenance_windows.OPENING, maintenance_windows.DONE)),
           WINDOWS.c.start < sa.bindparam('end', type_=tables.UtcDateTime),
           WINDOWS.c.end > sa.bindparam('start', type_=tables.UtcDateTime)))


# Statements are cached, because building one costs more than running it. There are few forms.
@functools.lru_cache(maxsize=256)
def _statement(unused, soon, well, form, names):
    own = sa.bindparam('own', expanding=True)
    statement = (
        sa.select(RESOURCES.c.id, RESOURCES.c.name,
                  sa.cast(RESOURCES.c.capacity, sa.Text).label('capacity'),
                  *(_value(number) for number in range(names)))
        .where(allocations.RESERVABLE, RESOURCES.c.id > sa.bindparam('after_id'),
               sa.or_(RESOURCES.c.lent_to.is_(None), RESOURCES.c.lent_to.in_(own)))
        .order_by(RESOURCES.c.id).limit(sa.bindparam('limit', type_=sa.Integer)))
    if soon:
        statement = statement.where(
            sa.or_(RESOURCES.c.held_by.is_(None), RESOURCES.c.held_by.in_(own)))
    usable = RESOURCES.c.id.not_in(_MAINTAINED)
    if well:
        usable = sa.and_(usable, RESOURCES.c.health_state == health.WELL)
    statement = statement.where(
        sa.or_(RESOURCES.c.id.in_(sa.bindparam('kept', expanding=True)), usable))
    if form is not None:
        statement = statement.where(conditions.clause(form))
    if unused:
        # PostgreSQL would turn NOT EXISTS into a join that reads all resources and allocations
        # before it returns the first row. For IS NULL it estimates one row in 200, and would read
        # all resources that meet the criteria; for a comparison with < it estimates one in three.
        taken = (
            sa.select(ALLOCATIONS.c.id)
            .where(ALLOCATIONS.c.resource_id == RESOURCES.c.id, allocations.TOUCHES,
                   allocations.IGNORING)
            .limit(1).scalar_subquery())
        statement = statement.where(sa.func.coalesce(taken, 0) < 1)
    return statement


def _value(number):
    return (
        sa.select(VALUES.c.text)
        .where(VALUES.c.resource_id == RESOURCES.c.id,
               VALUES.c.property_id == conditions.property_id(f'name_{number}'))
        .scalar_subquery())
