# SPDX-License-Identifier: Apache-2.0
"""Sub-leases in the database, and the allocations that they share with their parents."""
import collections

import sqlalchemy as sa

from climate.db import allocations
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import sub_leases

ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS
_UNRELEASED = ALLOCATIONS.c.released_at.is_(None)


def of_parents(connection, parent_ids):
    """Return {lease id: its SubLeases that are not over, by start}."""
    if not parent_ids:
        return {}
    rows = connection.execute(
        sa.select(LEASES.c.parent_id, LEASES.c.id, LEASES.c.name, LEASES.c.project_id,
                  LEASES.c.start, LEASES.c.end, LEASES.c.state,
                  RESERVATIONS.c.id.label('reservation_id'))
        .join_from(LEASES, RESERVATIONS, RESERVATIONS.c.lease_id == LEASES.c.id)
        .where(LEASES.c.parent_id.in_(sorted(parent_ids)), LEASES.c.deleted_at.is_(None),
               LEASES.c.state.in_(lifecycle.OPEN))
        .order_by(LEASES.c.start, LEASES.c.id)).all()
    hosts = _resource_ids(connection, [row.reservation_id for row in rows])
    by_parent = collections.defaultdict(tuple)
    for parent_id, *fields in rows:
        sub_lease = sub_leases.SubLease(*fields, tuple(hosts[fields[-1]]))
        by_parent[parent_id] += (sub_lease,)
    return dict(by_parent)


def parents(connection, parent_ids):
    """Return {lease id: its Parent record} of the parents of sub-leases."""
    if not parent_ids:
        return {}
    rows = connection.execute(
        sa.select(LEASES.c.id, LEASES.c.name, LEASES.c.project_id, LEASES.c.start, LEASES.c.end,
                  RESERVATIONS.c.id.label('reservation_id'))
        .join_from(LEASES, RESERVATIONS, RESERVATIONS.c.lease_id == LEASES.c.id)
        .where(LEASES.c.id.in_(sorted(parent_ids)))
        .order_by(LEASES.c.id, RESERVATIONS.c.position)).all()
    grouped = collections.defaultdict(list)
    for *lease, reservation_id in rows:
        grouped[tuple(lease)].append(reservation_id)
    return {lease[0]: sub_leases.Parent(*lease, tuple(ids)) for lease, ids in grouped.items()}


def open_ids(connection, parent_id):
    """Return the ids of the sub-leases of a lease that are not over."""
    return list(connection.execute(
        sa.select(LEASES.c.id).where(
            LEASES.c.parent_id == parent_id, LEASES.c.deleted_at.is_(None),
            LEASES.c.state.in_(lifecycle.OPEN)).order_by(LEASES.c.id)).scalars())


def own_rows(connection, reservation_ids, resource_ids=None):
    """Return the rows of the unreleased allocations of whole hosts, by start.

    :param resource_ids: only of these resources; None: of all.
    """
    statement = sa.select(ALLOCATIONS).where(
        ALLOCATIONS.c.reservation_id.in_(sorted(reservation_ids)), _UNRELEASED,
        ALLOCATIONS.c.whole.is_(True))
    if resource_ids is not None:
        statement = statement.where(ALLOCATIONS.c.resource_id.in_(sorted(resource_ids)))
    return connection.execute(
        statement.order_by(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start)).all()


def taken(connection, parent_id):
    """Return {resource id: [(start, end)]} of the hosts that sub-leases of a lease have, or had."""
    by_host = collections.defaultdict(list)
    for resource_id, start, end in connection.execute(
            sa.select(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.end)
            .join_from(LEASES, RESERVATIONS, RESERVATIONS.c.lease_id == LEASES.c.id)
            .join(ALLOCATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id)
            .where(LEASES.c.parent_id == parent_id, allocations.COUNTS)):
        by_host[resource_id].append((start, end))
    return by_host


def delete_rows(connection, ids):
    """Delete allocations by their ids."""
    if ids:
        connection.execute(sa.delete(ALLOCATIONS).where(ALLOCATIONS.c.id.in_(sorted(ids))))


def release_rows(connection, ids_by_end):
    """Mark allocations that have ended as released at their ends.

    :param ids_by_end: {end: ids of allocations}.
    """
    for end, ids in ids_by_end.items():
        connection.execute(sa.update(ALLOCATIONS).where(ALLOCATIONS.c.id.in_(sorted(ids)))
                           .values(released_at=end))


def end_rows(connection, ids_by_end):
    """Give allocations another end.

    :param ids_by_end: {end: ids of allocations}.
    """
    for end, ids in ids_by_end.items():
        connection.execute(sa.update(ALLOCATIONS).where(ALLOCATIONS.c.id.in_(sorted(ids)))
                           .values(end=end))


def _resource_ids(connection, reservation_ids):
    by_reservation = collections.defaultdict(list)
    for row in own_rows(connection, reservation_ids) if reservation_ids else ():
        if row.resource_id not in by_reservation[row.reservation_id]:
            by_reservation[row.reservation_id].append(row.resource_id)
    return by_reservation
