# SPDX-License-Identifier: Apache-2.0
"""Sums of what an owner holds, read in one statement, for a fast check of limits.

They have a row for each kind of resource, and not one for each allocation as in
:mod:`climate.db.held_resources`.
"""
import dataclasses
import datetime
import functools

import sqlalchemy as sa

from climate.db import allocations
from climate.db import durations
from climate.db import tables
from climate.domain import lifecycle
from climate.domain.limits import rules

ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
OFFERS = tables.OFFERS
OFFER_RESERVATIONS = tables.OFFER_RESERVATIONS
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES

PART, RESOURCE = 'part', 'resource'


@dataclasses.dataclass(frozen=True)
class SumsSearch:
    """A search for the sums of a project and a user.

    :ivar owners: pairs (kind of owner, measure) whose leases or offers are counted, for the
        measures in ``rules.OF_COUNTS``; and (kind of owner, PART) if its resources are added up.
    :ivar with_amounts: whether resources are added up by their capacities.
    :ivar project_id: the id of the project.
    :ivar user_id: the id of the user.
    :ivar now: the present moment. Offers that have expired are left out.
    :ivar since: leases that were over before this moment are left out; None: all that are over.
    :ivar reach: the (start, end) of the time in which allocations are added up.
    :ivar span: the (start, end) of the time in which the copies are added up.
    :ivar resource_ids: ids of resources that are described.
    """

    owners: frozenset[tuple[rules.Per, str]]
    with_amounts: bool
    project_id: str
    user_id: str
    now: datetime.datetime
    since: datetime.datetime | None
    reach: tuple[datetime.datetime, datetime.datetime]
    span: tuple[datetime.datetime, datetime.datetime]
    resource_ids: tuple[int, ...] = ()


def read(connection, search):
    """Return the rows of a SumsSearch.

    :returns: rows with `what`, `owner` and these columns; the others are 0 or empty:

        * a measure: number, the number of leases or offers of the owner;
        * PART: pool, and with amounts also whole, capacity and amount (JSON texts); number, the
          copies in the span; seconds, the copies times the seconds in which they are held, and at
          most two seconds more for each. Several rows may have the same resources;
        * RESOURCE: resource_id, pool, capacity.
    """
    (start, end), (span_start, span_end) = search.reach, search.span
    values = {rules.Per.PROJECT: search.project_id, rules.Per.USER: search.user_id,
              'now': search.now, 'since': search.since, 'start': start, 'end': end,
              'span_start': span_start, 'span_end': span_end, 'ids': list(search.resource_ids),
              'id': next(iter(search.resource_ids), None)}
    statement, used = _statement(search.owners, search.with_amounts, search.since is not None,
                                 min(len(search.resource_ids), 2))
    return connection.execute(statement, {name: values[name] for name in used}).all()


# Statements are cached, because building one costs more than running it. There are few forms.
@functools.lru_cache(maxsize=256)
def _statement(owners, with_amounts, past, described):
    """Return (the statement, the names of its parameters).

    :param past: whether leases that are over are added up.
    :param described: 0, 1 or 2 for the description of no, one or several resources.
    """
    selects = []
    for owner, what in sorted(owners):
        selects.append(_parts(owner, with_amounts, past) if what == PART
                       else _count(owner, what))
    if described:
        # SQLAlchemy renders the whole statement again for each list of ids.
        selects.append(_select(RESOURCE, None, resource_id=RESOURCES.c.id, pool=RESOURCES.c.pool,
                               capacity=_CAPACITY).where(
            RESOURCES.c.id == sa.bindparam('id') if described == 1
            else RESOURCES.c.id.in_(sa.bindparam('ids', expanding=True))))
    statement = sa.union_all(*selects)
    return statement, frozenset(
        name for name, constant in statement.compile().params.items() if constant is None)


def _moment(name):
    return sa.bindparam(name, type_=tables.UtcDateTime)


_TOUCHES = sa.and_(allocations.COUNTS, ALLOCATIONS.c.end > _moment('start'),
                   ALLOCATIONS.c.start < _moment('end'))
_IN_SPAN = sa.and_(ALLOCATIONS.c.end > _moment('span_start'),
                   ALLOCATIONS.c.start < _moment('span_end'))
_ZERO, _ONE, _EMPTY = map(sa.literal_column, ('0', '1', "''"))
_CAPACITY = sa.cast(RESOURCES.c.capacity, sa.Text)
_AMOUNT = sa.cast(ALLOCATIONS.c.amount, sa.Text)
_SECONDS = durations.SecondsBetween(ALLOCATIONS.c.start, ALLOCATIONS.c.end) + _ONE
_COLUMNS = {
    'resource_id': _ZERO, 'pool': _EMPTY, 'whole': sa.false(), 'capacity': _EMPTY, 'amount': _EMPTY,
    'number': _ZERO, 'seconds': _ZERO}


def _select(what, owner, **columns):
    """Return a part of the statement. Columns that are not given are 0 or empty."""
    return sa.select(
        sa.literal_column(f"'{what}'").label('what'),
        sa.literal_column(f"'{owner or ''}'").label('owner'),
        *(columns.get(name, empty).label(name) for name, empty in _COLUMNS.items()))


def _count(owner, measure):
    """Return the part of the statement that counts the leases or offers of an owner."""
    if measure == rules.Measure.HELD_OFFERS:
        return _select(measure, owner, number=sa.func.count()).select_from(OFFERS).where(
            _is_held_offer_of(owner))
    counted = _select(measure, owner, number=sa.func.count()).select_from(LEASES).where(
        _is_of(LEASES, owner), LEASES.c.ended_at.is_(None))
    if measure == rules.Measure.WAITING_LEASES:
        counted = counted.where(LEASES.c.state == lifecycle.ACQUIRING)
    return counted


def _parts(owner, with_amounts, past):
    """Return the part of the statement that adds up the resources of an owner."""
    of_leases = sa.select(RESERVATIONS.c.id).where(
        _is_of(LEASES, owner), RESERVATIONS.c.lease_id == LEASES.c.id)
    of_offers = sa.select(OFFER_RESERVATIONS.c.reservation_id).where(
        _is_held_offer_of(owner), OFFER_RESERVATIONS.c.offer_id == OFFERS.c.id)
    held = sa.union_all(
        of_leases.where(LEASES.c.ended_at.is_(None)), of_offers,
        *([of_leases.where(LEASES.c.ended_at > _moment('since'))] if past else ())).subquery('held')
    keys = {'pool': RESOURCES.c.pool}
    if with_amounts:
        keys |= {'whole': ALLOCATIONS.c.whole, 'capacity': _CAPACITY, 'amount': _AMOUNT}
    return _select(
        PART, owner, **keys,
        number=sa.func.sum(sa.case((_IN_SPAN, ALLOCATIONS.c.copies), else_=_ZERO)),
        seconds=sa.func.sum(ALLOCATIONS.c.copies * _SECONDS)).where(
            ALLOCATIONS.c.reservation_id == held.c.id, _TOUCHES,
            RESOURCES.c.id == ALLOCATIONS.c.resource_id).group_by(*keys.values())


def _is_of(table, owner):
    """Return the condition that the rows of a table belong to the owner."""
    column = table.c.project_id if owner == rules.Per.PROJECT else table.c.user_id
    return column == sa.bindparam(str(owner))


def _is_held_offer_of(owner):
    return sa.and_(_is_of(OFFERS, owner), OFFERS.c.place.is_not(None),
                   OFFERS.c.held_until > _moment('now'))
