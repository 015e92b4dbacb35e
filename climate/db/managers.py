# SPDX-License-Identifier: Apache-2.0
"""Managers in the database: who lives."""
import sqlalchemy as sa

from climate.db import tables
from climate.domain import records

MANAGERS = tables.MANAGERS


def seen(connection, manager_id, host, since, now, running):
    """Note that a manager lives, with the number of events it is carrying out."""
    values = {'host': host, 'since': since, 'last_seen': now, 'running': running}
    done = connection.execute(sa.update(MANAGERS).where(MANAGERS.c.id == manager_id)
                              .values(**values))
    if done.rowcount == 0:
        connection.execute(sa.insert(MANAGERS).values(id=manager_id, **values))


def gone(connection, manager_id):
    """Forget a manager that stopped."""
    connection.execute(sa.delete(MANAGERS).where(MANAGERS.c.id == manager_id))


def forget(connection, before):
    """Forget the managers that were last seen before that moment."""
    connection.execute(sa.delete(MANAGERS).where(MANAGERS.c.last_seen < before))


def eldest(connection, since_last_seen):
    """The id of the manager that lives longest, of those seen since that moment, or None."""
    return connection.execute(
        sa.select(MANAGERS.c.id).where(MANAGERS.c.last_seen >= since_last_seen)
        .order_by(MANAGERS.c.since, MANAGERS.c.id).limit(1)).scalar_one_or_none()


def all_of_them(connection):
    """The Services by their ids, whether they live or not."""
    rows = connection.execute(sa.select(MANAGERS).order_by(MANAGERS.c.id))
    return [records.Service(**row._mapping) for row in rows]
