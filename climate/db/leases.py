# SPDX-License-Identifier: Apache-2.0
"""Leases in the database."""
import sqlalchemy as sa

from climate import errors
from climate.db import acquisitions
from climate.db import by_keys
from climate.db import engine
from climate.db import events
from climate.db import reservations
from climate.db import shares
from climate.db import sub_leases
from climate.db import tables
from climate.domain import acquire
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import texts
from climate.domain.series import series_records

LEASES = tables.LEASES
_COLUMNS = tables.columns(LEASES, records.Lease, 'reservations', 'events', 'acquisition',
                          'price', 'losses', 'late_cancel', 'user_name', 'project_name', 'shares',
                          'sub_leases', 'parent')

# Statements of every lease's life are built once, because building one costs more than running it.
_ADD = sa.insert(LEASES)
SELECT = sa.select(*_COLUMNS)
_ONE = SELECT.where(LEASES.c.id == sa.bindparam('lease_id'))
_LOCKED = _ONE.with_for_update()
# The key is whether the database can skip locked rows.
_LOCKED_ONES = {
    skips: by_keys.ByKeys(SELECT.order_by(LEASES.c.id).with_for_update(skip_locked=skips),
                          LEASES.c.id) for skips in (False, True)}
_CHANGE = (
    sa.update(LEASES)
    .where(LEASES.c.id == sa.bindparam('lease_id'),
           LEASES.c.generation == sa.bindparam('read_generation'),
           LEASES.c.claim_no == sa.bindparam('read_claim_no')))


def add(connection, lease):
    """Insert a lease with its reservations, events and acquisition."""
    add_all(connection, [lease])


def add_all(connection, leases):
    """Insert leases, at least one, with their reservations, events and acquisitions."""
    connection.execute(_ADD, [_values(lease) for lease in leases])
    reservations.add_all(connection, [lease.reservations for lease in leases])
    events.add(connection, [event for lease in leases for event in lease.events])
    for lease in leases:
        if lease.acquisition is not None:
            acquisitions.add(connection, lease)


def get(connection, lease_id):
    """Return a lease with all its parts, even if it is deleted.

    :raises LeaseNotFound: no lease has that id.
    """
    return _one(connection, _ONE, lease_id)


def lock(connection, lease_id):
    """Lock the row of a lease until the transaction ends; return the lease with all its parts.

    :raises LeaseNotFound: no lease has that id.
    """
    return _one(connection, _LOCKED, lease_id)


def lock_all(connection, lease_ids):
    """Lock the leases with these ids, in their order; return them with all their parts."""
    if not lease_ids:
        return []
    return whole(connection, _LOCKED_ONES[False].execute(connection, sorted(lease_ids)).all())


def lock_free(connection, lease_ids):
    """Lock the leases with these ids, except those that another transaction has locked.

    A database that cannot skip locked rows waits until the other transaction has ended.

    :returns: {lease id: the locked lease with all its parts}.
    """
    if not lease_ids:
        return {}
    locked = _LOCKED_ONES[engine.skips_locked(connection)]
    rows = locked.execute(connection, lease_ids).all()
    return {lease.id: lease for lease in whole(connection, rows)}


def of_key(connection, project_id, key, now):
    """Return the (request_hash, id of the lease or series) of an Idempotency-Key, or None."""
    keys = tables.IDEMPOTENCY_KEYS
    row = connection.execute(
        sa.select(keys.c.request_hash, keys.c.lease_id)
        .where(keys.c.project_id == project_id, keys.c.key == key, keys.c.expires_at > now)
    ).one_or_none()
    return tuple(row) if row else None


def keep_key(connection, project_id, key, request_hash, lease_id, now, expires_at):
    """Record until `expires_at` that the request with `key` created a lease or a series.

    A key of a series that was not finished is free. If another request stores the key at the same
    time, the primary key makes one of them fail.
    """
    keys = tables.IDEMPOTENCY_KEYS
    connection.execute(sa.delete(keys).where(
        keys.c.project_id == project_id, keys.c.key == key, sa.or_(
            keys.c.expires_at <= now, keys.c.lease_id.in_(sa.select(tables.SERIES.c.id).where(
                tables.SERIES.c.status == series_records.UNDONE)))))
    connection.execute(sa.insert(keys).values(
        project_id=project_id, key=key, request_hash=request_hash, lease_id=lease_id,
        expires_at=expires_at))


