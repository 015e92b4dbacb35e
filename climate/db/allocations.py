# SPDX-License-Identifier: Apache-2.0
"""Allocations in the database: which resource is promised to which reservation, and when."""
import collections
import json

import sqlalchemy as sa

from climate.db import among
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
# What a running reservation has lost ended at that moment, and is cleaned as any other; what it was
# to have later is void.
_COUNTS = sa.or_(ALLOCATIONS.c.released_at.is_(None),
                 ALLOCATIONS.c.released_at >= ALLOCATIONS.c.end)

# Of an event that is not over, or was given up.
_OPEN = (lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS, lifecycle.EVENT_ERROR)

# The statements of each lease's life are built once: building one costs more than asking it.
_ADD = sa.insert(ALLOCATIONS)
_NOW = sa.bindparam('now', type_=tables.UtcDateTime)
IGNORING = ALLOCATIONS.c.reservation_id.not_in(sa.bindparam('ignoring'))
_REACHES = sa.and_(_COUNTS, ALLOCATIONS.c.end > sa.bindparam('start'))
TOUCHES = sa.and_(_REACHES, ALLOCATIONS.c.start < sa.bindparam('end'))
RESERVABLE = sa.and_(RESOURCES.c.pool == sa.bindparam('pool'), RESOURCES.c.reservable.is_(True),
                     RESOURCES.c.withdrawn_at.is_(None))


def add(connection, allocations):
    """Write new promises."""
    rows = [{'reservation_id': given.reservation_id, 'resource_id': given.resource_id,
             'start': given.start, 'end': given.end, 'whole': given.whole,
             'amount': dict(given.amount), 'copies': given.copies} for given in allocations]
    if rows:
        connection.execute(_ADD, rows)


_OF_RESERVATIONS = among.Among(
    sa.select(ALLOCATIONS).where(ALLOCATIONS.c.released_at.is_(None))
    .order_by(ALLOCATIONS.c.resource_id), ALLOCATIONS.c.reservation_id)


def of_reservations(connection, reservation_ids):
    """The promises to reservations that were not given back, by resource."""
    rows = _OF_RESERVATIONS.execute(connection, list(reservation_ids))
    return [_record(row) for row in rows]


_RESERVABLE = (
    sa.select(RESOURCES.c.id, RESOURCES.c.name, sa.cast(RESOURCES.c.capacity, sa.Text),
              RESOURCES.c.held_by, RESOURCES.c.lent_to)
    .where(RESERVABLE).order_by(RESOURCES.c.id))


def reservable_resources(connection, pool):
    """All resources of a pool that are in order, whoever has them: {id: Resource}."""
    rows = connection.execute(_RESERVABLE, {'pool': pool}).all()
    # Most are alike, so each text is read once.
    capacities = {text: json.loads(text) for text in {row[2] for row in rows}}
    return {key: records.Resource(key, pool, name, capacities[text], held_by=held_by,
                                  lent_to=lent_to)
            for key, name, text, held_by, lent_to in rows}


_BOOKINGS = (
    sa.select(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.end,
              ALLOCATIONS.c.whole, ALLOCATIONS.c.amount, ALLOCATIONS.c.copies)
    .where(ALLOCATIONS.c.resource_id.in_(sa.bindparam('ids')), IGNORING))
_BOOKINGS_FROM = _BOOKINGS.where(_REACHES)
_BOOKINGS_BETWEEN = _BOOKINGS.where(TOUCHES)


def bookings(connection, resource_ids, span, ignoring=()):
    """What others have of resources during `span`: {id: [(Interval, amount or fit.WHOLE)]}.

    An amount that is promised n times stands there n times.
    """
    asked = {'ids': list(resource_ids), 'start': span.start, 'ignoring': list(ignoring)}
    if span.end is None:
        rows = connection.execute(_BOOKINGS_FROM, asked)
    else:
        rows = connection.execute(_BOOKINGS_BETWEEN, {**asked, 'end': span.end})
    found = collections.defaultdict(list)
    for resource_id, start, end, whole, amount, copies in rows.all():
        booking = interval.Interval(start, end), fit.WHOLE if whole else amount
        found[resource_id] += [booking] * copies
    return found


def next_cleaned(connection, now, cleaning):
    """When the next resource has been cleaned that somebody had, or None; after `now`.

    :param cleaning: how long that takes from the end of a promise.
    """
    end = connection.execute(sa.select(sa.func.min(ALLOCATIONS.c.end)).where(
        _COUNTS, ALLOCATIONS.c.end > now - cleaning, ALLOCATIONS.c.end <= now)).scalar()
    return None if end is None else end + cleaning


# By their status and when they are due, for which there is an index, these are few; but after an
# outage they are thousands, so nobody names their leases.
_CHANGING = sa.and_(
    EVENTS.c.status.in_(_OPEN), EVENTS.c.due_at <= sa.bindparam('latest'), EVENTS.c.at <= _NOW,
    EVENTS.c.kind.in_((agenda.END, agenda.UPDATE, agenda.DELETE)))
_IS_CHANGING = sa.select(EVENTS.c.id).where(_CHANGING).limit(1)
# Nobody names the resources, which may be many.
_OVERDUE = (
    sa.select(ALLOCATIONS.c.id, ALLOCATIONS.c.resource_id, ALLOCATIONS.c.reservation_id,
              ALLOCATIONS.c.amount, ALLOCATIONS.c.copies)
    .join_from(EVENTS, RESERVATIONS, RESERVATIONS.c.lease_id == EVENTS.c.lease_id)
    .join(ALLOCATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id)
    .where(_CHANGING, RESERVATIONS.c.state != lifecycle.RESERVATION_DELETED,
           ALLOCATIONS.c.whole.is_(False),
           sa.or_(sa.and_(EVENTS.c.kind != agenda.UPDATE, ALLOCATIONS.c.released_at.is_(None),
                          ALLOCATIONS.c.end <= _NOW),
                  sa.and_(EVENTS.c.kind != agenda.END, ALLOCATIONS.c.released_at.is_not(None),
                          ALLOCATIONS.c.start <= _NOW)))
    .order_by(ALLOCATIONS.c.id))


def overdue(connection, now, latest, resource_ids=None, ignoring=()):
    """What reservations have of shared resources although it is theirs no more.

    Their lease is being ended, or became smaller, or that was given up: their servers may be there
    yet.

    :param latest: the moment until when what failed is tried again, at the latest.
    :param resource_ids: of which resources; None: of all.
    :param ignoring: ids of reservations whose own do not count.
    :returns: {resource id: [(reservation id, amount)]}; an amount that is promised n times stands
        there n times.
    """
    found = collections.defaultdict(list)
    asked = {'now': now, 'latest': latest}
    if connection.execute(_IS_CHANGING, asked).first() is None:
        return found
    # A lease may be ended and deleted at once, and what it has is told for each.
    overdue_ones = {row.id: row for row in connection.execute(_OVERDUE, asked)}
    for row in overdue_ones.values():
        if row.reservation_id not in ignoring and (
                resource_ids is None or row.resource_id in resource_ids):
            found[row.resource_id] += [(row.reservation_id, row.amount)] * row.copies
    return found


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
