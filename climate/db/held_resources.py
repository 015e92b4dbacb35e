# SPDX-License-Identifier: Apache-2.0
"""The leases and offers of an owner with their resources, read in one statement to check limits."""
import dataclasses
import datetime
import functools
from typing import Any

import sqlalchemy as sa

from climate.db import allocations
from climate.db import tables

ACQUISITIONS = tables.ACQUISITIONS
ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
OFFERS = tables.OFFERS
OFFER_RESERVATIONS = tables.OFFER_RESERVATIONS
PROPERTIES = tables.PROPERTIES
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
VALUES = tables.PROPERTY_VALUES

LEASE, OFFER, RESOURCE, CAPACITY = 'lease', 'offer', 'resource', 'capacity'


@dataclasses.dataclass(frozen=True)
class HeldSearch:
    """A search for what limits count.

    :ivar project_id: the project whose leases and offers are read; None: of no project.
    :ivar project_ids: projects whose leases and offers are read together.
    :ivar user_id: the user whose leases and offers are read; None: of no user.
    :ivar now: the present moment. Offers that have expired are left out.
    :ivar since: leases that were over before this moment are left out; None: all that are over.
    :ivar span: the (start, end) of the time in which allocations count.
    :ivar resource_ids: ids of further resources that are described.
    :ivar pools: names of pools whose capacities are read.
    :ivar names: names of the properties that are read.
    :ivar counts: whether leases and offers without allocations in the span are read, too.
    """

    project_id: str | None
    user_id: str | None
    now: datetime.datetime
    since: datetime.datetime | None
    span: tuple[datetime.datetime, datetime.datetime]
    resource_ids: tuple[int, ...] = ()
    pools: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    project_ids: tuple[str, ...] = ()
    counts: bool = True


def read(connection, search):
    """Return the rows of a HeldSearch.

    :returns: rows with `what`, and with these columns, which are None where they do not apply:

        * LEASE and OFFER: holding_id, project_id, user_id, state, begin, until, over_at, held_until
          (of a waiting lease: its latest start), reservation_id, resource_type, allocation_id,
          start, end, whole, amount (JSON text), copies, and the columns of RESOURCE;
        * RESOURCE: resource_id, pool, name, capacity (JSON text), and the properties as p0, p1, …;
        * CAPACITY: pool, capacity, the properties, and the number of resources in copies.
    """
    start, end = search.span
    values = {'project': search.project_id, 'projects': list(search.project_ids),
              'user': search.user_id, 'now': search.now, 'since': search.since, 'start': start,
              'end': end,
              'ids': list(search.resource_ids), 'id': next(iter(search.resource_ids), None),
              'pools': list(search.pools),
              **{f'name_{number}': name for number, name in enumerate(search.names)}}
    statement, used = _statement(
        search.project_id is not None, bool(search.project_ids), search.user_id is not None,
        search.since is not None, min(len(search.resource_ids), 2), bool(search.pools),
        len(search.names), search.counts)
    return connection.execute(statement, {name: values[name] for name in used}).all()


def project_ids(connection, since):
    """Return the sorted ids of the projects with an offer, or with a lease that ended later.

    :param since: leases that were over before this moment are ignored.
    """
    owners = sa.union(
        sa.select(LEASES.c.project_id).where(
            sa.or_(LEASES.c.ended_at.is_(None), LEASES.c.ended_at > since)),
        sa.select(OFFERS.c.project_id))
    return sorted(connection.execute(owners).scalars())


_NOW = sa.bindparam('now', type_=tables.UtcDateTime)
_TOUCHES = sa.and_(
    allocations.COUNTS, ALLOCATIONS.c.end > sa.bindparam('start', type_=tables.UtcDateTime),
    ALLOCATIONS.c.start < sa.bindparam('end', type_=tables.UtcDateTime))


# Statements are cached, because building one costs more than running it. There are few forms.
@functools.lru_cache(maxsize=256)
def _statement(of_project, of_projects, of_user, past, described, capacities, names, counts):
    """Return (the statement, the names of its parameters).

    :param described: 0, 1 or 2 for the description of no, one or several resources.
    """
    properties = [_value(number) for number in range(names)]
    parts, used = [], [f'name_{number}' for number in range(names)]
    owners = [(name, column) for wanted, name, column in (
        (of_project, 'project', 'project_id'), (of_projects, 'projects', 'project_id'),
        (of_user, 'user', 'user_id')) if wanted]
    for name, column in owners:
        used += [name, 'now', 'start', 'end']
        owned = _owned(LEASES, column, name)
        parts.append(_leases(properties, counts, owned, LEASES.c.ended_at.is_(None)))
        if past:
            used.append('since')
            parts.append(_leases(properties, False, owned, LEASES.c.ended_at > sa.bindparam(
                'since', type_=tables.UtcDateTime)))
        parts.append(_offers(properties, counts, _owned(OFFERS, column, name)))
    if described:
        # SQLAlchemy renders the whole statement again for each list of ids.
        used.append('id' if described == 1 else 'ids')
        parts.append(_select(RESOURCE, properties, {}).where(
            RESOURCES.c.id == sa.bindparam('id') if described == 1
            else RESOURCES.c.id.in_(sa.bindparam('ids', expanding=True))))
    if capacities:
        used.append('pools')
        parts.append(_capacities(properties))
    return sa.union_all(*parts), frozenset(used)


