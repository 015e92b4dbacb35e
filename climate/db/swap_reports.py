# SPDX-License-Identifier: Apache-2.0
"""Reports of project members, who swapped resources that seem to work, in the database."""
import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import tables

REPORTS = tables.SWAP_REPORTS
RESERVATIONS = tables.RESERVATIONS


@dataclasses.dataclass(frozen=True)
class SwapReport:
    """The report of a member that a resource of a lease does not work.

    :ivar until: when the report expires.
    """

    lease_id: str
    resource_id: int
    project_id: str
    user_id: str
    until: datetime.datetime


def put(connection, report, now):
    """Store a SwapReport, which replaces the report of the same lease and resource.

    The expired reports of the project are deleted.
    """
    connection.execute(sa.delete(REPORTS).where(REPORTS.c.project_id == report.project_id,
                                                REPORTS.c.until <= now))
    connection.execute(sa.delete(REPORTS).where(REPORTS.c.lease_id == report.lease_id,
                                                REPORTS.c.resource_id == report.resource_id))
    connection.execute(sa.insert(REPORTS).values(**vars(report)))


def ends(connection, project_id, now):
    """Return when the present reports of a project expire, in order."""
    return list(connection.execute(
        sa.select(REPORTS.c.until)
        .where(REPORTS.c.project_id == project_id, REPORTS.c.until > now)
        .order_by(REPORTS.c.until)).scalars())


def reporters(connection, resource_id, now):
    """Return (number of projects, number of users) that report a resource now."""
    return tuple(connection.execute(
        sa.select(sa.func.count(REPORTS.c.project_id.distinct()),
                  sa.func.count(REPORTS.c.user_id.distinct()))
        .where(REPORTS.c.resource_id == resource_id, REPORTS.c.until > now)).one())


def by_lease(connection, reservation_ids, now):
    """Return the ids of the resources that the leases of these reservations report now."""
    return set(connection.execute(
        sa.select(REPORTS.c.resource_id)
        .join(RESERVATIONS, RESERVATIONS.c.lease_id == REPORTS.c.lease_id)
        .where(RESERVATIONS.c.id.in_(list(reservation_ids)), REPORTS.c.until > now)).scalars())


def forget(connection, resource_id):
    """Delete the reports of a resource, because an operator says that it works."""
    connection.execute(sa.delete(REPORTS).where(REPORTS.c.resource_id == resource_id))
