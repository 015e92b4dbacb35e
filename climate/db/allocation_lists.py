# SPDX-License-Identifier: Apache-2.0
"""Lists of the allocations of a pool, whole or in pages."""
import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import allocations
from climate.db import tables
from climate.domain import records

ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


@dataclasses.dataclass(frozen=True)
class ListPart:
    """The part of a list to read.

    :ivar resource_ids: only the allocations of these resources; None: of all.
    :ivar after: the part begins after this `place` of an allocation; None: at the start.
    :ivar limit: the maximum number of allocations; None: all.
    """

    resource_ids: list[int] | None = None
    after: list[int] | None = None
    limit: int | None = None


WHOLE_LIST = ListPart()


def find(connection, query, now, part=WHOLE_LIST):
    """Return the Allocations that an AllocationQuery selects, by resource and start.

    Ended allocations are listed only if the query names a lease or a reservation.
    """
    statement = (
        sa.select(ALLOCATIONS, RESERVATIONS.c.lease_id, LEASES.c.name.label('lease_name'),
                  LEASES.c.project_id, LEASES.c.user_id)
        .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
        .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
        .where(RESOURCES.c.pool == query.pool, ALLOCATIONS.c.released_at.is_(None),
               *_filters(query, now))
        .order_by(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.id)
        .limit(part.limit))
    if part.after is not None:
        statement = statement.where(_follows(*part.after))
    if part.resource_ids is not None:
        statement = statement.where(ALLOCATIONS.c.resource_id.in_(part.resource_ids))
    return [allocations.record(
        row, lease_id=row.lease_id, id=row.id,
        lease=records.LeaseLabel(row.lease_name, row.project_id, row.user_id))
            for row in connection.execute(statement)]


def place(allocation):
    """Return the place of an Allocation in a list: [resource, start in microseconds, id]."""
    return [allocation.resource_id, (allocation.start - _EPOCH) // _MICROSECOND, allocation.id]


def _filters(query, now):
    if query.lease_id is not None:
        yield RESERVATIONS.c.lease_id == query.lease_id
    if query.reservation_id is not None:
        yield ALLOCATIONS.c.reservation_id == query.reservation_id
    if query.lease_id is None and query.reservation_id is None:
        yield ALLOCATIONS.c.end >= now


def _follows(resource_id, microseconds, allocation_id):
    """Return the condition that an allocation comes after a `place`."""
    try:
        start = _EPOCH + microseconds * _MICROSECOND
    except OverflowError:
        # No allocation starts so late.
        return ALLOCATIONS.c.resource_id > resource_id
    return sa.or_(
        ALLOCATIONS.c.resource_id > resource_id,
        sa.and_(ALLOCATIONS.c.resource_id == resource_id,
                sa.or_(ALLOCATIONS.c.start > start,
                       sa.and_(ALLOCATIONS.c.start == start, ALLOCATIONS.c.id > allocation_id))))
