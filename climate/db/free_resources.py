# SPDX-License-Identifier: Apache-2.0
"""The candidates for a booking among very many resources, read as plain rows.

A row is a plain tuple. JSON comes as text, because most rows share the same text. ``calendars``
reads what is booked of the resources.
"""
import dataclasses
import functools

import sqlalchemy as sa

from climate.db import allocations
from climate.db import conditions
from climate.db import tables
from climate.domain import interval

ALLOCATIONS = tables.ALLOCATIONS
PROPERTIES = tables.PROPERTIES
RESOURCES = tables.RESOURCES
VALUES = tables.PROPERTY_VALUES

# No limit: the largest number that every database accepts.
ALL = 2 ** 63 - 1


@dataclasses.dataclass(frozen=True)
class Search:
    """A search for the resources of a pool.

    :ivar span: the Interval, which includes the time for cleaning.
    :ivar own: ids of the reservations that may use resources lent to or held by one of them.
    :ivar soon: whether to leave out resources that another reservation holds now.
    :ivar ignoring: ids of the reservations whose allocations do not count.
    :ivar condition: the ``conditions.Condition`` that the resources meet.
    :ivar names: the properties and facts whose values are returned.
    """

    pool: str
    span: interval.Interval
    own: frozenset
    soon: bool
    ignoring: frozenset = frozenset()
    condition: conditions.Condition = conditions.NONE
    names: tuple[str, ...] = ()


def free(connection, search, after_id, limit):
    """Return the first `limit` unused resources after `after_id`, by id.

    :returns: rows of id, name, the JSON text of the capacity, and for each property that the search
        names its text or None.
    """
    return _resources(connection, search, after_id, limit, True)


def in_order(connection, search, after_id, limit):
    """Return the first `limit` resources after `after_id`, used or not, in the rows of `free`."""
    return _resources(connection, search, after_id, limit, False)


def open_capacities(connection, search):
    """Return how many resources of which capacity are not wholly taken; criteria do not count.

    :returns: rows of the JSON text of the capacity, whether a part is taken, and the number of
        resources.
    """
    return connection.execute(_open_statement(search.soon), {
        'pool': search.pool, 'own': list(search.own), 'start': search.span.start,
        'end': search.span.end, 'ignoring': list(search.ignoring)}).all()


@functools.lru_cache
def _open_statement(soon):
    taken = (
        sa.select(sa.func.max(sa.case((ALLOCATIONS.c.whole.is_(True), 2), else_=1)))
        .where(ALLOCATIONS.c.resource_id == RESOURCES.c.id, allocations.TOUCHES,
               allocations.IGNORING)
        .scalar_subquery())
    own = sa.bindparam('own', expanding=True)
    found = (
        sa.select(sa.cast(RESOURCES.c.capacity, sa.Text).label('capacity'),
                  sa.func.coalesce(taken, 0).label('taken'))
        .where(allocations.RESERVABLE,
               sa.or_(RESOURCES.c.lent_to.is_(None), RESOURCES.c.lent_to.in_(own))))
    if soon:
        found = found.where(sa.or_(RESOURCES.c.held_by.is_(None), RESOURCES.c.held_by.in_(own)))
    each = found.subquery()
    return (sa.select(each.c.capacity, each.c.taken, sa.func.count())
            .where(each.c.taken < 2).group_by(each.c.capacity, each.c.taken))


def _resources(connection, search, after_id, limit, unused):
    asked = {'pool': search.pool, 'own': list(search.own), 'after_id': after_id, 'limit': limit,
             **search.condition.values,
             **{f'name_{number}': name for number, name in enumerate(search.names)}}
    if unused:
        asked |= {'start': search.span.start, 'end': search.span.end,
                  'ignoring': list(search.ignoring)}
    statement = _statement(unused, search.soon, search.condition.form, len(search.names))
    return connection.execute(statement, asked).all()


# Building a statement costs more than running it, and there are few forms.
@functools.lru_cache(maxsize=256)
def _statement(unused, soon, form, names):
    own = sa.bindparam('own', expanding=True)
    found = (
        sa.select(RESOURCES.c.id, RESOURCES.c.name,
                  sa.cast(RESOURCES.c.capacity, sa.Text).label('capacity'),
                  *(_value(number) for number in range(names)))
        .where(allocations.RESERVABLE, RESOURCES.c.id > sa.bindparam('after_id'),
               sa.or_(RESOURCES.c.lent_to.is_(None), RESOURCES.c.lent_to.in_(own)))
        .order_by(RESOURCES.c.id).limit(sa.bindparam('limit', type_=sa.Integer)))
    if soon:
        found = found.where(sa.or_(RESOURCES.c.held_by.is_(None), RESOURCES.c.held_by.in_(own)))
    if form is not None:
        found = found.where(conditions.clause(form))
    if unused:
        # PostgreSQL would turn NOT EXISTS into a join that reads all resources and allocations
        # before it returns the first row. For IS NULL it estimates one row in 200, and would read
        # all resources that meet the criteria; for a comparison with < it estimates one in three.
        taken = (
            sa.select(ALLOCATIONS.c.id)
            .where(ALLOCATIONS.c.resource_id == RESOURCES.c.id, allocations.TOUCHES,
                   allocations.IGNORING)
            .limit(1).scalar_subquery())
        found = found.where(sa.func.coalesce(taken, 0) < 1)
    return found


def _value(number):
    return (
        sa.select(VALUES.c.text)
        .where(VALUES.c.resource_id == RESOURCES.c.id,
               VALUES.c.property_id == conditions.property_id(f'name_{number}'))
        .scalar_subquery())
