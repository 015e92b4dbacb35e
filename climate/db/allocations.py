# SPDX-License-Identifier: Apache-2.0
"""Allocations in the database: which reservation has which resource, and when."""
import collections
import json

import sqlalchemy as sa

from climate.db import by_keys
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import interval
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import selection
from climate.domain import unused_hours

ALLOCATIONS = tables.ALLOCATIONS
EVENTS = tables.EVENTS
LEASES = tables.LEASES
RESOURCES = tables.RESOURCES
RESERVATIONS = tables.RESERVATIONS
_UNRELEASED = ALLOCATIONS.c.released_at.is_(None)
# An allocation that was released before its start is void, and does not count. An allocation that
# was removed from a running reservation ended at that moment. It counts, so that its resource is
# cleaned.
COUNTS = sa.or_(_UNRELEASED, ALLOCATIONS.c.released_at >= ALLOCATIONS.c.end)

# The statuses of events that are not done, or that were given up.
_OPEN = (lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS, lifecycle.EVENT_ERROR)

# Statements of every lease's life are built once, because building one costs more than running it.
_ADD = sa.insert(ALLOCATIONS)
_NOW = sa.bindparam('now', type_=tables.UtcDateTime)
IGNORING = ALLOCATIONS.c.reservation_id.not_in(sa.bindparam('ignoring'))
REACHES = sa.and_(COUNTS, ALLOCATIONS.c.end > sa.bindparam('start'))
TOUCHES = sa.and_(REACHES, ALLOCATIONS.c.start < sa.bindparam('end'))
RESERVABLE = sa.and_(RESOURCES.c.pool == sa.bindparam('pool'), RESOURCES.c.reservable.is_(True),
                     RESOURCES.c.withdrawn_at.is_(None))


def add(connection, allocations):
    """Insert allocations."""
    rows = [{'reservation_id': allocation.reservation_id, 'resource_id': allocation.resource_id,
             'start': allocation.start, 'end': allocation.end, 'whole': allocation.whole,
             'amount': dict(allocation.amount), 'copies': allocation.copies,
             'need': allocation.need, 'promised_until': allocation.promised_until}
            for allocation in allocations]
    if rows:
        connection.execute(_ADD, rows)


_OF_RESERVATIONS = by_keys.ByKeys(
    sa.select(ALLOCATIONS).where(_UNRELEASED).order_by(ALLOCATIONS.c.resource_id),
    ALLOCATIONS.c.reservation_id)


def of_reservations(connection, reservation_ids):
    """Return the allocations of reservations that are not released, by resource."""
    rows = _OF_RESERVATIONS.execute(connection, list(reservation_ids))
    return [record(row) for row in rows]


_RESERVABLE = (
    sa.select(RESOURCES.c.id, RESOURCES.c.name, sa.cast(RESOURCES.c.capacity, sa.Text),
              RESOURCES.c.held_by, RESOURCES.c.lent_to)
    .where(RESERVABLE).order_by(RESOURCES.c.id))


def reservable_resources(connection, pool):
    """Return all reservable resources of a pool, free or not, as {id: Resource}."""
    rows = connection.execute(_RESERVABLE, {'pool': pool}).all()
    # Most capacities are equal, so each distinct text is parsed once.
    capacities = {text: json.loads(text) for text in {row[2] for row in rows}}
    return {key: records.Resource(key, pool, name, capacities[text], held_by=held_by,
                                  lent_to=lent_to)
            for key, name, text, held_by, lent_to in rows}


_BOOKINGS = (
    sa.select(ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.end,
              ALLOCATIONS.c.whole, ALLOCATIONS.c.amount, ALLOCATIONS.c.copies)
    .where(ALLOCATIONS.c.resource_id.in_(sa.bindparam('ids')), IGNORING))
_BOOKINGS_FROM = _BOOKINGS.where(REACHES)
_BOOKINGS_BETWEEN = _BOOKINGS.where(TOUCHES)


def bookings(connection, resource_ids, span, ignoring=()):
    """Return the bookings of resources during `span`.

    :param ignoring: ids of reservations whose allocations do not count.
    :returns: {resource id: [(Interval, amount or selection.WHOLE)]}; an allocation of n copies is
        listed n times.
    """
    values = {'ids': list(resource_ids), 'start': span.start, 'ignoring': list(ignoring)}
    if span.end is None:
        rows = connection.execute(_BOOKINGS_FROM, values)
    else:
        rows = connection.execute(_BOOKINGS_BETWEEN, {**values, 'end': span.end})
    by_resource = collections.defaultdict(list)
    for resource_id, start, end, whole, amount, copies in rows.all():
        booking = interval.Interval(start, end), selection.WHOLE if whole else amount
        by_resource[resource_id] += [booking] * copies
    return by_resource


def next_cleaned(connection, now, cleaning):
    """Return the next moment after `now` at which a resource has been cleaned, or None.

    :param cleaning: how long cleaning takes from the end of an allocation.
    """
    end = connection.execute(sa.select(sa.func.min(ALLOCATIONS.c.end)).where(
        COUNTS, ALLOCATIONS.c.end > now - cleaning, ALLOCATIONS.c.end <= now)).scalar()
    return None if end is None else end + cleaning


