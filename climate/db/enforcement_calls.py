# SPDX-License-Identifier: Apache-2.0
"""The calls of the enforcement service."""
import dataclasses

import sqlalchemy as sa

from climate.db import tables
from climate.domain import enforcement
from climate.domain import lifecycle

CALLS = tables.ENFORCEMENT_CALLS
LEASES = tables.LEASES
_COLUMNS = tables.columns(CALLS, enforcement.EnforcementCall)
_SELECT = sa.select(*_COLUMNS)
_IS_OVER = sa.or_(LEASES.c.id.is_(None), LEASES.c.ended_at.is_not(None),
                  LEASES.c.deleted_at.is_not(None))
# Selects the leases whose end the service is still to hear.
KNOWS_LEASE = sa.exists().where(CALLS.c.lease_id == LEASES.c.id)


def add(connection, call):
    """Insert an EnforcementCall."""
    values = {column.name: getattr(call, column.name) for column in _COLUMNS}
    del values['id']
    connection.execute(sa.insert(CALLS).values(values))


def settle(connection, call):
    """Write that the lease of an ASKING call is written now, with the fields of the call.

    :returns: False if the call was withdrawn, because the request took too long.
    """
    settled = connection.execute(
        sa.update(CALLS)
        .where(CALLS.c.call_id == call.call_id, CALLS.c.state == enforcement.ASKING)
        .values(state=call.state, body=call.body, due_at=call.due_at, generation=call.generation)
        ).rowcount == 1
    if settled and call.state == enforcement.REPORTED:
        _forget_earlier(connection, call)
    return settled


def of_lease(connection, lease_id, locked=False):
    """Return the EnforcementCalls of a lease, in the order in which they were added."""
    statement = _SELECT.where(CALLS.c.lease_id == lease_id).order_by(CALLS.c.id)
    return _records(connection.execute(statement.with_for_update() if locked else statement))


def get(connection, call_id):
    """Return an EnforcementCall, or None."""
    return next(iter(_records(connection.execute(
        _SELECT.where(CALLS.c.call_id == call_id)))), None)


def due(connection, now, limit):
    """Return the EnforcementCalls that are due, at most one of each lease, oldest first.

    The calls about a lease are made in their order.
    """
    other = CALLS.alias()
    first = (sa.select(sa.func.min(other.c.id))
             .where(other.c.lease_id == CALLS.c.lease_id, other.c.state == enforcement.DUE)
             .scalar_subquery())
    return _records(connection.execute(
        _SELECT.where(CALLS.c.state == enforcement.DUE, CALLS.c.due_at <= now, CALLS.c.id == first)
        .order_by(CALLS.c.due_at, CALLS.c.id).limit(limit)))


def take(connection, call, until):
    """Postpone a DUE call until a moment, so that no other manager makes it.

    :returns: False if another manager took or made it.
    """
    return connection.execute(
        sa.update(CALLS)
        .where(CALLS.c.call_id == call.call_id, CALLS.c.state == enforcement.DUE,
               CALLS.c.due_at == call.due_at, CALLS.c.attempts == call.attempts)
        .values(due_at=until, attempts=call.attempts + 1)).rowcount == 1


def postpone(connection, call, due_at):
    """Set when a DUE call is made again."""
    connection.execute(sa.update(CALLS).where(
        CALLS.c.call_id == call.call_id, CALLS.c.state == enforcement.DUE).values(due_at=due_at))


def reported(connection, call):
    """Write that the service knows a lease as it is in a call. Earlier calls are forgotten."""
    if connection.execute(
            sa.update(CALLS).where(CALLS.c.call_id == call.call_id)
            .values(state=enforcement.REPORTED)).rowcount:
        _forget_earlier(connection, call)


def repeat(connection, lease_id, due_at):
    """Make the REPORTED call about a lease DUE again."""
    connection.execute(sa.update(CALLS).where(
        CALLS.c.lease_id == lease_id, CALLS.c.state == enforcement.REPORTED).values(
            state=enforcement.DUE, due_at=due_at))


def seen(connection, call, generation):
    """Write that a REPORTED call still describes its lease in a newer generation."""
    connection.execute(sa.update(CALLS).where(
        CALLS.c.call_id == call.call_id).values(generation=generation))


def forget(connection, calls):
    """Delete EnforcementCalls."""
    ids = [call.call_id for call in calls]
    if ids:
        connection.execute(sa.delete(CALLS).where(CALLS.c.call_id.in_(ids)))


def purge(connection, lease_ids):
    """Delete the calls about leases that are being deleted."""
    connection.execute(sa.delete(CALLS).where(CALLS.c.lease_id.in_(lease_ids)))


def replace(connection, call, following=None):
    """Delete a call and insert the following one, if there is one.

    :returns: False if the call is no longer in its state, so nothing was written.
    """
    if connection.execute(sa.delete(CALLS).where(
            CALLS.c.call_id == call.call_id, CALLS.c.state == call.state)).rowcount != 1:
        return False
    if following is not None:
        add(connection, following)
    return True


def stale(connection, moment, limit):
    """Return the calls that have been ASKING since before a moment, oldest first."""
    return _records(connection.execute(
        _SELECT.where(CALLS.c.state == enforcement.ASKING, CALLS.c.created_at <= moment)
        .order_by(CALLS.c.id).limit(limit)))


def of_leases_over(connection, limit):
    """Return the REPORTED calls whose lease is over or was purged, oldest first."""
    return _of_leases(connection, limit, _IS_OVER)


def of_leases_changed(connection, limit):
    """Return the REPORTED calls whose lease was changed since, oldest first."""
    return _of_leases(connection, limit, sa.not_(_IS_OVER),
                      LEASES.c.generation != CALLS.c.generation,
                      LEASES.c.state != lifecycle.ACQUIRING)


def _of_leases(connection, limit, *conditions):
    """Return the REPORTED calls that meet conditions and are the only ones of their leases."""
    other = CALLS.alias()
    return _records(connection.execute(
        _SELECT.select_from(CALLS.outerjoin(LEASES, LEASES.c.id == CALLS.c.lease_id))
        .where(CALLS.c.state == enforcement.REPORTED, *conditions,
               ~sa.exists().where(other.c.lease_id == CALLS.c.lease_id,
                                  other.c.state != enforcement.REPORTED))
        .order_by(CALLS.c.id).limit(limit)))


def counts(connection):
    """Return {state: (number of calls, when the oldest was added)}."""
    rows = connection.execute(sa.select(
        CALLS.c.state, sa.func.count(), sa.func.min(CALLS.c.created_at)).group_by(CALLS.c.state))
    return {state: (count, oldest) for state, count, oldest in rows}


def _forget_earlier(connection, call):
    """Delete the REPORTED calls about the lease of a call, except the call itself."""
    connection.execute(sa.delete(CALLS).where(
        CALLS.c.lease_id == call.lease_id, CALLS.c.state == enforcement.REPORTED,
        CALLS.c.call_id != call.call_id))


def _records(rows):
    return [enforcement.EnforcementCall(**dict(zip(_NAMES, row, strict=True))) for row in rows]


_NAMES = [field.name for field in dataclasses.fields(enforcement.EnforcementCall)]
