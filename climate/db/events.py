# SPDX-License-Identifier: Apache-2.0
"""Events in the database: what is due, who carries it out, how it went."""
import collections
import dataclasses

from oslo_utils import uuidutils
import sqlalchemy as sa

from climate import errors
from climate.db import among
from climate.db import tables
from climate.domain import agenda
from climate.domain import lifecycle
from climate.domain import records

EVENTS = tables.EVENTS
_COLUMNS = tuple(EVENTS.c)

# The statements of each lease's life are built once: building one costs more than asking it.
_NOW = sa.bindparam('now', type_=tables.UtcDateTime)
_ADD = sa.insert(EVENTS)
_OTHERS = EVENTS.alias()
# The leases of which an event is carried out. They are few: a look at all of them for each event
# takes longer to plan than to do.
_BUSY = sa.select(_OTHERS.c.lease_id).where(_OTHERS.c.status == lifecycle.EVENT_IN_PROGRESS)


def new(lease_id, kind, at, now):
    """The record of an event of a lease that is to happen at the moment `at`; not written yet."""
    return records.Event(id=uuidutils.generate_uuid(), lease_id=lease_id, kind=kind, at=at,
                         due_at=at, created_at=now)


def new_claimed(lease_id, kind, owner, now, until):
    """The same, due at `now` and claimed by `owner` until a moment; not written yet.

    The owner is to have claimed the lease: the event is carried out under that claim.
    """
    return dataclasses.replace(
        new(lease_id, kind, now, now), status=lifecycle.EVENT_IN_PROGRESS, claim_owner=owner,
        claim_no=1, claimed_until=until, begun_at=now)


def add(connection, events):
    """Write new events."""
    rows = [vars(event) for event in events]
    if rows:
        connection.execute(_ADD, rows)


_OF_LEASES = among.Among(
    sa.select(*_COLUMNS).order_by(EVENTS.c.lease_id, EVENTS.c.at, EVENTS.c.id),
    EVENTS.c.lease_id)


def of_leases(connection, lease_ids):
    """{lease id: its events by their moment}."""
    if not lease_ids:
        return {}
    rows = _OF_LEASES.execute(connection, lease_ids)
    found = collections.defaultdict(tuple)
    for row in rows:
        found[row.lease_id] += (records.Event(**row._mapping),)
    return dict(found)


_DUE = (
    sa.select(*_COLUMNS)
    .where(sa.or_(sa.and_(EVENTS.c.status == lifecycle.EVENT_UNDONE, EVENTS.c.due_at <= _NOW),
                  sa.and_(EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS,
                          EVENTS.c.claimed_until <= _NOW)),
           EVENTS.c.lease_id.not_in(_BUSY.where(_OTHERS.c.claimed_until > _NOW)))
    .order_by(EVENTS.c.at, sa.case(agenda.RANK, value=EVENTS.c.kind), EVENTS.c.lease_id,
              EVENTS.c.id)
    .limit(sa.bindparam('limit', type_=sa.Integer)))


def due(connection, now, limit):
    """The events to carry out at `now`, `limit` at most, in the order of `agenda.in_order`.

    Among them those that a manager claimed and did not finish in time; none of a lease of which
    another event is being carried out.
    """
    rows = connection.execute(_DUE, {'now': now, 'limit': limit})
    return [records.Event(**row._mapping) for row in rows]


# A claim that ended long ago waits for the last one of its lease.
_LAST_CLAIMS = (
    sa.select(sa.func.max(EVENTS.c.claimed_until).label('until'))
    .where(EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS).group_by(EVENTS.c.lease_id).subquery())
_NEXT_MOMENTS = sa.select(
    # The first in the order of the index; min() would look at all that are to come.
    sa.select(EVENTS.c.due_at)
    .where(EVENTS.c.status == lifecycle.EVENT_UNDONE, EVENTS.c.lease_id.not_in(_BUSY))
    .order_by(EVENTS.c.due_at).limit(1).scalar_subquery(),
    sa.select(sa.func.min(_LAST_CLAIMS.c.until)).scalar_subquery())


