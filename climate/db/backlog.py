# SPDX-License-Identifier: Apache-2.0
"""The late and stuck work in the database, as numbers for the metrics."""
import sqlalchemy as sa

from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle

ALLOCATIONS = tables.ALLOCATIONS
EVENTS = tables.EVENTS
LEASES = tables.LEASES
OUTBOX = tables.OUTBOX
RESERVATIONS = tables.RESERVATIONS

#: The kinds of events whose delay users notice.
NOTICED = (event_kinds.START, event_kinds.END, event_kinds.DELETE)
_NOW = sa.bindparam('now', type_=tables.UtcDateTime)
_OVERDUE = (
    sa.select(EVENTS.c.kind, sa.func.min(EVENTS.c.at))
    .where(EVENTS.c.status.in_((lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS)),
           EVENTS.c.due_at <= sa.bindparam('horizon', type_=tables.UtcDateTime),
           EVENTS.c.at <= _NOW, EVENTS.c.kind.in_(NOTICED))
    .group_by(EVENTS.c.kind))
_HOLDING = (
    sa.select(sa.func.count(LEASES.c.id.distinct()))
    .join_from(LEASES, RESERVATIONS, RESERVATIONS.c.lease_id == LEASES.c.id)
    .join(ALLOCATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id)
    .where(LEASES.c.state == lifecycle.ERROR, LEASES.c.deleted_at.is_(None),
           RESERVATIONS.c.state != lifecycle.RESERVATION_DELETED,
           ALLOCATIONS.c.released_at.is_(None), ALLOCATIONS.c.start <= _NOW))
_WAITING = sa.select(sa.func.count(), sa.func.min(OUTBOX.c.at))


def overdue(connection, now, longest_pause):
    """Return {kind: the moment of the oldest overdue event}, for the kinds NOTICED.

    :param longest_pause: the longest time after which a failed event is due again. With this limit
        the query reads no events of the far future.
    """
    rows = connection.execute(_OVERDUE, {'now': now, 'horizon': now + longest_pause})
    return {kind: at for kind, at in rows}


def errors_that_hold(connection, now):
    """Return the number of leases in ERROR whose resources nobody else can use at `now`."""
    return connection.execute(_HOLDING, {'now': now}).scalar_one()


def outbox(connection):
    """Return (number of notifications in the outbox, moment of the oldest one or None)."""
    return tuple(connection.execute(_WAITING).one())
