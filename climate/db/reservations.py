# SPDX-License-Identifier: Apache-2.0
"""Reservations in the database."""
import collections

import sqlalchemy as sa

from climate import errors
from climate.db import by_keys
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import records

RESERVATIONS = tables.RESERVATIONS
ALLOCATIONS = tables.ALLOCATIONS
_OWN = tables.columns(RESERVATIONS, records.Reservation, 'allocated', 'secrets')
# A reservation in one of these states does not need the secrets of its request any more.
_WITHOUT_SECRETS = (lifecycle.RESERVATION_ACTIVE, lifecycle.RESERVATION_DELETED)

# Statements of every lease's life are built once, because building one costs more than running it.
_ADD = sa.insert(RESERVATIONS)
_OF_LEASES = by_keys.ByKeys(
    sa.select(*_OWN).order_by(RESERVATIONS.c.lease_id, RESERVATIONS.c.position),
    RESERVATIONS.c.lease_id)
_CHANGE = by_keys.ByKeys(sa.update(RESERVATIONS), RESERVATIONS.c.id)
_ACTIVATE = by_keys.ByKeys(
    sa.update(RESERVATIONS).values(started_at=sa.func.coalesce(
        RESERVATIONS.c.started_at, sa.bindparam('active_at', type_=tables.UtcDateTime))),
    RESERVATIONS.c.id)
_ALLOCATED = by_keys.ByKeys(
    sa.select(ALLOCATIONS.c.reservation_id, ALLOCATIONS.c.need, ALLOCATIONS.c.resource_id,
              ALLOCATIONS.c.copies, ALLOCATIONS.c.whole)
    .where(ALLOCATIONS.c.released_at.is_(None))
    .order_by(ALLOCATIONS.c.resource_id), ALLOCATIONS.c.reservation_id)


def add(connection, reservations):
    """Insert reservations of one lease in the given order."""
    add_all(connection, [reservations])


def add_all(connection, reservations_of_leases):
    """Insert the reservations of several leases.

    :param reservations_of_leases: the reservations of each lease, in their order.
    """
    rows = [{**{column.name: getattr(reservation, column.name) for column in _OWN},
             'request': dict(reservation.request), 'binding': dict(reservation.binding),
             'secrets': reservation.secrets, 'position': position}
            for reservations in reservations_of_leases
            for position, reservation in enumerate(reservations)]
    if rows:
        connection.execute(_ADD, rows)


def of_leases(connection, lease_ids):
    """Return {lease id: its reservations in order}, with the resources allocated to each."""
    if not lease_ids:
        return {}
    rows = _OF_LEASES.execute(connection, lease_ids).all()
    allocated = _allocated(connection, [row.id for row in rows])
    by_lease = collections.defaultdict(tuple)
    for row in rows:
        by_lease[row.lease_id] += (records.Reservation(
            *row, allocated=allocated.get(row.id, {})),)
    return dict(by_lease)


def change(connection, reservation_ids, now, **values):
    """Update reservations with `values`. The caller must have claimed or locked the lease.

    A deleted reservation releases its target. An active reservation gets the moment at which it
    first became active. In both states its secrets are deleted.
    """
    if values.get('state') in _WITHOUT_SECRETS:
        values['secrets'] = None
    if values.get('state') == lifecycle.RESERVATION_DELETED:
        values['leased_id'] = None
    statement = _CHANGE
    if values.get('state') == lifecycle.RESERVATION_ACTIVE:
        statement, values['active_at'] = _ACTIVATE, now
    if reservation_ids:
        statement.execute(connection, list(reservation_ids), {'updated_at': now, **values})


def rename(connection, new_ids):
    """Give reservations other ids, under which they are the record of their past.

    Statements keep the ids under which the use was billed so far.

    :param new_ids: {id: new id}.
    """
    connection.execute(
        sa.update(RESERVATIONS).where(RESERVATIONS.c.id == sa.bindparam('old_id')).values(
            id=sa.bindparam('new_id'),
            billed_as=sa.func.coalesce(RESERVATIONS.c.billed_as, RESERVATIONS.c.id)),
        _renamed(new_ids))
    connection.execute(
        sa.update(ALLOCATIONS).where(ALLOCATIONS.c.reservation_id == sa.bindparam('old_id'))
        .values(reservation_id=sa.bindparam('new_id')), _renamed(new_ids))


def _renamed(new_ids):
    return [{'old_id': old_id, 'new_id': new_id} for old_id, new_id in new_ids.items()]


def secrets_of(connection, reservation_ids):
    """Return {reservation id: Secrets}; they are empty for reservations that were started."""
    return {key: secrets for key, secrets in connection.execute(
        sa.select(RESERVATIONS.c.id, RESERVATIONS.c.secrets)
        .where(RESERVATIONS.c.id.in_(list(reservation_ids))))}


def leasing(connection, leased_ids):
    """Return {target id: (reservation id, lease id)} of the targets that are leased now."""
    if not leased_ids:
        return {}
    return {leased_id: (reservation_id, lease_id)
            for leased_id, reservation_id, lease_id in connection.execute(
                sa.select(RESERVATIONS.c.leased_id, RESERVATIONS.c.id, RESERVATIONS.c.lease_id)
                .where(RESERVATIONS.c.leased_id.in_(list(leased_ids))))}


def leased_ids(connection, resource_type):
    """Return the ids of all targets that are leased now with this resource type."""
    return frozenset(connection.execute(
        sa.select(RESERVATIONS.c.leased_id)
        .where(RESERVATIONS.c.leased_id.is_not(None),
               RESERVATIONS.c.resource_type == resource_type)).scalars())


def lease_of(connection, reservation_id):
    """Return the id of the lease of a reservation.

    :raises ReservationNotFound: no reservation has that id.
    """
    lease_id = connection.execute(sa.select(RESERVATIONS.c.lease_id).where(
        RESERVATIONS.c.id == reservation_id)).scalar_one_or_none()
    if lease_id is None:
        raise errors.ReservationNotFound(reservation_id=reservation_id)
    return lease_id


def _allocated(connection, reservation_ids):
    """Return the resources that are allocated to reservations, without released resources.

    :returns: {reservation id: {need key: sorted resource ids, with one entry for each copy}}.
    """
    if not reservation_ids:
        return {}
    by_reservation = collections.defaultdict(dict)
    for reservation_id, need, resource_id, copies, whole in _ALLOCATED.execute(
            connection, reservation_ids):
        by_need = by_reservation[reservation_id]
        known = by_need.get(need, ())
        # A host that is sub-leased for a part of the time has an allocation before and after it.
        if not whole or known[-1:] != (resource_id,):
            by_need[need] = known + (resource_id,) * copies
    return by_reservation
