# SPDX-License-Identifier: Apache-2.0
"""The allocations of a timeline, which may be very many, and their leases, as numpy columns.

A join of allocations with their leases costs more than everything else, so both are read on their
own. Callers who see only that others have a resource need few leases.
"""
import dataclasses
import datetime
import functools

import numpy as np
import sqlalchemy as sa

from climate.db import allocations
from climate.db import packed_columns
from climate.db import shares
from climate.db import tables

ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
OFFERS = tables.OFFERS
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
WINDOWS = tables.MAINTENANCE_WINDOWS

# The leases of at most this number of allocations are read by the ids of their reservations, and
# not by their time.
_FEW = 5_000
_START, _END, _NOW = (sa.bindparam(name, type_=tables.UtcDateTime)
                      for name in ('start', 'end', 'now'))
_IN_SPAN = sa.and_(LEASES.c.start < _END, sa.or_(
    LEASES.c.end > _START, LEASES.c.ended_at.is_(None), LEASES.c.ended_at > _START))
_OWN = sa.and_(_IN_SPAN, LEASES.c.project_id == sa.bindparam('project'))
_SHARED = LEASES.c.id.in_(shares.LEASES_OF)
_OWN_OR_SHARED = sa.and_(_IN_SPAN, sa.or_(LEASES.c.project_id == sa.bindparam('project'), _SHARED))
_THESE = RESERVATIONS.c.id.in_(sa.bindparam('ids', expanding=True))
_WINDOWS = sa.select(WINDOWS.c.id).where(WINDOWS.c.start < _END, WINDOWS.c.end > _START)
_OFFERED = sa.select(OFFERS.c.request).where(
    OFFERS.c.place.is_not(None), OFFERS.c.start < _END, OFFERS.c.end > _START)


@dataclasses.dataclass(frozen=True)
class Allocated:
    """Columns with one element for each allocation, sorted by resource and start.

    :ivar starts: microseconds since 1970.
    :ivar ends: microseconds since 1970.
    :ivar reservation_ids: ids as ``packed_columns.id_key`` returns them.
    """

    resource_ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    reservation_ids: np.ndarray


@dataclasses.dataclass(frozen=True)
class LeaseGroup:
    """The leases in a span of time that a timeline shows alike.

    :ivar own: whether they belong to the project of the query, or are shared with it.
    :ivar started: whether their start has come.
    :ivar deleted: whether they are deleted.
    :ivar first_start: the first start of a lease.
    :ivar reservation_ids: the ids of the reservations, as ``packed_columns.id_key`` returns them.
    :ivar lease_ids: the ids of the leases of these reservations, as text.
    """

    state: str
    task: str | None
    own: bool
    started: bool
    deleted: bool
    first_start: datetime.datetime
    reservation_ids: np.ndarray
    lease_ids: np.ndarray


def allocated(connection, query, most):
    """Return the Allocated of the resources of a ``timeline.TimelineQuery``.

    :param most: the maximum number of allocations.
    """
    packed_columns.prepare(connection)
    dialect = connection.dialect.name
    rows = connection.execute(_allocated(dialect), {
        'pool': query.pool, 'start': query.start, 'end': query.end, 'most': most}).all()
    counts, moments, ids = packed_columns.unpacked(
        dialect, [packed for _, packed in rows], moments=2, ids=1)
    resource_ids = np.repeat(np.array([key for key, _ in rows], np.int64), counts)
    # The database packs the rows of a resource in any order.
    order = np.lexsort((ids[0], moments[:, 0], resource_ids))
    return Allocated(resource_ids[order], moments[order, 0], moments[order, 1], ids[0][order])


def lease_groups(connection, query, found, now):
    """Return the LeaseGroups of the leases that a caller sees.

    There may be more leases than those of the allocations.

    :param query: the ``timeline.TimelineQuery``.
    :param found: the Allocated.
    """
    packed_columns.prepare(connection)
    dialect = connection.dialect.name
    receiver = query.project_id, query.user_id
    values = {'start': query.start, 'end': query.end, 'now': now, 'project': query.project_id,
              'user': query.user_id}
    # Most callers have no shares, and an index finds the leases of their projects.
    with_shared = shares.any_for(connection, receiver, now)
    condition = _IN_SPAN if query.everybody else _OWN_OR_SHARED if with_shared else _OWN
    if query.everybody and len(found.resource_ids) <= _FEW:
        condition = _THESE
        values['ids'] = [*map(packed_columns.id_text, set(found.reservation_ids.tolist()))]
    rows = connection.execute(_leased(dialect, condition, with_shared), values).all()
    groups = []
    for *facts, packed in rows:
        _counts, _moments, (reservation_ids, lease_ids) = packed_columns.unpacked(
            dialect, [packed], ids=2)
        groups.append(LeaseGroup(*facts, reservation_ids, lease_ids))
    return groups


def window_ids(connection, query):
    """Return the ids of the maintenance windows in the span of a query."""
    return connection.execute(_WINDOWS, {'start': query.start, 'end': query.end}).scalars().all()


def offered_ids(connection, query):
    """Return the ids of the reservations of the offers in the span of a query."""
    offers = connection.execute(_OFFERED, {'start': query.start, 'end': query.end}).scalars()
    return [reservation['id'] for request in offers for reservation in request]


@functools.cache
def _allocated(dialect):
    """Return the statement that reads the allocations of a pool, packed by resource."""
    rows = (
        sa.select(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.end,
                  ALLOCATIONS.c.reservation_id)
        .join_from(ALLOCATIONS, RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
        .where(RESOURCES.c.pool == sa.bindparam('pool'), RESOURCES.c.withdrawn_at.is_(None),
               allocations.TOUCHES)
        .limit(sa.bindparam('most')).subquery())
    return sa.select(rows.c.resource_id, packed_columns.packed(
        dialect, (rows.c.start, rows.c.end), (rows.c.reservation_id,))).group_by(
            rows.c.resource_id)


@functools.cache
def _leased(dialect, condition, with_shared):
    """Return the statement that reads the leases that meet a condition, packed by LeaseGroup."""
    own = LEASES.c.project_id == sa.bindparam('project')
    if with_shared:
        own = sa.or_(own, _SHARED)
    rows = (
        sa.select(LEASES.c.state, LEASES.c.task, own.label('own'),
                  (LEASES.c.start <= _NOW).label('started'),
                  LEASES.c.deleted_at.is_not(None).label('deleted'), LEASES.c.start,
                  RESERVATIONS.c.id, RESERVATIONS.c.lease_id)
        .join_from(LEASES, RESERVATIONS, RESERVATIONS.c.lease_id == LEASES.c.id)
        .where(condition).subquery())
    facts = (rows.c.state, rows.c.task, rows.c.own, rows.c.started, rows.c.deleted)
    return sa.select(*facts, sa.func.min(rows.c.start), packed_columns.packed(
        dialect, ids=(rows.c.id, rows.c.lease_id))).group_by(*facts)
