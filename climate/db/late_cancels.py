# SPDX-License-Identifier: Apache-2.0
"""The charges for late cancellations in the database."""
import sqlalchemy as sa

from climate.db import tables
from climate.domain import lease_pricing

CANCELS = tables.LATE_CANCELS
_OF_LEASE = (
    sa.select(CANCELS.c.cancelled_at, CANCELS.c.book, CANCELS.c.percent, CANCELS.c.atoms,
              CANCELS.c.microseconds)
    .where(CANCELS.c.lease_id == sa.bindparam('of_lease')).order_by(CANCELS.c.id))


def of_lease(connection, lease_id):
    """Return the LateCancels of a lease, in the order in which they were written."""
    return tuple(
        lease_pricing.LateCancel(row.cancelled_at, row.book, row.percent, int(row.atoms),
                                 int(row.microseconds))
        for row in connection.execute(_OF_LEASE, {'of_lease': lease_id}))


def add(connection, lease_id, cancel):
    """Write a LateCancel of a lease."""
    connection.execute(sa.insert(CANCELS).values(
        lease_id=lease_id, cancelled_at=cancel.cancelled_at, book=cancel.book,
        percent=cancel.percent, atoms=str(cancel.atoms), microseconds=str(cancel.microseconds)))
