# SPDX-License-Identifier: Apache-2.0
"""The rows of a timeline: the allocations of a pool, and the leases that wait."""
import collections
import typing

import sqlalchemy as sa

from climate.db import acquisitions
from climate.db import allocations
from climate.db import by_keys
from climate.db import tables
from climate.domain import health
from climate.domain import lifecycle
from climate.domain import timeline

ACQUISITIONS = tables.ACQUISITIONS
ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
OFFERS = tables.OFFERS
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
WINDOWS = tables.MAINTENANCE_WINDOWS

# An allocation may have no lease: reservations of offers are not written yet, and blocks have none.
_ALLOCATED = (
    sa.select(ALLOCATIONS.c.reservation_id, ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start,
              ALLOCATIONS.c.end, WINDOWS.c.id.label('window_id'),
              LEASES.c.id.label('lease_id'), LEASES.c.project_id, LEASES.c.state, LEASES.c.task,
              LEASES.c.start.label('lease_start'), LEASES.c.deleted_at)
    .join_from(ALLOCATIONS, RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
    .outerjoin(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
    .outerjoin(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
    .outerjoin(WINDOWS, WINDOWS.c.id == ALLOCATIONS.c.reservation_id)
    .where(RESOURCES.c.pool == sa.bindparam('pool'), RESOURCES.c.withdrawn_at.is_(None),
           allocations.TOUCHES)
    .order_by(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.id)
    .limit(sa.bindparam('most')))
# Allocations without their leases: a join with four tables costs more than all else. Callers who
# see only that others have a resource need few leases, and many leases are read faster on their
# own.
_PLAIN = (
    sa.select(ALLOCATIONS.c.reservation_id, ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start,
              ALLOCATIONS.c.end)
    .join_from(ALLOCATIONS, RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
    .where(RESOURCES.c.pool == sa.bindparam('pool'), RESOURCES.c.withdrawn_at.is_(None),
           allocations.TOUCHES)
    .order_by(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.id)
    .limit(sa.bindparam('most')))
_START, _END = (sa.bindparam(name, type_=tables.UtcDateTime) for name in ('start', 'end'))
_LEASED = (
    sa.select(RESERVATIONS.c.id, LEASES.c.id.label('lease_id'), LEASES.c.project_id, LEASES.c.state,
              LEASES.c.task, LEASES.c.start.label('lease_start'), LEASES.c.deleted_at)
    .join_from(LEASES, RESERVATIONS, RESERVATIONS.c.lease_id == LEASES.c.id)
    .where(LEASES.c.start < _END,
           sa.or_(LEASES.c.end > _START, LEASES.c.ended_at.is_(None), LEASES.c.ended_at > _START)))
_OWN = _LEASED.where(LEASES.c.project_id == sa.bindparam('project'))
_WINDOWS = sa.select(WINDOWS.c.id).where(WINDOWS.c.start < _END, WINDOWS.c.end > _START)
_OFFERED = sa.select(OFFERS.c.request).where(
    OFFERS.c.place.is_not(None), OFFERS.c.start < _END, OFFERS.c.end > _START)
#: The lease of an allocation of another project.
HIDDEN = ''
# Leases in the wait queue come before best-effort leases, which are not in the queue.
_OUTSIDE = sa.case((ACQUISITIONS.c.waits_for == acquisitions.QUEUE, 0), else_=1)
_WAITING = (
    sa.select(LEASES.c.id, LEASES.c.name, LEASES.c.project_id, LEASES.c.user_id, LEASES.c.reason,
              LEASES.c.owner_reason, ACQUISITIONS.c.type, ACQUISITIONS.c.created_at,
              _OUTSIDE.label('outside'))
    .join_from(LEASES, ACQUISITIONS, ACQUISITIONS.c.lease_id == LEASES.c.id)
    .where(LEASES.c.state == lifecycle.ACQUIRING, LEASES.c.task.is_(None),
           LEASES.c.deleted_at.is_(None),
           sa.exists().where(RESERVATIONS.c.lease_id == LEASES.c.id,
                             RESERVATIONS.c.resource_type.in_(sa.bindparam('types', expanding=True))
                             ))
    .order_by(_OUTSIDE, ACQUISITIONS.c.priority.desc(), ACQUISITIONS.c.created_at, LEASES.c.id)
    .limit(sa.bindparam('most')))
_REQUESTS = by_keys.ByKeys(
    sa.select(RESERVATIONS.c.lease_id, RESERVATIONS.c.resource_type, RESERVATIONS.c.request),
    RESERVATIONS.c.lease_id)
_LEASES = by_keys.ByKeys(
    sa.select(LEASES.c.id, LEASES.c.name, LEASES.c.project_id, LEASES.c.user_id), LEASES.c.id)
_MAINTENANCE_ENDS = (
    sa.select(ALLOCATIONS.c.resource_id, sa.func.max(ALLOCATIONS.c.end).label('end'))
    .join_from(ALLOCATIONS, WINDOWS, WINDOWS.c.id == ALLOCATIONS.c.reservation_id)
    .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
    .where(RESOURCES.c.pool == sa.bindparam('pool'), ALLOCATIONS.c.start <= sa.bindparam('now'),
           ALLOCATIONS.c.end > sa.bindparam('now'))
    .group_by(ALLOCATIONS.c.resource_id))
_AT_ONCE = 2_000
# At most this number of allocations is read with their leases in one statement.
_FEW = 5_000


class AllocatedRow(typing.NamedTuple):
    """A row that `allocated_for` returns, with the names of those of `allocated`."""

    reservation_id: str
    resource_id: int
    start: object
    end: object
    window_id: str | None = None
    lease_id: str | None = None
    project_id: str | None = None
    state: str | None = None
    task: str | None = None
    lease_start: object = None
    deleted_at: object = None


def allocated_for(connection, query, most):
    """Return rows like those of `allocated`, for the caller of a ``timeline.TimelineQuery``.

    If the caller does not see a lease, its lease_id is HIDDEN, and its other columns are None.
    """
    span = {'start': query.start, 'end': query.end}
    plain = connection.execute(_PLAIN, {**span, 'pool': query.pool, 'most': most}).all()
    if query.everybody and len(plain) <= _FEW:
        return allocated(connection, query.pool, query.start, query.end, most)
    if query.everybody:
        leased = connection.execute(_LEASED, span)
    else:
        leased = connection.execute(_OWN, {**span, 'project': query.project_id})
    own = {row[0]: row[1:] for row in leased}
    windows = set(connection.execute(_WINDOWS, span).scalars())
    offered = {each['id'] for request in connection.execute(_OFFERED, span).scalars()
               for each in request}
    rows = []
    for row in plain:
        key = row[0]
        if key in own:
            rows.append(AllocatedRow(*row, None, *own[key]))
        elif key in windows:
            rows.append(AllocatedRow(*row, key))
        else:
            hidden = key not in offered and not health.is_block(key)
            rows.append(AllocatedRow(*row, None, HIDDEN if hidden else None))
    return rows


def allocated(connection, pool, start, end, most):
    """Return the allocations of a pool between two moments, by resource and start.

    :param most: the maximum number of rows.
    :returns: rows (reservation_id, resource_id, start, end, window_id, lease_id, project_id, state,
        task, lease_start, deleted_at). window_id is None unless the allocation is of a maintenance.
        The columns after window_id are None unless the allocation is of a lease.
    """
    return connection.execute(_ALLOCATED, {'pool': pool, 'start': start, 'end': end,
                                           'most': most}).all()


def waiting(connection, types, most):
    """Return the leases that wait for their resources, those in the wait queue first.

    :param types: only leases with a reservation of one of these types.
    :param most: the maximum number of rows.
    :returns: rows (id, name, project_id, user_id, reason, owner_reason, type, created_at, outside).
    """
    return connection.execute(_WAITING, {'types': types, 'most': most}).all()


def maintenance_ends(connection, pool, now):
    """Return {resource id: the planned end} of the maintenance windows of a pool that run now."""
    return {row.resource_id: row.end for row in connection.execute(
        _MAINTENANCE_ENDS, {'pool': pool, 'now': now})}


def requests(connection, lease_ids):
    """Return {lease id: rows (lease_id, resource_type, request) of its reservations}."""
    by_lease = collections.defaultdict(list)
    if lease_ids:
        for row in _REQUESTS.execute(connection, lease_ids):
            by_lease[row.lease_id].append(row)
    return by_lease


def leases(connection, lease_ids):
    """Return {lease id: timeline.ShownLease}."""
    return {row.id: timeline.ShownLease(row.id, row.name, row.project_id, row.user_id)
            for batch in by_keys.batches(lease_ids, _AT_ONCE)
            for row in _LEASES.execute(connection, batch)}
