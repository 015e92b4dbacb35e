# SPDX-License-Identifier: Apache-2.0
"""Which of very many resources there are to choose from, in plain rows.

A row costs a tuple and no more: JSON comes as text, which most of them share. What is taken of them
is read by ``calendars``.
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

# As many as a database can count.
ALL = 2 ** 63 - 1


@dataclasses.dataclass(frozen=True)
class Search:
    """Resources of which pool are looked for, and for when and whom.

    :ivar span: the Interval, widened already by the time for cleaning.
    :ivar own: ids of the reservations that may have what is lent to one or held by one.
    :ivar soon: resources that another reservation occupies now are left out.
    :ivar ignoring: ids of the reservations whose own promises do not count.
    :ivar condition: a ``conditions.Condition`` that they meet.
    :ivar names: of the properties and facts whose values are told.
    """

    pool: str
    span: interval.Interval
    own: frozenset
    soon: bool
    ignoring: frozenset = frozenset()
    condition: conditions.Condition = conditions.NONE
    names: tuple[str, ...] = ()


def free(connection, search, after_id, limit):
    """The first `limit` resources after one of which nobody has anything, by id.

    :returns: rows of id, name, the JSON text of the capacity, and the text of each property that
        the search names, or None.
    """
    return _resources(connection, search, after_id, limit, True)


def in_order(connection, search, after_id, limit):
    """As `free`, whoever has them."""
    return _resources(connection, search, after_id, limit, False)


def _resources(connection, search, after_id, limit, unused):
    asked = {'pool': search.pool, 'own': list(search.own), 'after_id': after_id, 'limit': limit,
             **search.condition.values,
             **{f'name_{number}': name for number, name in enumerate(search.names)}}
    if unused:
        asked |= {'start': search.span.start, 'end': search.span.end,
                  'ignoring': list(search.ignoring)}
    statement = _statement(unused, search.soon, search.condition.form, len(search.names))
    return connection.execute(statement, asked).all()


# Building one costs more than asking it, and there are few forms.
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
        # PostgreSQL would make a join of NOT EXISTS, and look at all resources and all that is
        # promised before it gives out the first. Of what is null it guesses that one in 200 is, and
        # would look at all that meet the criteria; of what is less, that one in three is.
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
