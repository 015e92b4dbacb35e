# SPDX-License-Identifier: Apache-2.0
"""The rows of a timeline: which lease has which resource of a pool, and when."""
import sqlalchemy as sa

from climate.db import allocations
from climate.db import among
from climate.db import tables
from climate.domain import timeline

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
_LEASES = among.Among(sa.select(LEASES.c.id, LEASES.c.name, LEASES.c.project_id), LEASES.c.id)
_AT_ONCE = 2_000


def allocated(connection, pool, start, end, most):
    """Return what is allocated of a pool between two moments, by resource and start.

    :param most: how many rows at most.
    :returns: rows (reservation_id, resource_id, start, end, window_id, lease_id, project_id, state,
        task, lease_start, deleted_at). window_id is None unless the resource has maintenance, and
        all after it are None unless a lease has the resource.
    """
    return connection.execute(_ALLOCATED, {'pool': pool, 'start': start, 'end': end,
                                           'most': most}).all()


def leases(connection, lease_ids):
    """Return {lease id: timeline.Shown}."""
    return {row.id: timeline.Shown(row.id, row.name, row.project_id)
            for some in among.batches(lease_ids, _AT_ONCE)
            for row in _LEASES.execute(connection, some)}
