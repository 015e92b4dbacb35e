# SPDX-License-Identifier: Apache-2.0
"""Reservations in the database."""
import collections

import sqlalchemy as sa

from climate import errors
from climate.db import among
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import records

RESERVATIONS = tables.RESERVATIONS
ALLOCATIONS = tables.ALLOCATIONS
_OWN = tuple(column for column in RESERVATIONS.c if column.name != 'position')

# The statements of each lease's life are built once: building one costs more than asking it.
_ADD = sa.insert(RESERVATIONS)
_OF_LEASES = among.Among(
    sa.select(*_OWN).order_by(RESERVATIONS.c.lease_id, RESERVATIONS.c.position),
    RESERVATIONS.c.lease_id)
_CHANGE = among.Among(sa.update(RESERVATIONS), RESERVATIONS.c.id)
_RESOURCE_IDS = among.Among(
    sa.select(ALLOCATIONS.c.reservation_id, ALLOCATIONS.c.resource_id, ALLOCATIONS.c.copies)
    .where(ALLOCATIONS.c.released_at.is_(None))
    .order_by(ALLOCATIONS.c.resource_id), ALLOCATIONS.c.reservation_id)


def add(connection, reservations):
    """Write new reservations, in the order given."""
    rows = [{**{column.name: getattr(reservation, column.name) for column in _OWN},
             'request': dict(reservation.request), 'binding': dict(reservation.binding),
             'position': position} for position, reservation in enumerate(reservations)]
    if rows:
        connection.execute(_ADD, rows)


def of_leases(connection, lease_ids):
    """{lease id: its reservations in their order}, with the resources that each has."""
    if not lease_ids:
        return {}
    rows = _OF_LEASES.execute(connection, lease_ids).all()
    resources = _resource_ids(connection, [row.id for row in rows])
    found = collections.defaultdict(tuple)
    for row in rows:
        found[row.lease_id] += (records.Reservation(
            **row._mapping, resource_ids=resources.get(row.id, ())),)
    return dict(found)


def change(connection, reservation_ids, now, **values):
    """Write `values` to reservations. The caller holds the lease: its claim guards this.

    One that is over leases its one thing no more.
    """
    if values.get('state') == lifecycle.RESERVATION_DELETED:
        values['leased_id'] = None
    if reservation_ids:
        _CHANGE.execute(connection, list(reservation_ids), {'updated_at': now, **values})


def leasing(connection, leased_ids):
    """{leased id: (reservation id, lease id)} of those of the things that are leased."""
    if not leased_ids:
        return {}
    return {leased_id: (reservation_id, lease_id)
            for leased_id, reservation_id, lease_id in connection.execute(
                sa.select(RESERVATIONS.c.leased_id, RESERVATIONS.c.id, RESERVATIONS.c.lease_id)
                .where(RESERVATIONS.c.leased_id.in_(list(leased_ids))))}


def leased_ids(connection, resource_type):
    """The ids of all things that are leased now with this type, as a frozenset."""
    return frozenset(connection.execute(
        sa.select(RESERVATIONS.c.leased_id)
        .where(RESERVATIONS.c.leased_id.is_not(None),
               RESERVATIONS.c.resource_type == resource_type)).scalars())


def lease_of(connection, reservation_id):
    """The id of the lease that a reservation belongs to.

    :raises ReservationNotFound: no reservation has that id.
    """
    found = connection.execute(sa.select(RESERVATIONS.c.lease_id).where(
        RESERVATIONS.c.id == reservation_id)).scalar_one_or_none()
    if found is None:
        raise errors.ReservationNotFound(reservation_id=reservation_id)
    return found


def _resource_ids(connection, reservation_ids):
    """{reservation id: resource ids in order, each once for each copy}.

    Those given back by a change are not among them.
    """
    if not reservation_ids:
        return {}
    found = collections.defaultdict(tuple)
    for reservation_id, resource_id, copies in _RESOURCE_IDS.execute(connection, reservation_ids):
        found[reservation_id] += (resource_id,) * copies
    return found