# The index on status and due_at finds these events. After an outage there may be thousands, so
# their leases are joined and not listed.
_CHANGING = sa.and_(
    EVENTS.c.status.in_(_OPEN), EVENTS.c.due_at <= sa.bindparam('latest'), EVENTS.c.at <= _NOW,
    EVENTS.c.kind.in_((event_kinds.END, event_kinds.UPDATE, event_kinds.DELETE)))
_IS_CHANGING = sa.select(EVENTS.c.id).where(_CHANGING).limit(1)
# The statement does not list the resources, because there may be many.
_OVERDUE = (
    sa.select(ALLOCATIONS.c.id, ALLOCATIONS.c.resource_id, ALLOCATIONS.c.reservation_id,
              ALLOCATIONS.c.amount, ALLOCATIONS.c.copies)
    .join_from(EVENTS, RESERVATIONS, RESERVATIONS.c.lease_id == EVENTS.c.lease_id)
    .join(ALLOCATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id)
    .where(_CHANGING, RESERVATIONS.c.state != lifecycle.RESERVATION_DELETED,
           ALLOCATIONS.c.whole.is_(False),
           sa.or_(sa.and_(EVENTS.c.kind != event_kinds.UPDATE, _UNRELEASED,
                          ALLOCATIONS.c.end <= _NOW),
                  sa.and_(EVENTS.c.kind != event_kinds.END, ALLOCATIONS.c.released_at.is_not(None),
                          ALLOCATIONS.c.start <= _NOW)))
    .order_by(ALLOCATIONS.c.id))


def overdue(connection, now, latest, resource_ids=None, ignoring=()):
    """Return the overdue allocations of shared resources.

    An allocation is overdue if it has ended but the end or the change of its lease is not done, so
    that its servers may still exist.

    :param latest: the latest moment until which a failed event is retried.
    :param resource_ids: only allocations of these resources; None: of all.
    :param ignoring: ids of reservations whose allocations do not count.
    :returns: {resource id: [(reservation id, amount)]}; an allocation of n copies is listed n
        times.
    """
    by_resource = collections.defaultdict(list)
    values = {'now': now, 'latest': latest}
    if connection.execute(_IS_CHANGING, values).first() is None:
        return by_resource
    # A lease that is both ended and deleted yields a row for each event. Keep one of each id.
    rows = {row.id: row for row in connection.execute(_OVERDUE, values)}
    for row in rows.values():
        if row.reservation_id not in ignoring and (
                resource_ids is None or row.resource_id in resource_ids):
            by_resource[row.resource_id] += [(row.reservation_id, row.amount)] * row.copies
    return by_resource


def change(connection, reservation_ids, resource_ids, need=None, by_owner=False, **values):
    """Update the allocations of some resources to reservations with `values`.

    :param need: only allocations for the need with this key; None: for all.
    :param by_owner: whether the owner changes a running lease; then an earlier end keeps the moment
        up to which the allocation was guaranteed.
    """
    connection.execute(
        sa.update(ALLOCATIONS)
        .where(ALLOCATIONS.c.reservation_id.in_(list(reservation_ids)),
               ALLOCATIONS.c.resource_id.in_(list(resource_ids)), _UNRELEASED, *_serving(need))
        .ordered_values(*_guarantee(values.get('end') if by_owner else None), *values.items()))


def cut(connection, reservation_ids, now, resource_ids=None, need=None, by_owner=False):
    """Release allocations at `now`: running ones end then, future ones become void.

    :param resource_ids: only allocations of these resources; None: of all. These resources are
        removed from a running reservation, so their allocations are marked as released.
    :param need: only allocations for the need with this key; None: for all.
    :param by_owner: whether the owner returns the resources; then the allocations keep the moment
        up to which they were guaranteed.
    """
    selected = [ALLOCATIONS.c.reservation_id.in_(list(reservation_ids)),
                _UNRELEASED, ALLOCATIONS.c.end > now, *_serving(need)]
    if resource_ids is not None:
        selected.append(ALLOCATIONS.c.resource_id.in_(list(resource_ids)))
    connection.execute(sa.update(ALLOCATIONS).where(*selected, ALLOCATIONS.c.start >= now)
                       .values(released_at=now))
    values = {'end': now} if resource_ids is None else {'end': now, 'released_at': now}
    connection.execute(sa.update(ALLOCATIONS).where(*selected, ALLOCATIONS.c.start < now)
                       .ordered_values(*_guarantee(now if by_owner else None), *values.items()))


