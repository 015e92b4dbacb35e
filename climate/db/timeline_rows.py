# SPDX-License-Identifier: Apache-2.0
"""The rows of a timeline: which lease has which resource of a pool, and when."""
import sqlalchemy as sa

from climate.db import allocations
from climate.db import tables
from climate.domain import timeline

ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES

# Reservations of offers are not written yet, so an allocation may have no lease.
_BARS = (
    sa.select(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.end,
              RESERVATIONS.c.lease_id)
    .join_from(ALLOCATIONS, RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
    .outerjoin(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
    .where(RESOURCES.c.pool == sa.bindparam('pool'), RESOURCES.c.withdrawn_at.is_(None),
           allocations.TOUCHES)
    .order_by(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.id)
    .limit(sa.bindparam('most')))
_LEASES = (
    sa.select(LEASES.c.id, LEASES.c.name, LEASES.c.project_id, LEASES.c.state, LEASES.c.task,
              LEASES.c.start, LEASES.c.degraded)
    .join_from(RESERVATIONS, LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
    .join(ALLOCATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id)
    .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
    .where(RESOURCES.c.pool == sa.bindparam('pool'), RESOURCES.c.withdrawn_at.is_(None),
           allocations.TOUCHES)
    .distinct())


def allocated(connection, pool, start, end, most):
    """Return [(resource id, start, end, lease id or None)], by resource and start.

    :param most: how many rows at most.
    """
    return connection.execute(_BARS, {'pool': pool, 'start': start, 'end': end,
                                      'most': most}).all()


def leases(connection, pool, start, end, project_id=None):
    """Return {lease id: timeline.Shown} of the leases that have a resource between two moments.

    :param project_id: only those of this project that are not deleted; None: all.
    """
    wanted = _LEASES if project_id is None else _LEASES.where(
        LEASES.c.project_id == project_id, LEASES.c.deleted_at.is_(None))
    rows = connection.execute(wanted, {'pool': pool, 'start': start, 'end': end})
    return {row.id: timeline.Shown(**row._mapping) for row in rows}
