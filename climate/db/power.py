# SPDX-License-Identifier: Apache-2.0
"""The power states of resources, and the log of the changes, in the database."""
import collections

import sqlalchemy as sa

from climate.db import tables
from climate.domain import lifecycle
from climate.domain import sleep

ALLOCATIONS = tables.ALLOCATIONS
CHANGES = tables.POWER_CHANGES
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
STATES = tables.POWER_STATES


def of(connection, resource_ids):
    """Return {id: Power} of resources. A resource that never slept is awake."""
    ids = list(resource_ids)
    stored = {row.resource_id: sleep.Power(*row) for row in connection.execute(
        sa.select(STATES.c.resource_id, STATES.c.state, STATES.c.since)
        .where(STATES.c.resource_id.in_(ids)))}
    return {key: stored.get(key, sleep.Power(key)) for key in ids}


def in_states(connection, states):
    """Return the Powers of enrolled resources in one of these states, in the order of the ids."""
    return [sleep.Power(*row) for row in connection.execute(
        sa.select(STATES.c.resource_id, STATES.c.state, STATES.c.since)
        .join_from(STATES, RESOURCES, STATES.c.resource_id == RESOURCES.c.id)
        .where(STATES.c.state.in_(list(states)), RESOURCES.c.withdrawn_at.is_(None))
        .order_by(STATES.c.resource_id))]


def change(connection, before, state, now):
    """Change the state of a resource, unless another transaction has changed the Power `before`.

    If a resource is woken while it is falling asleep, the interruption is recorded.

    :returns: whether the state was changed.
    """
    values = {'state': state, 'since': now}
    is_resource = STATES.c.resource_id == before.resource_id
    if before.since is None:
        # The caller holds the lock of the resource, so no other transaction inserts the same row.
        if connection.execute(sa.select(STATES.c.state).where(is_resource)).first() is not None:
            return False
        connection.execute(sa.insert(STATES).values(resource_id=before.resource_id, **values))
        return True
    done = connection.execute(sa.update(STATES).where(
        is_resource, STATES.c.state == before.state,
        STATES.c.since == before.since).values(**values))
    if done.rowcount != 1:
        return False
    if (before.state, state) == (sleep.FALLING, sleep.WAKING):
        note(connection, before.resource_id, sleep.INTERRUPTED, now)
    return True


def restart(connection, resource_ids, before, now):
    """Set the start of unfinished changes of power that began before a moment to `now`."""
    connection.execute(sa.update(STATES).where(
        STATES.c.resource_id.in_(list(resource_ids)), STATES.c.since < before,
        STATES.c.state.in_((sleep.FALLING, sleep.WAKING))).values(since=now))


def needed(connection, now, resource_ids=None, pools=()):
    """Return {resource id: NextAllocation} of the resources with an allocation that is not over.

    Blocks of maintenance or health, and offers, also have allocations. They do not need an awake
    resource, but its power must not be changed during such an allocation.

    :param resource_ids: the resources; None: the enrolled resources of `pools`.
    """
    of_lease = sa.case((RESERVATIONS.c.id.is_not(None), ALLOCATIONS.c.start))
    statement = (
        sa.select(ALLOCATIONS.c.resource_id, sa.func.min(ALLOCATIONS.c.start),
                  sa.func.min(of_lease))
        .where(ALLOCATIONS.c.released_at.is_(None), ALLOCATIONS.c.end > now)
        .group_by(ALLOCATIONS.c.resource_id))
    if resource_ids is not None:
        source = ALLOCATIONS
        statement = statement.where(ALLOCATIONS.c.resource_id.in_(list(resource_ids)))
    else:
        source = ALLOCATIONS.join(RESOURCES, ALLOCATIONS.c.resource_id == RESOURCES.c.id)
        statement = statement.where(RESOURCES.c.pool.in_(list(pools)))
    statement = statement.select_from(source.outerjoin(
        RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id))
    return {row[0]: sleep.NextAllocation(*row[1:]) for row in connection.execute(statement)}


def future_leases(connection, resource_ids, now, until):
    """Return triples (resource id, lease id, start) of future leases of these resources.

    :param until: only leases that start before this moment.
    """
    return [tuple(row) for row in connection.execute(
        sa.select(ALLOCATIONS.c.resource_id, LEASES.c.id, LEASES.c.start).distinct()
        .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
        .where(ALLOCATIONS.c.resource_id.in_(list(resource_ids)),
               ALLOCATIONS.c.released_at.is_(None), ALLOCATIONS.c.end > now,
               ALLOCATIONS.c.start < until, LEASES.c.state == lifecycle.PENDING,
               LEASES.c.start > now))]


def note(connection, resource_id, kind, now, seconds=None):
    """Record that a resource fell asleep, woke up or did not wake up.

    :param seconds: the duration of the wake-up.
    """
    connection.execute(sa.insert(CHANGES).values(resource_id=resource_id, kind=kind, at=now,
                                                 seconds=seconds))


def cycles(connection, since):
    """Return {resource id: number of times that it fell asleep since a moment}."""
    return collections.Counter(connection.execute(
        sa.select(CHANGES.c.resource_id).where(CHANGES.c.at > since,
                                               CHANGES.c.kind == sleep.SLEPT)).scalars())


def fell_asleep(connection, resource_ids, since):
    """Return whether one of the resources fell asleep, or was falling asleep, since a moment."""
    return connection.execute(
        sa.select(CHANGES.c.id).where(
            CHANGES.c.resource_id.in_(list(resource_ids)), CHANGES.c.at > since,
            CHANGES.c.kind.in_((sleep.SLEPT, sleep.INTERRUPTED))).limit(1)).first() is not None


def wake_seconds(connection, since):
    """Return {resource id: [duration in seconds of each wake-up since a moment]}."""
    durations = collections.defaultdict(list)
    for resource_id, seconds in connection.execute(
            sa.select(CHANGES.c.resource_id, CHANGES.c.seconds)
            .where(CHANGES.c.at > since, CHANGES.c.kind == sleep.WOKE,
                   CHANGES.c.seconds.is_not(None))):
        durations[resource_id].append(seconds)
    return durations


def counts(connection, since):
    """Return ({state: number of resources}, {kind of change: number since a moment})."""
    states = connection.execute(
        sa.select(STATES.c.state, sa.func.count())
        .join_from(STATES, RESOURCES, STATES.c.resource_id == RESOURCES.c.id)
        .where(RESOURCES.c.withdrawn_at.is_(None)).group_by(STATES.c.state))
    changes = connection.execute(sa.select(CHANGES.c.kind, sa.func.count())
                                 .where(CHANGES.c.at > since).group_by(CHANGES.c.kind))
    return dict(map(tuple, states)), dict(map(tuple, changes))


def forget(connection, before):
    """Delete the changes that were recorded before a moment."""
    connection.execute(sa.delete(CHANGES).where(CHANGES.c.at < before))
