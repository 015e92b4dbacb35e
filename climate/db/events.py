# SPDX-License-Identifier: Apache-2.0
"""Events of leases in the database: which are due, their claims by managers, and their results."""
import collections
import dataclasses

from oslo_utils import uuidutils
import sqlalchemy as sa

from climate import errors
from climate.db import by_keys
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records

EVENTS = tables.EVENTS
_COLUMNS = tables.columns(EVENTS, records.Event)

# Statements of every lease's life are built once, because building one costs more than running it.
_NOW = sa.bindparam('now', type_=tables.UtcDateTime)
_ADD = sa.insert(EVENTS)
_OTHERS = EVENTS.alias()
# The leases with an event in progress. They are few, so a subquery over all of them is cheap.
_BUSY = sa.select(_OTHERS.c.lease_id).where(_OTHERS.c.status == lifecycle.EVENT_IN_PROGRESS)


def new(lease_id, kind, at, now):
    """Return the record of a new event of a lease at the moment `at`; nothing is written."""
    return records.Event(id=uuidutils.generate_uuid(), lease_id=lease_id, kind=kind, at=at,
                         due_at=at, created_at=now)


def new_claimed(lease_id, kind, owner, now, until):
    """Return the record of a new event at `now`, claimed by `owner`; nothing is written.

    The owner must have claimed the lease: the event is carried out under that claim.

    :param until: when the claim of the event expires.
    """
    return dataclasses.replace(
        new(lease_id, kind, now, now), status=lifecycle.EVENT_IN_PROGRESS, claim_owner=owner,
        claim_no=1, claimed_until=until, begun_at=now)


def all_new(lease_id, planned, now):
    """Return the records of `planned` events, in the format of ``domain.lease_events``."""
    return [new(lease_id, kind, at, now) for kind, at in planned]


def add(connection, events):
    """Insert events."""
    rows = [vars(event) for event in events]
    if rows:
        connection.execute(_ADD, rows)


_IN_TIME = sa.select(*_COLUMNS).order_by(EVENTS.c.lease_id, EVENTS.c.at, EVENTS.c.id)
_OF_LEASES = by_keys.ByKeys(_IN_TIME, EVENTS.c.lease_id)
_SHOWN_OF_LEASES = by_keys.ByKeys(_IN_TIME.where(EVENTS.c.kind.in_(event_kinds.SHOWN_OR_DECIDING)),
                                  EVENTS.c.lease_id)


def of_leases(connection, lease_ids, shown=False):
    """Return {lease id: its events in order of time}.

    :param shown: only events of the kinds that answers show, or by which they list actions.
    """
    if not lease_ids:
        return {}
    statement = _SHOWN_OF_LEASES if shown else _OF_LEASES
    by_lease = collections.defaultdict(tuple)
    for row in statement.execute(connection, lease_ids).all():
        by_lease[row.lease_id] += (records.Event(*row),)
    return dict(by_lease)


_LANES = {kind: place for place, kinds in enumerate(event_kinds.LANES.values()) for kind in kinds}
_DUE = (
    sa.select(*_COLUMNS)
    .where(sa.or_(sa.and_(EVENTS.c.status == lifecycle.EVENT_UNDONE, EVENTS.c.due_at <= _NOW),
                  sa.and_(EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS,
                          EVENTS.c.claimed_until <= _NOW)),
           EVENTS.c.kind.in_(sa.bindparam('kinds')),
           EVENTS.c.lease_id.not_in(_BUSY.where(_OTHERS.c.claimed_until > _NOW)))
    .order_by(sa.case(_LANES, value=EVENTS.c.kind), EVENTS.c.at,
              sa.case(event_kinds.RANK, value=EVENTS.c.kind), EVENTS.c.lease_id,
              EVENTS.c.id)
    .limit(sa.bindparam('limit', type_=sa.Integer)))


def due(connection, now, limit, kinds=tuple(event_kinds.KINDS)):
    """Return the events that are due at `now`: by lane, then in the order of `due_events.in_order`.

    An event whose claim has expired is due again. Events of a lease with another event in progress
    are left out.

    :param limit: the maximum number of events.
    :param kinds: only events of these kinds.
    """
    rows = connection.execute(_DUE, {'now': now, 'limit': limit, 'kinds': kinds})
    return [records.Event(*row) for row in rows]


# An event with an expired claim waits until the last claim of its lease expires.
_LAST_CLAIMS = (
    sa.select(sa.func.max(EVENTS.c.claimed_until).label('until'))
    .where(EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS).group_by(EVENTS.c.lease_id).subquery())
_NEXT_MOMENTS = sa.select(
    # This reads the first row in the order of the index. min() would read all future events.
    sa.select(EVENTS.c.due_at)
    .where(EVENTS.c.status == lifecycle.EVENT_UNDONE, EVENTS.c.kind.in_(sa.bindparam('kinds')),
           EVENTS.c.lease_id.not_in(_BUSY))
    .order_by(EVENTS.c.due_at).limit(1).scalar_subquery(),
    sa.select(sa.func.min(_LAST_CLAIMS.c.until)).scalar_subquery())


def next_moment(connection, kinds=tuple(event_kinds.KINDS)):
    """Return when the next event is due or the next claim expires; None if there is neither.

    Other events of a lease with an event in progress do not count, because they must wait.

    :param kinds: only undone events of these kinds count.
    """
    moments = connection.execute(_NEXT_MOMENTS, {'kinds': kinds}).one()
    return min((moment for moment in moments if moment is not None), default=None)


