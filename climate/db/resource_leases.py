# SPDX-License-Identifier: Apache-2.0
"""The leases that have resources now."""
import collections

import sqlalchemy as sa

from climate.db import by_keys
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import records

ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS

#: The maximum number of leases of one resource that are returned.
MOST = 5
_NOW = sa.bindparam('now')
_AT_ONCE = 1_000
_CURRENT = by_keys.ByKeys(
    sa.select(ALLOCATIONS.c.resource_id, LEASES.c.id, LEASES.c.name, LEASES.c.project_id,
              LEASES.c.user_id, LEASES.c.state, sa.func.max(ALLOCATIONS.c.end).label('end'))
    .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
    .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
    .where(ALLOCATIONS.c.released_at.is_(None), ALLOCATIONS.c.start <= _NOW,
           ALLOCATIONS.c.end > _NOW, LEASES.c.deleted_at.is_(None))
    .group_by(ALLOCATIONS.c.resource_id, LEASES.c.id, LEASES.c.name, LEASES.c.project_id,
              LEASES.c.user_id, LEASES.c.state)
    .order_by(ALLOCATIONS.c.resource_id, LEASES.c.id), ALLOCATIONS.c.resource_id)


def current(connection, resource_ids, now):
    """Return {resource id: the ResourceLeases that have the resource now, at most MOST}."""
    found = collections.defaultdict(tuple)
    for batch in by_keys.batches(resource_ids, _AT_ONCE):
        for row in _CURRENT.execute(connection, batch, {'now': now}):
            if len(found[row.resource_id]) < MOST:
                found[row.resource_id] += (records.ResourceLease(
                    row.id, row.name, row.project_id, row.user_id, row.end,
                    waits=row.state == lifecycle.ACQUIRING),)
    return found
