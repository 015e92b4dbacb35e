# SPDX-License-Identifier: Apache-2.0
"""Confirmations, by administrators, that the clock of the database is right."""
import sqlalchemy as sa

from climate.db import tables

CONFIRMATIONS = tables.CLOCK_CONFIRMATIONS


def add(connection, now):
    """Confirm that `now`, by the clock of the database, is right."""
    connection.execute(sa.insert(CONFIRMATIONS).values(at=now))


def last(connection):
    """Return the number of the last confirmation; 0 if there is none."""
    return connection.execute(sa.select(sa.func.max(CONFIRMATIONS.c.id))).scalar() or 0
