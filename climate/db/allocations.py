# SPDX-License-Identifier: Apache-2.0
"""Allocations in the database: which resource is promised to which reservation, and when."""
import collections

import sqlalchemy as sa

from climate.db import tables
from climate.domain import agenda
from climate.domain import fit
from climate.domain import interval
from climate.domain import lifecycle
from climate.domain import records

ALLOCATIONS = tables.ALLOCATIONS
EVENTS = tables.EVENTS
RESOURCES = tables.RESOURCES
RESERVATIONS = tables.RESERVATIONS
EVENTS = tables.EVENTS
# What a running reservation has lost ended at that moment, and is cleaned as any other; what it was
# to have later is void.
_COUNTS = sa.or_(ALLOCATIONS.c.released_at.is_(None),
                 ALLOCATIONS.c.released_at >= ALLOCATIONS.c.end)

# Of an event that is not over, or was given up.
_OPEN = (lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS, lifecycle.EVENT_ERROR)


def add(connection, allocations):
    """Write new promises."""
    rows = [{'reservation_id': given.reservation_id, 'resource_id': given.resource_id,
             'start': given.start, 'end': given.end, 'whole': given.whole,
             'amount': dict(given.amount), 'copies': given.copies} for given in allocations]
    if rows:
        connection.execute(sa.insert(ALLOCATIONS), rows)


def of_reservations(connection, reservation_ids):
    """The promises to reservations that were not given back, by resource."""
    rows = connection.execute(
        sa.select(ALLOCATIONS)
        .where(ALLOCATIONS.c.reservation_id.in_(list(reservation_ids)),
               ALLOCATIONS.c.released_at.is_(None))
        .order_by(ALLOCATIONS.c.resource_id))
    return [_record(row) for row in rows]


def free_resources(connection, pool, span, not_held_but_by=None, ignoring=()):
    """Resources of a pool of which nobody has anything during `span`: {id: Resource}.

    Those that are lent to one reservation, and so to nobody else, are among them.

    :param span: the Interval, widened already by the time for cleaning.
    :param not_held_but_by: where given, a set of reservation ids: resources that any other
        reservation occupies now are left out.
    :param ignoring: ids of reservations whose own promises do not count.
    """
    taken = sa.exists().where(
        ALLOCATIONS.c.resource_id == RESOURCES.c.id, _COUNTS,
        ALLOCATIONS.c.end > span.start, ALLOCATIONS.c.start < span.end)
    if ignoring:
        taken = taken.where(ALLOCATIONS.c.reservation_id.not_in(list(ignoring)))
    statement = (sa.select(RESOURCES.c.id, RESOURCES.c.pool, RESOURCES.c.name,
                           RESOURCES.c.capacity, RESOURCES.c.lent_to)
                 .where(RESOURCES.c.pool == pool, RESOURCES.c.reservable.is_(True),
                        RESOURCES.c.withdrawn_at.is_(None), ~taken)
                 .order_by(RESOURCES.c.id))
    if not_held_but_by is not None:
        statement = statement.where(sa.or_(
            RESOURCES.c.held_by.is_(None), RESOURCES.c.held_by.in_(list(not_held_but_by))))
    return {row.id: records.Resource(**row._mapping) for row in connection.execute(statement)}


def reservable_resources(connection, pool):
    """All resources of a pool that are in order, whoever has them: {id: Resource}."""
    rows = connection.execute(
        sa.select(RESOURCES.c.id, RESOURCES.c.pool, RESOURCES.c.name, RESOURCES.c.capacity,
                  RESOURCES.c.held_by, RESOURCES.c.lent_to)
        .where(RESOURCES.c.pool == pool, RESOURCES.c.reservable.is_(True),
               RESOURCES.c.withdrawn_at.is_(None))
        .order_by(RESOURCES.c.id))
    return {row.id: records.Resource(**row._mapping) for row in rows}


def bookings(connection, resource_ids, span, ignoring=()):
    """What others have of resources during `span`: {id: [(Interval, amount or fit.WHOLE)]}.

    An amount that is promised n times stands there n times.
    """
    statement = (
        sa.select(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.end,
                  ALLOCATIONS.c.whole, ALLOCATIONS.c.amount, ALLOCATIONS.c.copies)
        .where(ALLOCATIONS.c.resource_id.in_(list(resource_ids)), _COUNTS,
               ALLOCATIONS.c.end > span.start))
    if span.end is not None:
        statement = statement.where(ALLOCATIONS.c.start < span.end)
    if ignoring:
        statement = statement.where(ALLOCATIONS.c.reservation_id.not_in(list(ignoring)))
    found = collections.defaultdict(list)
    for row in connection.execute(statement):
        amount = fit.WHOLE if row.whole else row.amount
        found[row.resource_id] += [(interval.Interval(row.start, row.end), amount)] * row.copies
    return found


