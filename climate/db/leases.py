# SPDX-License-Identifier: Apache-2.0
"""Leases in the database."""
import dataclasses

import sqlalchemy as sa

from climate import errors
from climate.db import acquisitions
from climate.db import engine
from climate.db import events
from climate.db import reservations
from climate.db import tables
from climate.domain import acquire
from climate.domain import lifecycle
from climate.domain import records

LEASES = tables.LEASES
_COLUMNS = tuple(field.name for field in dataclasses.fields(records.Lease)
                 if field.name not in ('reservations', 'events', 'acquisition'))

# The statements of each lease's life are built once: building one costs more than asking it.
_ADD = sa.insert(LEASES)
_SELECT = sa.select(*(LEASES.c[name] for name in _COLUMNS))
_ONE = _SELECT.where(LEASES.c.id == sa.bindparam('lease_id'))
_LOCKED = _ONE.with_for_update()
_THESE = _SELECT.where(LEASES.c.id.in_(sa.bindparam('lease_ids'))).order_by(LEASES.c.id)
_CHANGE = (
    sa.update(LEASES)
    .where(LEASES.c.id == sa.bindparam('lease_id'),
           LEASES.c.generation == sa.bindparam('read_generation'),
           LEASES.c.claim_no == sa.bindparam('read_claim_no')))


def add(connection, lease):
    """Write a new lease with its reservations and events."""
    connection.execute(_ADD, _values(lease))
    reservations.add(connection, lease.reservations)
    events.add(connection, lease.events)
    if lease.acquisition is not None:
        acquisitions.add(connection, lease)


def get(connection, lease_id):
    """The lease, whole, a deleted one too.

    :raises LeaseNotFound: no lease has that id.
    """
    return _one(connection, _ONE, lease_id)


def lock(connection, lease_id):
    """The lease, whole, its row locked until the transaction ends.

    :raises LeaseNotFound: no lease has that id.
    """
    return _one(connection, _LOCKED, lease_id)


def lock_free(connection, lease_ids):
    """{lease id: the lease, whole and locked} of those that nobody else has locked.

    A database that cannot pass over locked rows waits for them.
    """
    if not lease_ids:
        return {}
    rows = connection.execute(engine.locking(connection, _THESE),
                              {'lease_ids': list(lease_ids)}).all()
    return {lease.id: lease for lease in _whole(connection, rows)}


def find(connection, query, now):
    """The leases that a LeaseQuery asks for, whole, in its order.

    :raises LeaseNotFound: the marker is no lease.
    """
    statement = _SELECT.where(*_conditions(query, now))
    statement = _paged(connection, statement, query)
    return _whole(connection, connection.execute(statement).all())


def of_key(connection, project_id, key, now):
    """What an Idempotency-Key stands for: (request_hash, lease_id), or None."""
    keys = tables.IDEMPOTENCY_KEYS
    row = connection.execute(
        sa.select(keys.c.request_hash, keys.c.lease_id)
        .where(keys.c.project_id == project_id, keys.c.key == key, keys.c.expires_at > now)
    ).one_or_none()
    return tuple(row) if row else None


def keep_key(connection, project_id, key, request_hash, lease_id, now, expires_at):
    """Remember that `key` made `lease_id`, until `expires_at`.

    A key that another request keeps at the same time fails by the primary key.
    """
    keys = tables.IDEMPOTENCY_KEYS
    connection.execute(sa.delete(keys).where(keys.c.project_id == project_id, keys.c.key == key,
                                             keys.c.expires_at <= now))
    connection.execute(sa.insert(keys).values(
        project_id=project_id, key=key, request_hash=request_hash, lease_id=lease_id,
        expires_at=expires_at))


def change(connection, lease, now, **values):
    """Write `values` to a lease that nobody changed since it was read; its generation rises.

    :raises LostRace: somebody changed the lease meanwhile.
    """
    done = connection.execute(_CHANGE, {
        'lease_id': lease.id, 'read_generation': lease.generation,
        'read_claim_no': lease.claim_no, 'generation': lease.generation + 1, 'updated_at': now,
        **values})
    if done.rowcount != 1:
        raise errors.LostRace()


def with_trusts(connection, trust_ids):
    """Those of `trust_ids` that a lease still has, as a set."""
    if not trust_ids:
        return set()
    return set(connection.execute(
        sa.select(LEASES.c.trust_id).where(LEASES.c.trust_id.in_(list(trust_ids)))).scalars())


