# SPDX-License-Identifier: Apache-2.0
"""Leases in the database."""
import sqlalchemy as sa

from climate import errors
from climate.db import acquisitions
from climate.db import by_keys
from climate.db import engine
from climate.db import events
from climate.db import pages
from climate.db import reservations
from climate.db import tables
from climate.domain import acquire
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import status_words
from climate.domain import texts

LEASES = tables.LEASES
_COLUMNS = tables.columns(LEASES, records.Lease, 'reservations', 'events', 'acquisition',
                          'price', 'losses')

# Statements of every lease's life are built once, because building one costs more than running it.
_ADD = sa.insert(LEASES)
_SELECT = sa.select(*_COLUMNS)
_ONE = _SELECT.where(LEASES.c.id == sa.bindparam('lease_id'))
_LOCKED = _ONE.with_for_update()
# The key is whether the database can skip locked rows.
_LOCKED_ONES = {
    skips: by_keys.ByKeys(_SELECT.order_by(LEASES.c.id).with_for_update(skip_locked=skips),
                          LEASES.c.id) for skips in (False, True)}
# The bytes of a lease in a list, which has no secret fields.
_SIZE = (pages.length(LEASES.c.reason, LEASES.c.owner_reason)
         + pages.of_others(tables.RESERVATIONS.c.lease_id, LEASES.c.id, 256 + pages.length(
             tables.RESERVATIONS.c.request, tables.RESERVATIONS.c.binding))
         + pages.of_others(tables.EVENTS.c.lease_id, LEASES.c.id, 128)
         + pages.of_others(tables.ACQUISITIONS.c.lease_id, LEASES.c.id, pages.length(
             tables.ACQUISITIONS.c.plan, tables.ACQUISITIONS.c.notify_at)))
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


def lock_free(connection, lease_ids):
    """Lock the leases with these ids, except those that another transaction has locked.

    A database that cannot skip locked rows waits until the other transaction has ended.

    :returns: {lease id: the locked lease with all its parts}.
    """
    if not lease_ids:
        return {}
    locked = _LOCKED_ONES[engine.skips_locked(connection)]
    rows = locked.execute(connection, lease_ids).all()
    return {lease.id: lease for lease in _whole(connection, rows)}


def find(connection, query, now):
    """Return the leases that a LeaseQuery selects, in its order, with the events that are shown.

    The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.

    :raises LeaseNotFound: the marker is not the id of a lease.
    """
    statement = _SELECT.where(*_conditions(query, now))
    statement = _paged(connection, statement, query)
    rows, end = pages.read(connection, statement, _SIZE, query.most_bytes)
    return _whole(connection, rows, shown=True) + end


def of_key(connection, project_id, key, now):
    """Return the (request_hash, lease_id) that is stored for an Idempotency-Key, or None."""
    keys = tables.IDEMPOTENCY_KEYS
    row = connection.execute(
        sa.select(keys.c.request_hash, keys.c.lease_id)
        .where(keys.c.project_id == project_id, keys.c.key == key, keys.c.expires_at > now)
    ).one_or_none()
    return tuple(row) if row else None


def keep_key(connection, project_id, key, request_hash, lease_id, now, expires_at):
    """Record until `expires_at` that the request with `key` created `lease_id`.

    If another request stores the key at the same time, the primary key makes one of them fail.
    """
    keys = tables.IDEMPOTENCY_KEYS
    connection.execute(sa.delete(keys).where(keys.c.project_id == project_id, keys.c.key == key,
                                             keys.c.expires_at <= now))
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
    return _whole(connection, connection.execute(
        # The open states are listed, because no index finds "all states but some".
        _SELECT.where(LEASES.c.deleted_at.is_(None), LEASES.c.state.in_(lifecycle.OPEN))
        .order_by(LEASES.c.id)).all())


def mentioned(connection, ids):
    """Return the leases with one of these ids, or with a reservation with one of them, by id.

    Deleted leases are included.
    """
    if not ids:
        return []
    named = sorted(ids)
    owners = sa.select(tables.RESERVATIONS.c.lease_id).where(tables.RESERVATIONS.c.id.in_(named))
    return _whole(connection, connection.execute(
        _SELECT.where(sa.or_(LEASES.c.id.in_(named), LEASES.c.id.in_(owners)))
        .order_by(LEASES.c.id)).all())


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
    return _whole(connection, [row])[0]


def _whole(connection, rows, shown=False):
    ids = [row.id for row in rows]
    lease_reservations = reservations.of_leases(connection, ids)
    lease_events = events.of_leases(connection, ids, shown)
    # Only leases of these types have an acquisition that is shown.
    lease_acquisitions = acquisitions.of_leases(connection, [
        row.id for row in rows if row.acquire_type in acquire.LASTING])
    return [records.Lease(*row, reservations=lease_reservations.get(row.id, ()),
                          events=lease_events.get(row.id, ()),
                          acquisition=lease_acquisitions.get(row.id))
            for row in rows]


def _conditions(query, now):
    leases = LEASES.c
    if not query.deleted:
        yield leases.deleted_at.is_(None)
    if query.project_id is not None:
        yield leases.project_id == query.project_id
    if query.name is not None:
        # The length is compared too, because MariaDB's = ignores spaces at the end.
        yield leases.name == query.name
        yield sa.func.char_length(leases.name) == len(query.name)
    if query.starts_before is not None:
        yield leases.start < query.starts_before
    if query.ends_after is not None:
        yield leases.end > query.ends_after
    if query.status is not None:
        yield sa.or_(*(sa.and_(*_status_conditions(*each, now))
                       for each in status_words.all_selected(query.status)))
    if query.idle:
        yield sa.and_(leases.idle_since.is_not(None), leases.state == lifecycle.ACTIVE)
    if query.resource_id is not None:
        allocations, reserved = tables.ALLOCATIONS, tables.RESERVATIONS
        yield leases.id.in_(
            sa.select(reserved.c.lease_id).join_from(
                allocations, reserved, allocations.c.reservation_id == reserved.c.id)
            .where(allocations.c.resource_id == query.resource_id))


def _status_conditions(status, state, task, now):
    if task is not None:
        yield LEASES.c.task == task
        return
    yield LEASES.c.state == state
    yield LEASES.c.task.is_(None)
    if status == status_words.TO_BE_STARTED:
        yield LEASES.c.start <= now
    elif state == lifecycle.PENDING and status != status_words.word_1_0(state, None):
        # REST 1.1 has two words for this state; the one of REST 1.0 means both.
        yield LEASES.c.start > now


def _paged(connection, statement, query):
    # The id makes the order total, so that a marker names exactly one position.
    keys = [(LEASES.c[name], up) for name, up in query.sort] + [(LEASES.c.id, True)]
    # deleted_at is NULL for all leases that are not deleted. It is a sort key only because
    # PostgreSQL then recognizes the order of an index.
    first = [] if query.deleted else [(LEASES.c.deleted_at, keys[0][1])]
    statement = statement.order_by(*(column.asc() if up else column.desc()
                                     for column, up in first + keys))
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
        # The condition on the first key is redundant, but lets an index find the position.
        (column, up), value = keys[0], marker[0]
        statement = statement.where(column >= value if up else column <= value, sa.or_(*beyond))
    return statement.limit(query.limit) if query.limit is not None else statement
