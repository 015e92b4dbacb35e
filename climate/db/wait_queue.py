# SPDX-License-Identifier: Apache-2.0
"""The wait queue in the database: its leases, and which of them are due or woken.

The order is in :mod:`climate.db.queue_order`.
"""
import dataclasses
import datetime
from typing import Any

import sqlalchemy as sa

from climate.db import acquisitions
from climate.db import queue_order
from climate.db import series_occurrences
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle

ACQUISITIONS = tables.ACQUISITIONS
ALLOCATIONS = tables.ALLOCATIONS
EVENTS = tables.EVENTS
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS

# Just after this manager claimed an event, another manager may wake leases that wait to retry their
# start. So events that are due a little after the claim count as due, too.
_SAME_MOMENT = datetime.timedelta(seconds=1)
_QUEUED = acquisitions.IS_QUEUED
_HEALING = ACQUISITIONS.c.waits_for == acquisitions.HEALING
_LOCK = sa.select(tables.WAIT_QUEUE.c.id).with_for_update()
_WHO_WAITS = sa.select(
    sa.select(ACQUISITIONS.c.lease_id).where(sa.or_(_QUEUED, _HEALING)).exists().label('leases'),
    series_occurrences.ANY_FAILED.label('occurrences'))


def lock(connection):
    """Lock the queue, so that no other transaction changes the queue or wakes leases."""
    connection.execute(_LOCK).all()


def who_waits(connection):
    """Return whether any `leases`, and any `occurrences` of series, wait for others' resources."""
    return connection.execute(_WHO_WAITS).one()


def first(connection, leaving=None):
    """Return the id of the first lease in the queue, or None.

    :param leaving: the id of a lease to leave out.
    """
    queue = _queue() if leaving is None else _queue().where(ACQUISITIONS.c.lease_id != leaving)
    return connection.execute(queue.limit(1)).scalar()


def is_first(connection, lease_id):
    """Return whether a lease is first in the queue."""
    return first(connection) == lease_id


def count_of(connection, project_id):
    """Return the number of leases of a project in the queue."""
    return counts(connection, LEASES.c.project_id == project_id).get(project_id, 0)


def counts(connection, *conditions):
    """Return {project id: number of its leases in the queue}."""
    return dict(connection.execute(
        sa.select(LEASES.c.project_id, sa.func.count())
        .join(ACQUISITIONS, LEASES.c.id == ACQUISITIONS.c.lease_id)
        .where(_QUEUED, *conditions).group_by(LEASES.c.project_id)).all())


@dataclasses.dataclass(frozen=True)
class QueuedLease:
    """A lease in the queue.

    :ivar end: the end, unless the lease ends `duration_seconds` after it has got its resources.
    :ivar least: its minimum need, as ``domain.minimum_need.of`` returns it; None: not known.
    :ivar holds: whether resources are held back for the lease.
    :ivar woken: whether the lease was woken and has not been tried since.
    """

    lease_id: str
    type: str
    priority: int
    share: int
    created_at: datetime.datetime
    duration_seconds: int | None
    end: datetime.datetime
    not_after: datetime.datetime | None
    least: Any
    reason: str | None
    holds: bool
    woken: bool

    def until(self, now):
        """Return when the lease ends if it gets its resources at `now`."""
        if self.duration_seconds is None:
            return self.end
        return now + datetime.timedelta(seconds=self.duration_seconds)

    def given_up_at(self):
        """Return when the lease is given up; None: never."""
        moments = self.not_after, self.end if self.duration_seconds is None else None
        return min((moment for moment in moments if moment is not None), default=None)


_HOLDS = sa.exists().where(ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id,
                           RESERVATIONS.c.lease_id == ACQUISITIONS.c.lease_id,
                           ALLOCATIONS.c.released_at.is_(None))
_WAITING = (
    sa.select(*(ACQUISITIONS.c[name] for name in (
        'lease_id', 'type', 'priority', 'share', 'created_at', 'duration_seconds')),
        LEASES.c.end, ACQUISITIONS.c.not_after, ACQUISITIONS.c.least, LEASES.c.reason, _HOLDS,
        (ACQUISITIONS.c.wakes != ACQUISITIONS.c.heard))
    .join(LEASES, LEASES.c.id == ACQUISITIONS.c.lease_id).where(_QUEUED)
    .order_by(*queue_order.COLUMNS))


def behind(connection, place, limit):
    """Return the next QueuedLeases behind an Acquisition or a QueuedLease, in order."""
    return [QueuedLease(*row) for row in connection.execute(
        _WAITING.where(queue_order.behind(place)).limit(limit))]


def of_leases(connection, lease_ids):
    """Return the QueuedLeases among the leases with these ids, in order."""
    return [QueuedLease(*row) for row in connection.execute(
        _WAITING.where(ACQUISITIONS.c.lease_id.in_(lease_ids)))]


def is_due_before(connection, acquisition, now):
    """Return whether a lease before an Acquisition in the queue is due or is being tried."""
    is_due = sa.or_(ACQUISITIONS.c.wakes != ACQUISITIONS.c.heard, _is_due(event_kinds.ACQUIRE, now))
    return connection.execute(
        _queue().where(queue_order.before(acquisition), is_due).limit(1)).first() is not None