def open_ones(connection):
    """The leases that are not over, whole, by id."""
    return _whole(connection, connection.execute(
        # By name: of all states but some, no index tells where they are.
        _SELECT.where(LEASES.c.deleted_at.is_(None), LEASES.c.state.in_(lifecycle.OPEN))
        .order_by(LEASES.c.id)).all())


def mentioned(connection, ids):
    """The leases that have one of these ids, or a reservation that has, whole, by id.

    Deleted ones too.
    """
    if not ids:
        return []
    named = sorted(ids)
    theirs = sa.select(tables.RESERVATIONS.c.lease_id).where(tables.RESERVATIONS.c.id.in_(named))
    return _whole(connection, connection.execute(
        _SELECT.where(sa.or_(LEASES.c.id.in_(named), LEASES.c.id.in_(theirs)))
        .order_by(LEASES.c.id)).all())


def are_there(connection):
    """True where there is a lease, be it a deleted one."""
    return connection.execute(sa.select(LEASES.c.id).limit(1)).first() is not None


def counts(connection):
    """{state: how many leases that are not deleted}."""
    rows = connection.execute(
        sa.select(LEASES.c.state, sa.func.count()).where(LEASES.c.deleted_at.is_(None))
        .group_by(LEASES.c.state))
    return {state: count for state, count in rows}


def _values(lease):
    return {name: getattr(lease, name) for name in _COLUMNS}


def _one(connection, statement, lease_id):
    row = connection.execute(statement, {'lease_id': lease_id}).one_or_none()
    if row is None:
        raise errors.LeaseNotFound(lease_id=lease_id)
    return _whole(connection, [row])[0]


def _whole(connection, rows):
    ids = [row.id for row in rows]
    of_lease = reservations.of_leases(connection, ids)
    happening = events.of_leases(connection, ids)
    # Most have none, and nothing is asked for them.
    sought = acquisitions.of_leases(connection, [
        row.id for row in rows if row.acquire_type in acquire.LASTING])
    return [records.Lease(**row._mapping, reservations=of_lease.get(row.id, ()),
                          events=happening.get(row.id, ()), acquisition=sought.get(row.id))
            for row in rows]


def _conditions(query, now):
    leases = LEASES.c
    if not query.deleted:
        yield leases.deleted_at.is_(None)
    if query.project_id is not None:
        yield leases.project_id == query.project_id
    if query.name is not None:
        # MariaDB's = does not see spaces at the end.
        yield leases.name == query.name
        yield sa.func.char_length(leases.name) == len(query.name)
    if query.starts_before is not None:
        yield leases.start < query.starts_before
    if query.ends_after is not None:
        yield leases.end > query.ends_after
    if query.status is not None:
        yield from _status_conditions(query.status, now)
    if query.resource_id is not None:
        allocations, reserved = tables.ALLOCATIONS, tables.RESERVATIONS
        yield leases.id.in_(
            sa.select(reserved.c.lease_id).join_from(
                allocations, reserved, allocations.c.reservation_id == reserved.c.id)
            .where(allocations.c.resource_id == query.resource_id))


def _status_conditions(status, now):
    state, task = lifecycle.meaning(status)
    if task is not None:
        yield LEASES.c.task == task
        return
    yield LEASES.c.state == state
    yield LEASES.c.task.is_(None)
    if status == lifecycle.TO_BE_STARTED:
        yield LEASES.c.start <= now
    elif state == lifecycle.PENDING and status != lifecycle.words(state, None, now, now)[0]:
        # Of the two words of REST 1.1; the one of 1.0 means both.
        yield LEASES.c.start > now


def _paged(connection, statement, query):
    # The id makes the order total, so that a marker names one place in it.
    keys = [(LEASES.c[name], up) for name, up in query.sort] + [(LEASES.c.id, True)]
    statement = statement.order_by(*(column.asc() if up else column.desc()
                                     for column, up in keys))
    if query.marker is not None:
        marker = connection.execute(
            sa.select(*(column for column, _ in keys)).where(
                LEASES.c.id == query.marker,
                *([LEASES.c.project_id == query.project_id] if query.project_id else []))
        ).one_or_none()
        if marker is None:
            raise errors.LeaseNotFound(lease_id=query.marker)
        beyond, same = [], []
        for (column, up), value in zip(keys, marker, strict=True):
            beyond.append(sa.and_(*same, column > value if up else column < value))
            same.append(column == value)
        statement = statement.where(sa.or_(*beyond))
    return statement.limit(query.limit) if query.limit is not None else statement
