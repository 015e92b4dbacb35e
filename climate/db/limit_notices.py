# SPDX-License-Identifier: Apache-2.0
"""Notices of limits in the database: which project was told of which limit, and when."""
import sqlalchemy as sa

from climate.db import tables

NOTICES = tables.LIMIT_NOTICES


def was_told(connection, project_id, name, after):
    """Return whether a project was told of a limit after a moment."""
    return connection.execute(
        sa.select(NOTICES.c.told_at).where(*_of(project_id, name), NOTICES.c.told_at > after)
    ).scalar() is not None


def renew(connection, project_id, name, now, before):
    """Write that a project is told of a limit now; return False if it was told after `before`.

    :raises Duplicate: another transaction wrote the first notice of this limit just now.
    """
    done = connection.execute(sa.update(NOTICES)
                              .where(*_of(project_id, name), NOTICES.c.told_at <= before)
                              .values(told_at=now))
    if done.rowcount:
        return True
    if was_told(connection, project_id, name, before):
        return False
    connection.execute(sa.insert(NOTICES).values(project_id=project_id, limit_name=name,
                                                 told_at=now))
    return True


def forget(connection, before):
    """Delete the notices from before a moment."""
    connection.execute(sa.delete(NOTICES).where(NOTICES.c.told_at < before))


def _of(project_id, name):
    return NOTICES.c.project_id == project_id, NOTICES.c.limit_name == name