def is_healing_due(connection, now):
    """Return whether a lease is due to retry a start that was given up, or is retrying it.

    Leases that wait for other objects in the cloud do not count, because they need no resources.
    """
    return connection.execute(
        sa.select(ACQUISITIONS.c.lease_id)
        .where(_HEALING,
               _is_due(event_kinds.HEAL, now + _SAME_MOMENT, EVENTS.c.waits == 0))
        .limit(1)).first() is not None


def wake(connection, lease_id, now):
    """Make a queued lease due at once; if it is being tried now, it is tried again.

    The caller has locked the queue.
    """
    _hurry(connection, now, event_kinds.ACQUIRE, ACQUISITIONS.c.lease_id == lease_id, _QUEUED)
    connection.execute(sa.update(ACQUISITIONS).where(ACQUISITIONS.c.lease_id == lease_id, _QUEUED)
                       .values(wakes=ACQUISITIONS.c.wakes + 1, updated_at=now))


def postpone(connection, lease_ids, now, next_at):
    """Postpone the tries of leases that are due at `now` to `next_at`, unless a lease was woken.

    The events forget how often they waited for other leases. The caller has locked the queue.

    :returns: the ids of the postponed leases.
    """
    due = (EVENTS.c.kind == event_kinds.ACQUIRE, EVENTS.c.status == lifecycle.EVENT_UNDONE,
           EVENTS.c.due_at <= now)
    lease_of = dict(connection.execute(
        sa.select(EVENTS.c.id, EVENTS.c.lease_id)
        .join_from(ACQUISITIONS, EVENTS, EVENTS.c.lease_id == ACQUISITIONS.c.lease_id)
        .where(ACQUISITIONS.c.lease_id.in_(lease_ids), _QUEUED,
               ACQUISITIONS.c.wakes == ACQUISITIONS.c.heard, *due)).all())
    if lease_of:
        connection.execute(sa.update(EVENTS).where(EVENTS.c.id.in_(sorted(lease_of)), *due)
                           .values(due_at=next_at, waits=0))
        connection.execute(
            sa.update(ACQUISITIONS)
            .where(ACQUISITIONS.c.lease_id.in_(sorted(lease_of.values())), _QUEUED)
            .values(next_at=next_at, updated_at=now))
    return set(lease_of.values())


def wake_healing(connection, now):
    """Make all leases that retry a start due at once. The caller has locked the queue."""
    _hurry(connection, now, event_kinds.HEAL, _HEALING)


def holders(connection, lease_id):
    """Return the ids of the other queued leases that hold back resources."""
    return list(connection.execute(
        sa.select(ACQUISITIONS.c.lease_id).distinct()
        .join_from(ACQUISITIONS, RESERVATIONS,
                   RESERVATIONS.c.lease_id == ACQUISITIONS.c.lease_id)
        .join(ALLOCATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id)
        .where(_QUEUED, ACQUISITIONS.c.lease_id != lease_id,
               ALLOCATIONS.c.released_at.is_(None))).scalars())


def release_held(connection, lease_ids):
    """Delete the allocations that queued leases hold back. Other leases keep theirs."""
    # Lock the leases first: a lease that has just been served must keep its allocations.
    connection.execute(sa.select(LEASES.c.id).where(LEASES.c.id.in_(sorted(lease_ids)))
                       .order_by(LEASES.c.id).with_for_update()).all()
    held = list(connection.execute(
        sa.select(ALLOCATIONS.c.id)
        .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .join(ACQUISITIONS, ACQUISITIONS.c.lease_id == RESERVATIONS.c.lease_id)
        .where(ACQUISITIONS.c.lease_id.in_(sorted(lease_ids)), _QUEUED)
        .order_by(ALLOCATIONS.c.id)).scalars())
    if held:
        connection.execute(sa.delete(ALLOCATIONS).where(ALLOCATIONS.c.id.in_(held)))


def _queue():
    """Return the query for the ids of the queued leases, in their order."""
    return sa.select(ACQUISITIONS.c.lease_id).where(_QUEUED).order_by(*queue_order.COLUMNS)


def _is_due(kind, now, *conditions):
    events = EVENTS.c
    return sa.exists().where(
        events.lease_id == ACQUISITIONS.c.lease_id, events.kind == kind, *conditions,
        sa.or_(events.status == lifecycle.EVENT_IN_PROGRESS,
               sa.and_(events.status == lifecycle.EVENT_UNDONE, events.due_at <= now)))


def _hurry(connection, now, kind, *whose):
    """Make events of that kind due now, for the leases whose acquisitions meet `whose`.

    The events are read before they are updated, because MariaDB locks every row that an UPDATE
    reads.
    """
    later = (EVENTS.c.kind == kind, EVENTS.c.status == lifecycle.EVENT_UNDONE,
             EVENTS.c.due_at > now)
    ids = list(connection.execute(
        sa.select(EVENTS.c.id)
        .join_from(ACQUISITIONS, EVENTS, EVENTS.c.lease_id == ACQUISITIONS.c.lease_id)
        .where(*whose, *later).order_by(EVENTS.c.id)).scalars())
    if ids:
        connection.execute(sa.update(EVENTS).where(EVENTS.c.id.in_(ids), *later)
                           .values(due_at=now))
