# SPDX-License-Identifier: Apache-2.0
"""Contenders in the database: the leases that wait for resources of certain types."""
import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import tables
from climate.domain import lifecycle

ACQUISITIONS = tables.ACQUISITIONS
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS


@dataclasses.dataclass(frozen=True)
class Contender:
    """A lease that waits for resources, and for which others may make way.

    :ivar given_up_at: the time limit of its wait; None: there is none.
    """

    id: str
    name: str
    project_id: str
    created_at: datetime.datetime
    given_up_at: datetime.datetime | None


def page(connection, types, last, limit):
    """Return the next Contenders with a reservation of one of the types, the oldest first.

    :param types: the resource types.
    :param last: the last Contender of the page before; None: return the first page.
    """
    statement = (
        sa.select(*(LEASES.c[name] for name in ('id', 'name', 'project_id', 'created_at', 'end')),
                  ACQUISITIONS.c.not_after, ACQUISITIONS.c.duration_seconds)
        .join(ACQUISITIONS, ACQUISITIONS.c.lease_id == LEASES.c.id)
        .where(LEASES.c.deleted_at.is_(None), LEASES.c.state == lifecycle.ACQUIRING,
               sa.exists().where(RESERVATIONS.c.lease_id == LEASES.c.id,
                                 RESERVATIONS.c.resource_type.in_(sorted(types))))
        .order_by(LEASES.c.created_at, LEASES.c.id).limit(limit))
    if last is not None:
        statement = statement.where(sa.or_(
            LEASES.c.created_at > last.created_at,
            sa.and_(LEASES.c.created_at == last.created_at, LEASES.c.id > last.id)))
    return [Contender(row.id, row.name, row.project_id, row.created_at, _given_up_at(row))
            for row in connection.execute(statement)]


def _given_up_at(row):
    fixed_end = row.end if row.duration_seconds is None else None
    return min((limit for limit in (fixed_end, row.not_after) if limit is not None), default=None)