def guarantees(connection, reservation_id, now, resource_ids, need, *, by_owner):
    """Return the guarantees of copies that are about to be cut from a reservation.

    Whole resources have no guarantees, because another resource never replaces a whole resource.

    :param by_owner: whether the owner returns the copies; otherwise only earlier guarantees count.
    """
    rows = connection.execute(sa.select(ALLOCATIONS).where(
        ALLOCATIONS.c.reservation_id == reservation_id, _UNRELEASED,
        ALLOCATIONS.c.resource_id.in_(sorted(resource_ids)), ALLOCATIONS.c.whole.is_(False),
        ALLOCATIONS.c.end > now, *_serving(need)).order_by(ALLOCATIONS.c.id))
    moments = [(row, max(filter(None, [row.promised_until, row.end if by_owner else None]),
                         default=None)) for row in rows]
    return [unused_hours.Guarantee(row.resource_id, row.copies, until)
            for row, until in moments if until]


def take_guarantees(connection, reservation_id, now, resource_ids):
    """Remove the guarantees of allocations that are about to be exchanged; return them."""
    selected = (ALLOCATIONS.c.reservation_id == reservation_id, ALLOCATIONS.c.end > now,
                _UNRELEASED, ALLOCATIONS.c.promised_until.is_not(None),
                ALLOCATIONS.c.resource_id.in_(sorted(resource_ids)))
    rows = connection.execute(
        sa.select(ALLOCATIONS).where(*selected).order_by(ALLOCATIONS.c.id)).all()
    connection.execute(sa.update(ALLOCATIONS).where(*selected).values(promised_until=None))
    return [unused_hours.Guarantee(row.resource_id, row.copies, row.promised_until) for row in rows]


def _guarantee(end):
    """Return the assignment that keeps the moment up to which allocations were guaranteed.

    It must precede the assignment of the end, because MariaDB assigns from left to right.

    :param end: the new end of the allocations; None: return no assignment.
    """
    if end is None:
        return ()
    own = ALLOCATIONS.c
    latest = sa.case((own.promised_until > own.end, own.promised_until), else_=own.end)
    return (own.promised_until, sa.case((own.end > end, latest), else_=own.promised_until)),


def delete(connection, reservation_ids, resource_ids=None):
    """Delete the allocations of reservations that are not released.

    :param resource_ids: only allocations of these resources; None: of all.
    """
    statement = sa.delete(ALLOCATIONS).where(
        ALLOCATIONS.c.reservation_id.in_(list(reservation_ids)), _UNRELEASED)
    if resource_ids is not None:
        statement = statement.where(ALLOCATIONS.c.resource_id.in_(sorted(resource_ids)))
    connection.execute(statement)


def replace(connection, reservation_ids, allocations):
    """Delete the allocations of reservations that are not released, and insert others."""
    delete(connection, reservation_ids)
    add(connection, allocations)


def taken_out(connection, reservation_ids):
    """Return the allocations that running reservations lost to a change, by resource.

    Until the change is carried out in the cloud, the reservation may still use the resources.
    """
    rows = connection.execute(
        sa.select(ALLOCATIONS)
        .where(ALLOCATIONS.c.reservation_id.in_(list(reservation_ids)),
               ALLOCATIONS.c.released_at.is_not(None),
               ALLOCATIONS.c.start <= ALLOCATIONS.c.released_at)
        .order_by(ALLOCATIONS.c.resource_id))
    return [record(row) for row in rows]


def requests_on(connection, resource_id, now):
    """Return the reservations that have a resource now or later.

    :returns: [(reservation id, resource type, request)].
    """
    return [tuple(row) for row in connection.execute(
        sa.select(RESERVATIONS.c.id, RESERVATIONS.c.resource_type, RESERVATIONS.c.request)
        .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .where(ALLOCATIONS.c.resource_id == resource_id, _UNRELEASED, ALLOCATIONS.c.end > now))]


def running(connection, now):
    """Return the allocations of running reservations of active leases at `now`, by resource.

    :returns: rows with reservation_id, lease_id, project_id, resource_type, request,
        missing_resources, degraded, resource_id, need, whole, amount, copies.
    """
    return connection.execute(
        sa.select(RESERVATIONS.c.id.label('reservation_id'), RESERVATIONS.c.lease_id,
                  RESERVATIONS.c.resource_type, RESERVATIONS.c.request,
                  RESERVATIONS.c.missing_resources, LEASES.c.degraded,
                  LEASES.c.project_id, ALLOCATIONS.c.resource_id,
                  ALLOCATIONS.c.need, ALLOCATIONS.c.whole, ALLOCATIONS.c.amount,
                  ALLOCATIONS.c.copies)
        .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
        .where(LEASES.c.state == lifecycle.ACTIVE,
               RESERVATIONS.c.state == lifecycle.RESERVATION_ACTIVE, _UNRELEASED,
               ALLOCATIONS.c.start <= now, ALLOCATIONS.c.end > now)
        .order_by(ALLOCATIONS.c.resource_id, RESERVATIONS.c.id)).all()


def _serving(need):
    return () if need is None else (ALLOCATIONS.c.need == need,)


def record(row, **more):
    """Return the Allocation of a row, with the fields `more`."""
    return records.Allocation(
        reservation_id=row.reservation_id, resource_id=row.resource_id, start=row.start,
        end=row.end, whole=row.whole, amount=row.amount, copies=row.copies,
        released_at=row.released_at, need=row.need, **more)
