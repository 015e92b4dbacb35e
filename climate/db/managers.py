# SPDX-License-Identifier: Apache-2.0
"""Managers in the database: which of them are alive."""
import datetime

import sqlalchemy as sa

from climate.db import tables
from climate.domain import records

MANAGERS = tables.MANAGERS
# If a manager has not been seen for this long, the next one goes on.
_ALIVE = datetime.timedelta(seconds=60)


def seen(connection, manager_id, host, since, now, running, not_ready=None):
    """Record the heartbeat of a manager, with the number of events it is carrying out.

    :param not_ready: why it is not ready; None: it is.
    """
    values = {'host': host, 'since': since, 'last_seen': now, 'running': running,
              'not_ready': not_ready}
    done = connection.execute(sa.update(MANAGERS).where(MANAGERS.c.id == manager_id)
                              .values(**values))
    if done.rowcount == 0:
        connection.execute(sa.insert(MANAGERS).values(id=manager_id, **values))


def gone(connection, manager_id):
    """Delete a manager that has stopped."""
    connection.execute(sa.delete(MANAGERS).where(MANAGERS.c.id == manager_id))


def forget(connection, before):
    """Delete the managers that were last seen before that moment."""
    connection.execute(sa.delete(MANAGERS).where(MANAGERS.c.last_seen < before))


def is_eldest(connection, manager_id, now):
    """Return whether no other manager that is alive has run longer than this one.

    A manager is alive if it was seen in the last minute. If none was, each one is the eldest. So
    what only the eldest does must be harmless if two do it.
    """
    eldest = connection.execute(
        sa.select(MANAGERS.c.id).where(MANAGERS.c.last_seen >= now - _ALIVE)
        .order_by(MANAGERS.c.since, MANAGERS.c.id).limit(1)).scalar_one_or_none()
    return eldest in (None, manager_id)


def every(connection):
    """Return the Services of all managers, alive or not, by id."""
    rows = connection.execute(sa.select(MANAGERS).order_by(MANAGERS.c.id))
    return [records.Service(**row._mapping) for row in rows]
