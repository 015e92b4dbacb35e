# SPDX-License-Identifier: Apache-2.0
"""The rows for what-if plans and forecasts: allocations, resources, waiting leases."""
import sqlalchemy as sa

from climate.db import allocations
from climate.db import by_keys
from climate.db import queue_order
from climate.db import tables
from climate.domain import lifecycle

ALLOCATIONS = tables.ALLOCATIONS
ACQUISITIONS = tables.ACQUISITIONS
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES

# Offers have allocations without reservation and lease.
_PLACED = (
    sa.select(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.end,
              ALLOCATIONS.c.whole, ALLOCATIONS.c.amount, ALLOCATIONS.c.copies, ALLOCATIONS.c.need,
              ALLOCATIONS.c.reservation_id, RESERVATIONS.c.lease_id)
    .join_from(ALLOCATIONS, RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
    .outerjoin(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
    .where(allocations.RESERVABLE, allocations.COUNTS,
           ALLOCATIONS.c.end > sa.bindparam('start', type_=tables.UtcDateTime))
    .order_by(ALLOCATIONS.c.start, ALLOCATIONS.c.id))
_ALL_OF_LEASES = (
    sa.select(RESERVATIONS.c.id, RESERVATIONS.c.lease_id, RESERVATIONS.c.resource_type,
              RESERVATIONS.c.request)
    .where(RESERVATIONS.c.lease_id.in_(sa.bindparam('ids', expanding=True)),
           RESERVATIONS.c.state != lifecycle.RESERVATION_DELETED)
    .order_by(RESERVATIONS.c.lease_id, RESERVATIONS.c.position))
_WAITING = (
    sa.select(LEASES.c.id, LEASES.c.project_id, LEASES.c.end, ACQUISITIONS.c.duration_seconds,
              ACQUISITIONS.c.created_at.label('asked_at'))
    .join_from(ACQUISITIONS, LEASES, LEASES.c.id == ACQUISITIONS.c.lease_id)
    .where(LEASES.c.state == lifecycle.ACQUIRING, LEASES.c.deleted_at.is_(None))
    .order_by(*queue_order.COLUMNS))
_DEMAND = (
    sa.select(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.end,
              ALLOCATIONS.c.whole, ALLOCATIONS.c.amount, ALLOCATIONS.c.copies,
              ACQUISITIONS.c.created_at.label('asked_at'), ACQUISITIONS.c.duration_seconds)
    .join_from(ALLOCATIONS, RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
    .outerjoin(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
    .outerjoin(ACQUISITIONS, ACQUISITIONS.c.lease_id == RESERVATIONS.c.lease_id)
    .where(RESOURCES.c.pool == sa.bindparam('pool'), allocations.COUNTS,
           ALLOCATIONS.c.end > sa.bindparam('start', type_=tables.UtcDateTime),
           ALLOCATIONS.c.start < sa.bindparam('end', type_=tables.UtcDateTime)))
_ENROLLED = (sa.select(RESOURCES.c.id, RESOURCES.c.name, RESOURCES.c.capacity,
                       RESOURCES.c.created_at, RESOURCES.c.withdrawn_at)
             .where(RESOURCES.c.pool == sa.bindparam('pool')))
_BATCH = 500


def placed(connection, pool, start):
    """Return the allocations of a pool from a moment on, as rows by start.

    :returns: rows with resource_id, start, end, whole, amount, copies, need, reservation_id and
        lease_id, which is None for an offer.
    """
    return connection.execute(_PLACED, {'pool': pool, 'start': start}).all()


def reservations(connection, lease_ids):
    """Return the open reservations of leases: {lease id: [row]}.

    :returns: rows with id, lease_id, resource_type and request.
    """
    by_lease = {}
    for batch in by_keys.batches(lease_ids, _BATCH):
        for row in connection.execute(_ALL_OF_LEASES, {'ids': batch}):
            by_lease.setdefault(row.lease_id, []).append(row)
    return by_lease


def waiting(connection):
    """Return the leases that wait for resources, in the order in which they are served.

    :returns: rows with id, project_id, end, duration_seconds and asked_at; see
        ``records.Acquisition``.
    """
    return connection.execute(_WAITING).all()


def demand(connection, pool, span):
    """Return the past and present allocations of a pool during `span`, as rows in no order.

    :returns: rows with resource_id, start, end, whole, amount, copies, asked_at and
        duration_seconds; the last two are None unless the lease may have waited.
    """
    return connection.execute(_DEMAND, {
        'pool': pool, 'start': span.start, 'end': span.end}).all()


def enrolled(connection, pool):
    """Return all present and former resources of the pool.

    :returns: rows with id, name, capacity, created_at and withdrawn_at.
    """
    return connection.execute(_ENROLLED, {'pool': pool}).all()
