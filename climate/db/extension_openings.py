# SPDX-License-Identifier: Apache-2.0
"""The notifications that leases can be extended from now on, in the database."""
import sqlalchemy as sa

from climate.db import leases
from climate.db import tables
from climate.domain import lifecycle

LEASES = tables.LEASES
_NOT_ANNOUNCED = sa.or_(LEASES.c.extension_open_for.is_(None),
                        LEASES.c.extension_open_for != LEASES.c.end)


def unannounced(connection, now, until):
    """Return running leases whose present end has no notification yet, the first end first.

    :param until: only leases that end at this moment or earlier; None: all.
    """
    statement = leases.SELECT.where(
        LEASES.c.deleted_at.is_(None), LEASES.c.state == lifecycle.ACTIVE, LEASES.c.end > now,
        LEASES.c.while_free_seconds.is_(None), _NOT_ANNOUNCED)
    if until is not None:
        statement = statement.where(LEASES.c.end <= until)
    return connection.execute(statement.order_by(LEASES.c.end, LEASES.c.id)).all()


def announce(connection, lease):
    """Record that the project of a lease is notified; return False if it was notified before.

    :param lease: the Lease; nothing is recorded if its end has changed since it was read.
    """
    return connection.execute(
        sa.update(LEASES).where(LEASES.c.id == lease.id, LEASES.c.end == lease.end,
                                LEASES.c.state == lifecycle.ACTIVE, _NOT_ANNOUNCED)
        .values(extension_open_for=LEASES.c.end)).rowcount == 1
