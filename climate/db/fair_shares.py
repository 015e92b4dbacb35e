# SPDX-License-Identifier: Apache-2.0
"""The shares of projects, and those of their leases in the wait queue.

The caller of a function that writes has locked the wait queue.
"""
import sqlalchemy as sa

from climate.db import acquisitions
from climate.db import queue_order
from climate.db import tables
from climate.domain import usage_figures

ACQUISITIONS = tables.ACQUISITIONS
DAYS = tables.USAGE_DAYS
LEASES = tables.LEASES
SHARES = tables.PROJECT_SHARES

_PRESENT = sa.func.coalesce(SHARES.c.share, 0)


def closed_uses(connection, start):
    """Return triples (project id, first second of a closed day, allocated resource-seconds).

    :param start: only days from this second on.
    """
    rows = connection.execute(
        sa.select(DAYS.c.project_id, DAYS.c.day, sa.func.sum(DAYS.c.allocated))
        .where(DAYS.c.day >= usage_figures.moment(start))
        .group_by(DAYS.c.project_id, DAYS.c.day))
    return [(project_id, usage_figures.second(day), int(seconds))
            for project_id, day, seconds in rows]


def of_project(connection, project_id):
    """Return the share of a project."""
    return connection.execute(sa.select(SHARES.c.share).where(
        SHARES.c.project_id == project_id)).scalar() or 0


def every(connection):
    """Return {project id: share}; shares of 0 are left out."""
    return dict(connection.execute(sa.select(SHARES.c.project_id, SHARES.c.share)).all())


def replace(connection, shares, now):
    """Store the shares of all projects, also in their queued leases.

    :param shares: {project id: share}; shares of 0 are left out.
    :returns: whether the share of a queued lease changed.
    """
    connection.execute(sa.delete(SHARES))
    if shares:
        connection.execute(sa.insert(SHARES).inline(), [
            {'project_id': project_id, 'share': share} for project_id, share in shares.items()])
    changed = connection.execute(
        sa.select(ACQUISITIONS.c.lease_id.label('key'), _PRESENT.label('present'))
        .join_from(ACQUISITIONS, LEASES, LEASES.c.id == ACQUISITIONS.c.lease_id)
        .outerjoin(SHARES, SHARES.c.project_id == LEASES.c.project_id)
        .where(acquisitions.IS_QUEUED, ACQUISITIONS.c.share != _PRESENT)
        .order_by(ACQUISITIONS.c.lease_id)).all()
    if changed:
        connection.execute(
            sa.update(ACQUISITIONS).where(ACQUISITIONS.c.lease_id == sa.bindparam('key'))
            .values(share=sa.bindparam('present'), updated_at=now),
            [dict(row._mapping) for row in changed])
    return bool(changed)


def place(connection, acquisition):
    """Return the numbers of leases before an Acquisition in the queue: (all, by their share)."""
    by_share = sa.case((queue_order.has_smaller_share(acquisition), 1), else_=0)
    count, by_share_count = connection.execute(
        sa.select(sa.func.count(), sa.func.sum(by_share))
        .where(acquisitions.IS_QUEUED, queue_order.before(acquisition))).one()
    return count, int(by_share_count or 0)
