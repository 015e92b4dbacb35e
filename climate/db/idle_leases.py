# SPDX-License-Identifier: Apache-2.0
"""The leases that are idle."""
import sqlalchemy as sa

from climate.db import tables
from climate.domain import lifecycle

LEASES = tables.LEASES
_IS_MARKED = LEASES.c.idle_since.is_not(None)
_IS_IDLE = sa.and_(_IS_MARKED, LEASES.c.deleted_at.is_(None), LEASES.c.state == lifecycle.ACTIVE)


def marked(connection):
    """Return the ids of the leases that are marked as idle, in any state."""
    return set(connection.execute(sa.select(LEASES.c.id).where(_IS_MARKED)).scalars())


def count(connection):
    """Return the number of running leases that are idle."""
    return connection.execute(
        sa.select(sa.func.count()).select_from(LEASES).where(_IS_IDLE)).scalar_one()


def by_owner(connection):
    """Return {(project id, user id): rows of the idle leases, the longest idle first}.

    :returns: rows with id, name, project_id, user_id, idle_since, reclaim_at, end.
    """
    by_user = {}
    for row in connection.execute(
            sa.select(LEASES.c.id, LEASES.c.name, LEASES.c.project_id, LEASES.c.user_id,
                      LEASES.c.idle_since, LEASES.c.reclaim_at, LEASES.c.end).where(_IS_IDLE)
            .order_by(LEASES.c.project_id, LEASES.c.user_id, LEASES.c.idle_since, LEASES.c.id)):
        by_user.setdefault((row.project_id, row.user_id), []).append(row)
    return by_user