def change(connection, lease, now, **values):
    """Update a lease with `values` and increase its generation.

    :param values: new values of its columns; `reason` is a ``texts.Text``, or None.
    :raises LostRace: the lease was changed or claimed since it was read.
    """
    if 'reason' in values:
        values |= texts.columns('reason', values['reason'])
    done = connection.execute(_CHANGE, {
        'lease_id': lease.id, 'read_generation': lease.generation,
        'read_claim_no': lease.claim_no, 'generation': lease.generation + 1, 'updated_at': now,
        **values})
    if done.rowcount != 1:
        raise errors.LostRace()


def open_ones(connection):
    """Return the leases that are not over, by id."""
    return whole(connection, connection.execute(
        # The open states are listed, because no index finds "all states but some".
        SELECT.where(LEASES.c.deleted_at.is_(None), LEASES.c.state.in_(lifecycle.OPEN))
        .order_by(LEASES.c.id)).all())


def mentioned(connection, ids):
    """Return the leases with one of these ids, or with a reservation with one of them, by id.

    Deleted leases are included.
    """
    if not ids:
        return []
    named = sorted(ids)
    owners = sa.select(tables.RESERVATIONS.c.lease_id).where(tables.RESERVATIONS.c.id.in_(named))
    return whole(connection, connection.execute(
        SELECT.where(sa.or_(LEASES.c.id.in_(named), LEASES.c.id.in_(owners)))
        .order_by(LEASES.c.id)).all())


def deleted_early(connection, ids):
    """Return those of the ids whose leases were deleted before they had started, as a set."""
    return set(connection.execute(sa.select(LEASES.c.id).where(
        LEASES.c.id.in_(sorted(filter(None, ids))), LEASES.c.deleted_at.is_not(None),
        LEASES.c.deleted_at < LEASES.c.start)).scalars())


def any_exist(connection):
    """Return whether there is any lease, even a deleted one."""
    return connection.execute(sa.select(LEASES.c.id).limit(1)).first() is not None


def counts(connection):
    """Return {state: number of leases that are not deleted}."""
    rows = connection.execute(
        sa.select(LEASES.c.state, sa.func.count()).where(LEASES.c.deleted_at.is_(None))
        .group_by(LEASES.c.state))
    return {state: count for state, count in rows}


def _values(lease):
    return {column.name: getattr(lease, column.name) for column in _COLUMNS}


def _one(connection, statement, lease_id):
    row = connection.execute(statement, {'lease_id': lease_id}).one_or_none()
    if row is None:
        raise errors.LeaseNotFound(lease_id=lease_id)
    return whole(connection, [row])[0]


def whole(connection, rows, shown=False):
    """Return the Leases of rows of SELECT, with all their parts.

    :param shown: only with the events that responses show, or by which they list actions.
    """
    ids = [row.id for row in rows]
    lease_reservations = reservations.of_leases(connection, ids)
    lease_events = events.of_leases(connection, ids, shown)
    # Only leases of these types have an acquisition that is shown.
    lease_acquisitions = acquisitions.of_leases(connection, [
        row.id for row in rows if row.acquire_type in acquire.LASTING])
    lease_shares = shares.of_leases(connection, [row.id for row in rows if row.shared])
    subs = sub_leases.of_parents(connection, [row.id for row in rows if row.sub_leased])
    parents = sub_leases.parents(connection, {row.parent_id for row in rows if row.parent_id})
    return [records.Lease(*row, reservations=lease_reservations.get(row.id, ()),
                          events=lease_events.get(row.id, ()),
                          acquisition=lease_acquisitions.get(row.id),
                          shares=lease_shares.get(row.id, ()),
                          sub_leases=subs.get(row.id, ()), parent=parents.get(row.parent_id))
            for row in rows]
