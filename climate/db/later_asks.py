# SPDX-License-Identifier: Apache-2.0
"""The parts of running leases that their owners requested later, in the database."""
import sqlalchemy as sa

from climate.db import tables
from climate.domain import short_notice

ALLOCATIONS = tables.ALLOCATIONS
ASKS = tables.LATER_ASKS
RESERVATIONS = tables.RESERVATIONS
_COLUMNS = tables.columns(ASKS, short_notice.LaterRequest)
_OF_LEASE = (sa.select(*_COLUMNS).where(ASKS.c.lease_id == sa.bindparam('of_lease'))
             .order_by(ASKS.c.id))


def of_lease(connection, lease_id):
    """Return the LaterRequests of a lease, in the order in which they were written."""
    return tuple(short_notice.LaterRequest(*row)
                 for row in connection.execute(_OF_LEASE, {'of_lease': lease_id}))


_COUNT = sa.select(
    sa.select(sa.func.count()).where(ASKS.c.lease_id == sa.bindparam('of_lease')).scalar_subquery()
    + sa.select(sa.func.count()).select_from(
        ALLOCATIONS.join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id))
    .where(RESERVATIONS.c.lease_id == sa.bindparam('of_lease')).scalar_subquery())


def parts_of(connection, lease_id):
    """Return the number of rows of a lease in the tables of allocations and of later asks."""
    return connection.execute(_COUNT, {'of_lease': lease_id}).scalar_one()


def add(connection, lease_id, added):
    """Write LaterRequests of a lease, as ``short_notice.with_added`` does."""
    replaced = min((request.since for request in added if request.is_more_time), default=None)
    if replaced is not None:
        connection.execute(sa.delete(ASKS).where(
            ASKS.c.lease_id == lease_id, ASKS.c.reservation_id.is_(None), ASKS.c.since >= replaced))
    if added:
        connection.execute(sa.insert(ASKS), [
            {'lease_id': lease_id, **vars(request)} for request in added])


def inherit(connection, lease_id, reservation_id, old_id, chosen):
    """Transfer the notice of a resource to the resources that replace it.

    :param chosen: the Allocations of the new resources, in order. The first resource inherits the
        copies that were requested first.
    """
    added = []
    for request in of_lease(connection, lease_id):
        if (request.reservation_id, request.resource_id) == (reservation_id, old_id):
            earlier_copies = request.above
            for allocation in chosen:
                above = min(earlier_copies, allocation.copies)
                added.append(short_notice.LaterRequest(
                    request.asked_at, request.since, reservation_id, allocation.resource_id, above))
                earlier_copies -= above
    add(connection, lease_id, added)