def next_moment(connection):
    """When the next event is due, or the next claim ends; None when there is neither.

    What a lease has to do while another of its events is carried out comes after that one.
    """
    moments = connection.execute(_NEXT_MOMENTS).one()
    return min((moment for moment in moments if moment is not None), default=None)


# Of events that have the claim with which they were read.
_CLAIMED = EVENTS.c.id, EVENTS.c.claim_no
_IS_OURS = EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS
_CLAIM = among.Among(
    sa.update(EVENTS).where(sa.or_(EVENTS.c.status == lifecycle.EVENT_UNDONE, _IS_OURS))
    .values(claim_no=EVENTS.c.claim_no + 1, begun_at=sa.func.coalesce(EVENTS.c.begun_at, _NOW)),
    *_CLAIMED)


def claim(connection, found, owner, now, until):
    """Take events for `owner`; they are handed back as they are then.

    The caller has locked their leases, so that they are as they were read.

    :raises LostRace: one of them is not; nothing may be kept.
    """
    if not found:
        return []
    values = {'status': lifecycle.EVENT_IN_PROGRESS, 'claim_owner': owner,
              'claimed_until': until, 'updated_at': now}
    done = _CLAIM.execute(connection, _claims(found), {'now': now, **values})
    if done.rowcount != len(found):
        raise errors.LostRace()
    return [dataclasses.replace(event, claim_no=event.claim_no + 1,
                                begun_at=event.begun_at or now, **values)
            for event in found]


_HOLD = among.Among(sa.update(EVENTS).where(_IS_OURS), *_CLAIMED)
_HELD = among.Among(sa.select(EVENTS.c.id).where(_IS_OURS), *_CLAIMED)


def hold(connection, claimed, until):
    """Prolong claims to `until`; returns the ids of the events whose claim was not lost."""
    if not claimed:
        return set()
    mine = _claims(claimed)
    _HOLD.execute(connection, mine, {'claimed_until': until})
    return set(_HELD.execute(connection, mine).scalars())


_FINISH = among.Among(
    sa.update(EVENTS).where(_IS_OURS).values(claim_owner=None, claimed_until=None), *_CLAIMED)


def finish(connection, event, now, status, **values):
    """Record how a claimed event went.

    :raises LostRace: the claim was lost; nothing is written.
    """
    finish_all(connection, [event], now, status, **values)


def finish_all(connection, claimed, now, status, **values):
    """Record how claimed events went, the same of all.

    :raises LostRace: a claim was lost; nothing may be kept.
    """
    if not claimed:
        return
    done = _FINISH.execute(connection, _claims(claimed),
                           {'status': status, 'updated_at': now, **values})
    if done.rowcount != len(claimed):
        raise errors.LostRace()


def move(connection, event, now, at):
    """Let an event happen at another moment, also when it has happened already."""
    connection.execute(
        sa.update(EVENTS).where(EVENTS.c.id == event.id)
        .values(at=at, due_at=at, status=lifecycle.EVENT_UNDONE, begun_at=None, attempts=0,
                waits=0, updated_at=now))


_CLOSE = (
    sa.update(EVENTS)
    .where(EVENTS.c.lease_id == sa.bindparam('of_lease'), EVENTS.c.kind.in_(sa.bindparam('kinds')),
           EVENTS.c.status.in_(lifecycle.EVENT_OPEN)))


def close(connection, lease_id, now, kinds):
    """Mark the undone events of those kinds as done: there is nothing left to do."""
    connection.execute(_CLOSE, {'of_lease': lease_id, 'kinds': kinds,
                                'status': lifecycle.EVENT_DONE, 'updated_at': now})


def _claims(found):
    """The pairs that the statements of claimed events ask for."""
    return [(event.id, event.claim_no) for event in found]
