# SPDX-License-Identifier: Apache-2.0
"""Leases that could not be billed, and when each of them is tried again."""
import sqlalchemy as sa

from climate.db import tables

FAILED = tables.FAILED_BILLS


def due(connection, now, limit):
    """Return the ids of at most `limit` leases that are to be tried again."""
    return list(connection.execute(
        sa.select(FAILED.c.lease_id).where(FAILED.c.next_at <= now)
        .order_by(FAILED.c.next_at, FAILED.c.lease_id).limit(limit)).scalars())


def attempts(connection, lease_id):
    """Return how many attempts to bill a lease have failed one after the other."""
    return connection.execute(sa.select(FAILED.c.attempts).where(
        FAILED.c.lease_id == lease_id)).scalar() or 0


def write(connection, lease_id, number, now, next_at):
    """Write that an attempt failed. A first one that another manager wrote raises Duplicate.

    :param number: how many have failed, with this one.
    """
    if number == 1:
        connection.execute(sa.insert(FAILED).values(
            lease_id=lease_id, since=now, attempts=1, next_at=next_at))
        return
    connection.execute(sa.update(FAILED).where(FAILED.c.lease_id == lease_id)
                       .values(attempts=number, next_at=next_at))


def delete(connection, lease_id):
    """Forget the failures of a lease: it is billed, or gone."""
    connection.execute(sa.delete(FAILED).where(FAILED.c.lease_id == lease_id))


def count(connection):
    """Return how many leases could not be billed."""
    return connection.execute(sa.select(sa.func.count()).select_from(FAILED)).scalar_one()
