# SPDX-License-Identifier: Apache-2.0
"""The parts of running leases that their owners asked for later, in the database."""
import sqlalchemy as sa

from climate.db import tables
from climate.domain import short_notice

ALLOCATIONS = tables.ALLOCATIONS
ASKS = tables.LATER_ASKS
RESERVATIONS = tables.RESERVATIONS
_COLUMNS = tables.columns(ASKS, short_notice.LaterAsk)
_OF_LEASE = (sa.select(*_COLUMNS).where(ASKS.c.lease_id == sa.bindparam('of_lease'))
             .order_by(ASKS.c.id))


def of_lease(connection, lease_id):
    """Return the LaterAsks of a lease, in the order in which they were written."""
    return tuple(short_notice.LaterAsk(*row)
                 for row in connection.execute(_OF_LEASE, {'of_lease': lease_id}))


_COUNT = sa.select(
    sa.select(sa.func.count()).where(ASKS.c.lease_id == sa.bindparam('of_lease')).scalar_subquery()
    + sa.select(sa.func.count()).select_from(
        ALLOCATIONS.join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id))
    .where(RESERVATIONS.c.lease_id == sa.bindparam('of_lease')).scalar_subquery())


def parts_of(connection, lease_id):
    """Return how many rows a lease has for what it had, has, and was asked for later."""
    return connection.execute(_COUNT, {'of_lease': lease_id}).scalar_one()


def add(connection, lease_id, added):
    """Write LaterAsks of a lease, as ``short_notice.with_added`` does."""
    again = min((each.since for each in added if each.is_more_time), default=None)
    if again is not None:
        connection.execute(sa.delete(ASKS).where(
            ASKS.c.lease_id == lease_id, ASKS.c.reservation_id.is_(None), ASKS.c.since >= again))
    if added:
        connection.execute(sa.insert(ASKS), [
            {'lease_id': lease_id, **vars(each)} for each in added])


def inherit(connection, lease_id, reservation_id, old_id, chosen):
    """Let resources that take the place of another one keep the notice of that one.

    The copies that were asked for first go to the first of them.

    :param chosen: the Allocations of the new resources.
    """
    added = []
    for each in of_lease(connection, lease_id):
        if (each.reservation_id, each.resource_id) == (reservation_id, old_id):
            left = each.above
            for given in chosen:
                added.append(short_notice.LaterAsk(
                    each.asked_at, each.since, reservation_id, given.resource_id,
                    min(left, given.copies)))
                left -= min(left, given.copies)
    add(connection, lease_id, added)