def overdue(connection, resource_ids, now, latest, ignoring=()):
    """What reservations have of shared resources although it is theirs no more.

    Their lease is being ended, or became smaller, or that was given up: their servers may be there
    yet.

    :param latest: the moment until when what failed is tried again, at the latest.
    :param ignoring: ids of reservations whose own do not count.
    :returns: {resource id: [(reservation id, amount)]}; an amount that is promised n times stands
        there n times.
    """
    ended = sa.and_(ALLOCATIONS.c.released_at.is_(None), ALLOCATIONS.c.end <= now,
                    ALLOCATIONS.c.reservation_id.in_(_changing(
                        (agenda.END, agenda.DELETE), now, latest, ignoring)))
    lost = sa.and_(ALLOCATIONS.c.released_at.is_not(None), ALLOCATIONS.c.start <= now,
                   ALLOCATIONS.c.reservation_id.in_(_changing(
                       (agenda.UPDATE, agenda.DELETE), now, latest, ignoring)))
    rows = connection.execute(
        sa.select(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.reservation_id, ALLOCATIONS.c.amount,
                  ALLOCATIONS.c.copies)
        .where(sa.or_(ended, lost), ALLOCATIONS.c.whole.is_(False),
               ALLOCATIONS.c.resource_id.in_(list(resource_ids)))
        .order_by(ALLOCATIONS.c.id))
    found = collections.defaultdict(list)
    for row in rows:
        found[row.resource_id] += [(row.reservation_id, row.amount)] * row.copies
    return found


def _changing(kinds, now, latest, ignoring):
    """The ids of reservations in whose lease an event of these kinds is due and not done."""
    # By their status and when they are due, for which there is an index, they are few.
    leases = (sa.select(EVENTS.c.lease_id)
              .where(EVENTS.c.status.in_(_OPEN), EVENTS.c.due_at <= latest, EVENTS.c.at <= now,
                     EVENTS.c.kind.in_(kinds)))
    return (sa.select(RESERVATIONS.c.id)
            .where(RESERVATIONS.c.lease_id.in_(leases),
                   RESERVATIONS.c.state != lifecycle.RESERVATION_DELETED,
                   RESERVATIONS.c.id.not_in(list(ignoring))))


def change(connection, reservation_ids, resource_ids, **values):
    """Write `values` to the promises of some resources to reservations."""
    connection.execute(
        sa.update(ALLOCATIONS)
        .where(ALLOCATIONS.c.reservation_id.in_(list(reservation_ids)),
               ALLOCATIONS.c.resource_id.in_(list(resource_ids)),
               ALLOCATIONS.c.released_at.is_(None))
        .values(**values))


def cut(connection, reservation_ids, now, resource_ids=None):
    """Give promises back at `now`: those that run end then, those to come are void.

    :param resource_ids: only the promises of these resources; None: of all. Resources that are
        named are taken out of a running reservation, so their promise is marked as given back.
    """
    mine = [ALLOCATIONS.c.reservation_id.in_(list(reservation_ids)),
            ALLOCATIONS.c.released_at.is_(None), ALLOCATIONS.c.end > now]
    if resource_ids is not None:
        mine.append(ALLOCATIONS.c.resource_id.in_(list(resource_ids)))
    connection.execute(sa.update(ALLOCATIONS).where(*mine, ALLOCATIONS.c.start >= now)
                       .values(released_at=now))
    values = {'end': now} if resource_ids is None else {'end': now, 'released_at': now}
    connection.execute(sa.update(ALLOCATIONS).where(*mine, ALLOCATIONS.c.start < now)
                       .values(**values))


def delete(connection, reservation_ids, resource_ids=None):
    """Forget promises to reservations (of some resources), before others take their place."""
    statement = sa.delete(ALLOCATIONS).where(
        ALLOCATIONS.c.reservation_id.in_(list(reservation_ids)),
        ALLOCATIONS.c.released_at.is_(None))
    if resource_ids is not None:
        statement = statement.where(ALLOCATIONS.c.resource_id.in_(sorted(resource_ids)))
    connection.execute(statement)


def listing(connection, pool, now, resource_ids=None, lease_id=None, reservation_id=None):
    """The promises of a pool's resources, for whoever asks who has what, by resource and start.

    Those that have not ended at `now`; of a lease or reservation that is named, all.
    """
    statement = (
        sa.select(ALLOCATIONS, RESERVATIONS.c.lease_id)
        .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
        .where(RESOURCES.c.pool == pool, ALLOCATIONS.c.released_at.is_(None))
        .order_by(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.id))
    if lease_id is not None:
        statement = statement.where(RESERVATIONS.c.lease_id == lease_id)
    if reservation_id is not None:
        statement = statement.where(ALLOCATIONS.c.reservation_id == reservation_id)
    if lease_id is None and reservation_id is None:
        statement = statement.where(ALLOCATIONS.c.end >= now)
    if resource_ids is not None:
        statement = statement.where(ALLOCATIONS.c.resource_id.in_(list(resource_ids)))
    return [_record(row, lease_id=row.lease_id) for row in connection.execute(statement)]


def requests_on(connection, resource_id, now):
    """(reservation id, resource type, request) of those that have the resource now or later."""
    return [tuple(row) for row in connection.execute(
        sa.select(RESERVATIONS.c.id, RESERVATIONS.c.resource_type, RESERVATIONS.c.request)
        .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .where(ALLOCATIONS.c.resource_id == resource_id, ALLOCATIONS.c.released_at.is_(None),
               ALLOCATIONS.c.end > now))]


def _record(row, lease_id=None):
    return records.Allocation(
        reservation_id=row.reservation_id, resource_id=row.resource_id, start=row.start,
        end=row.end, whole=row.whole, amount=row.amount, copies=row.copies,
        released_at=row.released_at, lease_id=lease_id)
