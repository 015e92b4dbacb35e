# SPDX-License-Identifier: Apache-2.0
"""Objects that are created in the cloud during a request, before its lease is written."""
import sqlalchemy as sa

from climate.db import tables
from climate.domain import records

CREATIONS = tables.EARLY_CREATIONS
_COLUMNS = tables.columns(CREATIONS, records.EarlyCreation)


def add(connection, creations):
    """Insert EarlyCreations."""
    connection.execute(sa.insert(CREATIONS), [
        {column.name: getattr(creation, column.name) for column in _COLUMNS}
        for creation in creations])


def settle(connection, ids):
    """Delete the records that are not closing, because a lease uses the objects now.

    :returns: the number of deleted records.
    """
    return connection.execute(sa.delete(CREATIONS).where(
        CREATIONS.c.id.in_(ids), CREATIONS.c.closing.is_(False))).rowcount


def close(connection, ids):
    """Mark records as closing, so that no lease may use their objects any more.

    :returns: the set of the ids that exist, including records that were closing before.
    """
    connection.execute(sa.update(CREATIONS).where(CREATIONS.c.id.in_(ids)).values(closing=True))
    return set(connection.execute(
        sa.select(CREATIONS.c.id).where(CREATIONS.c.id.in_(ids))).scalars())


def forget(connection, ids):
    """Delete records whose objects are deleted in the cloud."""
    connection.execute(sa.delete(CREATIONS).where(CREATIONS.c.id.in_(ids)))


def older(connection, moment):
    """Return the EarlyCreations from before a moment, oldest first."""
    rows = connection.execute(
        sa.select(*_COLUMNS).where(CREATIONS.c.created_at <= moment)
        .order_by(CREATIONS.c.created_at, CREATIONS.c.id))
    return [records.EarlyCreation(*row) for row in rows]