# The columns of the claim. Statements change only events that still have the claim that was read.
_CLAIMED = EVENTS.c.id, EVENTS.c.claim_no
_IS_OURS = EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS
_CLAIM = by_keys.ByKeys(
    sa.update(EVENTS).where(sa.or_(EVENTS.c.status == lifecycle.EVENT_UNDONE, _IS_OURS))
    .values(claim_no=EVENTS.c.claim_no + 1, begun_at=sa.func.coalesce(EVENTS.c.begun_at, _NOW)),
    *_CLAIMED)


def claim(connection, due_events, owner, now, until):
    """Claim events for `owner`; return them with their new claims.

    The caller must have locked their leases.

    :raises LostRace: an event has changed since it was read; the transaction must be rolled back.
    """
    if not due_events:
        return []
    values = {'status': lifecycle.EVENT_IN_PROGRESS, 'claim_owner': owner,
              'claimed_until': until, 'updated_at': now}
    done = _CLAIM.execute(connection, _claims(due_events), {'now': now, **values})
    if done.rowcount != len(due_events):
        raise errors.LostRace()
    return [dataclasses.replace(event, claim_no=event.claim_no + 1,
                                begun_at=event.begun_at or now, **values)
            for event in due_events]


_HOLD = by_keys.ByKeys(sa.update(EVENTS).where(_IS_OURS), *_CLAIMED)
_HELD = by_keys.ByKeys(sa.select(EVENTS.c.id).where(_IS_OURS), *_CLAIMED)


def hold(connection, claimed, until):
    """Prolong claims to `until`; return the ids of the events that are still claimed."""
    if not claimed:
        return set()
    keys = _claims(claimed)
    _HOLD.execute(connection, keys, {'claimed_until': until})
    return set(_HELD.execute(connection, keys).scalars())


_FINISH = by_keys.ByKeys(
    sa.update(EVENTS).where(_IS_OURS).values(claim_owner=None, claimed_until=None), *_CLAIMED)


def finish(connection, event, now, status, **values):
    """Record the result of a claimed event.

    :raises LostRace: the claim was lost; nothing is written.
    """
    finish_all(connection, [event], now, status, **values)


def finish_all(connection, claimed, now, status, **values):
    """Record the same result for several claimed events.

    :raises LostRace: a claim was lost; the transaction must be rolled back.
    """
    if not claimed:
        return
    done = _FINISH.execute(connection, _claims(claimed),
                           {'status': status, 'updated_at': now, **values})
    if done.rowcount != len(claimed):
        raise errors.LostRace()


def move(connection, event, now, at):
    """Reschedule an event to the moment `at`, even if it is already done."""
    connection.execute(
        sa.update(EVENTS).where(EVENTS.c.id == event.id)
        .values(at=at, due_at=at, status=lifecycle.EVENT_UNDONE, begun_at=None, attempts=0,
                waits=0, updated_at=now))


_ALLOCATIONS, _THEIRS = tables.ALLOCATIONS, tables.ALLOCATIONS.alias()
_IS_DELAYED = sa.and_(EVENTS.c.status == lifecycle.EVENT_UNDONE, EVENTS.c.due_at > _NOW)
# The future retries of starts that have waited for a resource of these reservations.
_WAITING = by_keys.ByKeys(
    sa.select(EVENTS.c.id).distinct()
    .join(tables.RESERVATIONS, tables.RESERVATIONS.c.lease_id == EVENTS.c.lease_id)
    .join(_THEIRS, _THEIRS.c.reservation_id == tables.RESERVATIONS.c.id)
    .join(_ALLOCATIONS, _ALLOCATIONS.c.resource_id == _THEIRS.c.resource_id)
    .where(EVENTS.c.kind == event_kinds.START, EVENTS.c.waits > 0, _IS_DELAYED,
           _THEIRS.c.released_at.is_(None), _THEIRS.c.start <= _NOW, _THEIRS.c.end > _NOW),
    _ALLOCATIONS.c.reservation_id)
# The additional try does not count towards the limit of the wait.
_HASTEN = by_keys.ByKeys(
    sa.update(EVENTS).where(_IS_DELAYED)
    .values(waits=sa.case((EVENTS.c.waits > 1, EVENTS.c.waits - 1), else_=EVENTS.c.waits)),
    EVENTS.c.id)


def hasten_starts(connection, reservation_ids, now):
    """Make the starts that wait for a resource of these reservations due at once."""
    waiting = _WAITING.execute(connection, sorted(reservation_ids), {'now': now}).scalars().all()
    if waiting:
        _HASTEN.execute(connection, sorted(waiting), {'now': now, 'due_at': now})


_CLOSE = (
    sa.update(EVENTS)
    .where(EVENTS.c.lease_id == sa.bindparam('of_lease'), EVENTS.c.kind.in_(sa.bindparam('kinds')),
           EVENTS.c.status.in_(lifecycle.EVENT_OPEN)))


def close(connection, lease_id, now, kinds):
    """Mark the open events of a lease of these kinds as done."""
    connection.execute(_CLOSE, {'of_lease': lease_id, 'kinds': kinds,
                                'status': lifecycle.EVENT_DONE, 'updated_at': now})


def change(connection, lease_id, changes, now):
    """Write EventChanges of a lease."""
    for event, at in changes.move:
        move(connection, event, now, at)
    if changes.close:
        close(connection, lease_id, now, changes.close)
    add(connection, all_new(lease_id, changes.add, now))


def _claims(events):
    """Return the pairs (event id, claim number) by which the statements find claimed events."""
    return [(event.id, event.claim_no) for event in events]