def _owned(table, column, name):
    """Return the condition that the rows of a table belong to the owner, or owners, in `name`."""
    if name == 'projects':
        return table.c[column].in_(sa.bindparam(name, expanding=True))
    return table.c[column] == sa.bindparam(name)


def _value(number):
    """Return the text of a property of a resource, whose name is a parameter."""
    return (sa.select(VALUES.c.text)
            .join_from(VALUES, PROPERTIES, PROPERTIES.c.id == VALUES.c.property_id)
            .where(VALUES.c.resource_id == RESOURCES.c.id, PROPERTIES.c.pool == RESOURCES.c.pool,
                   PROPERTIES.c.name == sa.bindparam(f'name_{number}'))
            .correlate(RESOURCES).scalar_subquery())


_COLUMNS = (
    'holding_id', 'project_id', 'user_id', 'state', 'begin', 'until', 'over_at', 'held_until',
    'reservation_id', 'resource_type', 'allocation_id', 'start', 'end', 'whole', 'amount', 'copies')
_RESOURCE_COLUMNS = {
    'resource_id': RESOURCES.c.id, 'pool': RESOURCES.c.pool, 'name': RESOURCES.c.name,
    'capacity': sa.cast(RESOURCES.c.capacity, sa.Text)}
_ALLOCATION_COLUMNS: dict[str, Any] = {
    'allocation_id': ALLOCATIONS.c.id, 'start': ALLOCATIONS.c.start, 'end': ALLOCATIONS.c.end,
    'whole': ALLOCATIONS.c.whole, 'amount': sa.cast(ALLOCATIONS.c.amount, sa.Text),
    'copies': ALLOCATIONS.c.copies}


def _select(what, properties, columns, described=_RESOURCE_COLUMNS):
    """Return a part of the statement. Columns that are not given are NULL.

    The leases are the first part, so that all columns have types.
    """
    return sa.select(
        sa.literal_column(f"'{what}'").label('what'),
        *(columns.get(name, sa.null()).label(name) for name in _COLUMNS),
        *(described.get(name, sa.null()).label(name) for name in _RESOURCE_COLUMNS),
        *(column.label(f'p{number}') for number, column in enumerate(properties)))


def _leases(properties, counts, *conditions):
    joined = (sa.outerjoin(LEASES, ACQUISITIONS, ACQUISITIONS.c.lease_id == LEASES.c.id)
              .join(RESERVATIONS, RESERVATIONS.c.lease_id == LEASES.c.id, isouter=counts))
    joined = _with_allocations(joined, RESERVATIONS.c.id, counts)
    return _select(LEASE, properties, {
        'holding_id': LEASES.c.id, 'project_id': LEASES.c.project_id, 'user_id': LEASES.c.user_id,
        'state': LEASES.c.state, 'begin': LEASES.c.start, 'until': LEASES.c.end,
        'over_at': LEASES.c.ended_at, 'held_until': ACQUISITIONS.c.not_after,
        'reservation_id': RESERVATIONS.c.id, 'resource_type': RESERVATIONS.c.resource_type,
        **_ALLOCATION_COLUMNS}).select_from(joined).where(*conditions)


def _with_allocations(joined, reservation_id, counts):
    """Return a join, extended by allocations and their resources.

    :param counts: whether rows without allocations are kept.
    """
    return (joined.join(ALLOCATIONS, sa.and_(
        ALLOCATIONS.c.reservation_id == reservation_id, _TOUCHES), isouter=counts)
            .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id, isouter=counts))


def _offers(properties, counts, owned):
    parts = OFFER_RESERVATIONS
    joined = _with_allocations(
        sa.outerjoin(OFFERS, parts, parts.c.offer_id == OFFERS.c.id), parts.c.reservation_id,
        counts)
    return _select(OFFER, properties, {
        'holding_id': OFFERS.c.id, 'project_id': OFFERS.c.project_id, 'user_id': OFFERS.c.user_id,
        'begin': OFFERS.c.start, 'until': OFFERS.c.end, 'held_until': OFFERS.c.held_until,
        'reservation_id': parts.c.reservation_id, 'resource_type': parts.c.resource_type,
        **_ALLOCATION_COLUMNS}).select_from(joined).where(
            owned, OFFERS.c.place.is_not(None), OFFERS.c.held_until > _NOW)


def _capacities(properties):
    # PostgreSQL groups by no subqueries, so that the properties are read first.
    rows = sa.select(
        RESOURCES.c.pool, _RESOURCE_COLUMNS['capacity'].label('capacity'),
        *(column.label(f'p{number}') for number, column in enumerate(properties))).where(
            RESOURCES.c.pool.in_(sa.bindparam('pools', expanding=True)),
            RESOURCES.c.withdrawn_at.is_(None)).subquery()
    values = [rows.c[f'p{number}'] for number in range(len(properties))]
    return _select(CAPACITY, values, {'copies': sa.func.count()}, {
        'pool': rows.c.pool, 'capacity': rows.c.capacity}).group_by(
            rows.c.pool, rows.c.capacity, *values)
