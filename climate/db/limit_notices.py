# SPDX-License-Identifier: Apache-2.0
"""The notices to projects that a limit is reached, or nearly reached."""
import sqlalchemy as sa

from climate.db import tables

NEAR = tables.NEAR_LIMITS
NOTICES = tables.LIMIT_NOTICES


def was_notified(connection, project_id, name, after):
    """Return whether a project was notified of a limit after a moment."""
    return connection.execute(
        sa.select(NOTICES.c.told_at).where(*_of(project_id, name), NOTICES.c.told_at > after)
    ).scalar() is not None


def renew(connection, project_id, name, now, before):
    """Record that a project is notified of a limit; return False if it was notified after `before`.

    :raises Duplicate: another transaction wrote the first notice of this limit at the same time.
    """
    done = connection.execute(sa.update(NOTICES)
                              .where(*_of(project_id, name), NOTICES.c.told_at <= before)
                              .values(told_at=now))
    if done.rowcount:
        return True
    if was_notified(connection, project_id, name, before):
        return False
    connection.execute(sa.insert(NOTICES).values(project_id=project_id, limit_name=name,
                                                 told_at=now))
    return True


def forget(connection, before):
    """Delete the notices from before a moment."""
    connection.execute(sa.delete(NOTICES).where(NOTICES.c.told_at < before))


def notified_near(connection, name):
    """Return the set of projects that were notified that they have nearly reached a limit."""
    return set(connection.execute(sa.select(NEAR.c.project_id).where(
        NEAR.c.limit_name == name)).scalars())


def add_near(connection, project_id, name, now):
    """Record that a project is notified of a limit that it has nearly reached.

    :raises Duplicate: another manager has recorded it.
    """
    connection.execute(sa.insert(NEAR).values(project_id=project_id, limit_name=name, since=now))


def delete_near(connection, project_ids, name):
    """Delete the records that projects have nearly reached a limit."""
    connection.execute(sa.delete(NEAR).where(
        NEAR.c.limit_name == name, NEAR.c.project_id.in_(list(project_ids))))


def names_near(connection):
    """Return the set of the names of limits that a project has nearly reached."""
    return set(connection.execute(sa.select(NEAR.c.limit_name).distinct()).scalars())


def count_near(connection):
    """Return the number of projects that have nearly reached a limit."""
    return connection.execute(
        sa.select(sa.func.count(NEAR.c.project_id.distinct()))).scalar_one()


def _of(project_id, name):
    return NOTICES.c.project_id == project_id, NOTICES.c.limit_name == name
