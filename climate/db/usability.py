# SPDX-License-Identifier: Apache-2.0
"""The facts of a reservation and its lease that Nova's scheduler needs."""
import sqlalchemy as sa

from climate import errors
from climate.db import tables
from climate.domain import usability

ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
PROPERTIES = tables.PROPERTIES
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
VALUES = tables.PROPERTY_VALUES


def get(connection, reservation_id):
    """Return the UsabilityFacts of a reservation, even if its lease is deleted.

    :raises ReservationNotFound: no reservation has that id.
    """
    row = connection.execute(
        sa.select(RESERVATIONS.c.id, RESERVATIONS.c.lease_id, LEASES.c.project_id,
                  LEASES.c.start, LEASES.c.end, LEASES.c.state, LEASES.c.task,
                  RESERVATIONS.c.state.label('reservation_state'), RESERVATIONS.c.resource_type,
                  LEASES.c.deleted_at, LEASES.c.shared, LEASES.c.parent_id,
                  LEASES.c.sub_leased)
        .join_from(RESERVATIONS, LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
        .where(RESERVATIONS.c.id == reservation_id)).one_or_none()
    if row is None:
        raise errors.ReservationNotFound(reservation_id=reservation_id)
    return usability.UsabilityFacts(**row._mapping)


def resource_names(connection, reservation_id, pool, fact, now, holders=(), without=()):
    """Return the resources of a pool that a reservation has at `now`, by name.

    A resource that is allocated as a whole is listed only while the reservation holds it.

    :param fact: the name of a fact of the resources.
    :param holders: other reservations that may hold its resources: those of its lease's parent.
    :param without: ids of resources that are left out.
    :returns: [(name of the resource, text of the fact or None)].
    """
    text = (sa.select(VALUES.c.text)
            .join_from(VALUES, PROPERTIES, PROPERTIES.c.id == VALUES.c.property_id)
            .where(VALUES.c.resource_id == RESOURCES.c.id, PROPERTIES.c.name == fact,
                   PROPERTIES.c.pool == pool, PROPERTIES.c.fact.is_(True))
            .scalar_subquery())
    rows = connection.execute(
        sa.select(RESOURCES.c.name, text)
        .join_from(ALLOCATIONS, RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
        .where(ALLOCATIONS.c.reservation_id == reservation_id, RESOURCES.c.pool == pool,
               ALLOCATIONS.c.released_at.is_(None), ALLOCATIONS.c.start <= now,
               ALLOCATIONS.c.end > now,
               sa.or_(ALLOCATIONS.c.whole.is_(False),
                      RESOURCES.c.held_by == ALLOCATIONS.c.reservation_id,
                      *((RESOURCES.c.held_by.in_(sorted(holders)),) if holders else ())),
               *((RESOURCES.c.id.not_in(sorted(without)),) if without else ()))
        .order_by(RESOURCES.c.name))
    # A resource may have several allocations.
    return list(dict.fromkeys(tuple(row) for row in rows))
