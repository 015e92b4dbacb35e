# SPDX-License-Identifier: Apache-2.0
"""The rows of a timeline: the allocations of a pool, and the leases that wait."""
import collections

import sqlalchemy as sa

from climate.db import acquisitions
from climate.db import allocations
from climate.db import by_keys
from climate.db import queue_order
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import timeline

ACQUISITIONS = tables.ACQUISITIONS
ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
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
    .order_by(_OUTSIDE, *queue_order.COLUMNS)
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
