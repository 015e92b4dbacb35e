# SPDX-License-Identifier: Apache-2.0
"""Which projects were told that they have used most of a limit."""
import sqlalchemy as sa

from climate.db import tables

NEAR = tables.NEAR_LIMITS


def told(connection, name):
    """Return the set of the projects that were told of a limit."""
    return set(connection.execute(sa.select(NEAR.c.project_id).where(
        NEAR.c.limit_name == name)).scalars())


def add(connection, project_id, name, now):
    """Write that a project is told of a limit. What another manager wrote raises Duplicate."""
    connection.execute(sa.insert(NEAR).values(project_id=project_id, limit_name=name, since=now))


def delete(connection, project_ids, name):
    """Forget that projects were told of a limit."""
    connection.execute(sa.delete(NEAR).where(
        NEAR.c.limit_name == name, NEAR.c.project_id.in_(list(project_ids))))
