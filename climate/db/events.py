# SPDX-License-Identifier: Apache-2.0
"""Events in the database: what is due, who carries it out, how it went."""
import collections
import dataclasses

from oslo_utils import uuidutils
import sqlalchemy as sa

from climate import errors
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import records

EVENTS = tables.EVENTS
_COLUMNS = tuple(EVENTS.c)


def new(lease_id, kind, at, now):
    """The record of an event of a lease that is to happen at the moment `at`; not written yet."""
    return records.Event(id=uuidutils.generate_uuid(), lease_id=lease_id, kind=kind, at=at,
                         due_at=at, created_at=now)


def add(connection, events):
    """Write new events."""
    rows = [dataclasses.asdict(event) for event in events]
    if rows:
        connection.execute(sa.insert(EVENTS), rows)


def of_leases(connection, lease_ids):
    """{lease id: its events by their moment}."""
    if not lease_ids:
        return {}
    rows = connection.execute(
        sa.select(*_COLUMNS).where(EVENTS.c.lease_id.in_(lease_ids))
        .order_by(EVENTS.c.lease_id, EVENTS.c.at, EVENTS.c.id))
    found = collections.defaultdict(tuple)
    for row in rows:
        found[row.lease_id] += (records.Event(**row._mapping),)
    return dict(found)


def due(connection, now, limit):
    """The events to carry out at `now` in the order of their moments, `limit` at most.

    Among them those that a manager claimed and did not finish in time.
    """
    rows = connection.execute(
        sa.select(*_COLUMNS)
        .where(sa.or_(
            sa.and_(EVENTS.c.status == lifecycle.EVENT_UNDONE, EVENTS.c.due_at <= now),
            sa.and_(EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS,
                    EVENTS.c.claimed_until <= now)))
        .order_by(EVENTS.c.at, EVENTS.c.id).limit(limit))
    return [records.Event(**row._mapping) for row in rows]


def busy_leases(connection, lease_ids, now):
    """Those of `lease_ids` of which an event is being carried out at `now`, as a set."""
    return set(connection.execute(
        sa.select(EVENTS.c.lease_id)
        .where(EVENTS.c.lease_id.in_(list(lease_ids)),
               EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS,
               EVENTS.c.claimed_until > now)).scalars())


def next_moment(connection):
    """When the next event is due, or the next claim ends; None when there is neither."""
    undone = connection.execute(
        sa.select(sa.func.min(EVENTS.c.due_at))
        .where(EVENTS.c.status == lifecycle.EVENT_UNDONE)).scalar()
    claimed = connection.execute(
        sa.select(sa.func.min(EVENTS.c.claimed_until))
        .where(EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS)).scalar()
    return min((moment for moment in (undone, claimed) if moment is not None), default=None)


def claim(connection, event, owner, now, until):
    """Take an event for `owner`; hand it back as it is then, or None when another was faster."""
    values = {'status': lifecycle.EVENT_IN_PROGRESS, 'claim_owner': owner,
              'claim_no': event.claim_no + 1, 'claimed_until': until, 'updated_at': now,
              'begun_at': event.begun_at or now}
    done = connection.execute(
        sa.update(EVENTS)
        .where(EVENTS.c.id == event.id, EVENTS.c.claim_no == event.claim_no,
               EVENTS.c.status == event.status)
        .values(**values))
    return dataclasses.replace(event, **values) if done.rowcount == 1 else None


def hold(connection, event, until):
    """Prolong a claim to `until`; False when it was lost."""
    return connection.execute(
        sa.update(EVENTS)
        .where(EVENTS.c.id == event.id, EVENTS.c.claim_no == event.claim_no,
               EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS)
        .values(claimed_until=until)).rowcount == 1


def finish(connection, event, now, status, **values):
    """Record how a claimed event went.

    :raises LostRace: the claim was lost; nothing is written.
    """
    done = connection.execute(
        sa.update(EVENTS)
        .where(EVENTS.c.id == event.id, EVENTS.c.claim_no == event.claim_no,
               EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS)
        .values(status=status, claim_owner=None, claimed_until=None, updated_at=now, **values))
    if done.rowcount != 1:
        raise errors.LostRace()


def move(connection, event, now, at):
    """Let an event happen at another moment, also when it has happened already."""
    connection.execute(
        sa.update(EVENTS).where(EVENTS.c.id == event.id)
        .values(at=at, due_at=at, status=lifecycle.EVENT_UNDONE, begun_at=None, attempts=0,
                waits=0, updated_at=now))


def close(connection, lease_id, now, kinds):
    """Mark the undone events of those kinds as done: there is nothing left to do."""
    connection.execute(
        sa.update(EVENTS)
        .where(EVENTS.c.lease_id == lease_id, EVENTS.c.kind.in_(kinds),
               EVENTS.c.status.in_([lifecycle.EVENT_UNDONE, lifecycle.EVENT_ERROR]))
        .values(status=lifecycle.EVENT_DONE, updated_at=now))
