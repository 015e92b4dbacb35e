# SPDX-License-Identifier: Apache-2.0
"""Leases to bill: which of them are due, and failed attempts."""
import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import allocations
from climate.db import tables
from climate.db import use_samples
from climate.domain import ledger

ALLOCATIONS = tables.ALLOCATIONS
BILLS = tables.BILLS
BOOKS = tables.PRICE_BOOKS
CANCELS = tables.LATE_CANCELS
FAILED = tables.FAILED_BILLS
LEASES = tables.LEASES
MONTHS = tables.BILLING_MONTHS
RESERVATIONS = tables.RESERVATIONS

_NOW = sa.bindparam('now', type_=tables.UtcDateTime)
_MONTH = sa.bindparam('month', type_=tables.UtcDateTime)
_AFTER = sa.bindparam('after', type_=tables.UtcDateTime)

# The lease was never billed, has changed or ended since, or was running in a past month that is not
# billed.
_NEW = sa.or_(
    BILLS.c.lease_id.is_(None), BILLS.c.generation != LEASES.c.generation,
    sa.and_(ALLOCATIONS.c.end <= _NOW, ALLOCATIONS.c.end > BILLS.c.billed_until),
    sa.and_(ALLOCATIONS.c.start < _MONTH, BILLS.c.billed_until < _MONTH))
# The index on the end of allocations finds these. Allocations that ended before the last
# closed month are not read, so the cost does not grow with the history.
_UNBILLED = (
    sa.select(LEASES.c.id).distinct()
    .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
    .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
    .outerjoin(BILLS, BILLS.c.lease_id == LEASES.c.id)
    .where(ALLOCATIONS.c.end >= _AFTER, ALLOCATIONS.c.start < _NOW,
           # An allocation that does not count any more may have been billed.
           sa.or_(sa.and_(allocations.COUNTS, RESERVATIONS.c.started_at.is_not(None)),
                  BILLS.c.lease_id.is_not(None)),
           sa.or_(ALLOCATIONS.c.end <= _NOW, ALLOCATIONS.c.start < _MONTH), _NEW,
           # `failed_due` returns these.
           ~sa.exists().where(FAILED.c.lease_id == LEASES.c.id))
    .order_by(LEASES.c.id).limit(sa.bindparam('limit', type_=sa.Integer)))

# Late cancellations that no bill has read. They are not in `_UNBILLED`, because a lease that was
# deleted before its start has no allocations.
_CANCELLED = (
    sa.select(LEASES.c.id).distinct()
    .join_from(CANCELS, LEASES, LEASES.c.id == CANCELS.c.lease_id)
    .outerjoin(BILLS, BILLS.c.lease_id == LEASES.c.id)
    .where(CANCELS.c.cancelled_at >= _AFTER, CANCELS.c.cancelled_at <= _NOW,
           sa.or_(BILLS.c.lease_id.is_(None), BILLS.c.generation != LEASES.c.generation,
                  BILLS.c.billed_until < CANCELS.c.cancelled_at),
           ~sa.exists().where(FAILED.c.lease_id == LEASES.c.id))
    .order_by(LEASES.c.id).limit(sa.bindparam('limit', type_=sa.Integer)))


@dataclasses.dataclass(frozen=True)
class Bill:
    """The progress of the billing of a lease; see ``tables.BILLS``."""

    lease_id: str
    billed_until: datetime.datetime
    generation: int
    properties: dict


def unbilled(connection, after, now, month, limit):
    """Return the ids of at most `limit` leases that must be billed.

    Leases that could not be billed are left out; see `failed_due`.

    :param after: allocations that ended before this moment are billed.
    :param month: the beginning of the present month.
    """
    return list(connection.execute(_UNBILLED, {
        'after': after, 'now': now, 'month': month, 'limit': limit}).scalars())


def cancelled(connection, after, now, limit):
    """Return the ids of at most `limit` leases whose late cancellations must be billed.

    :param after: cancellations before this moment are billed.
    """
    return list(connection.execute(
        _CANCELLED, {'after': after, 'now': now, 'limit': limit}).scalars())


def get(connection, lease_id):
    """Return the Bill of a lease, or None."""
    row = connection.execute(sa.select(BILLS).where(BILLS.c.lease_id == lease_id)).one_or_none()
    return None if row is None else Bill(**row._mapping)


def write(connection, bill, is_new):
    """Write how far a lease is billed.

    :raises Duplicate: `is_new`, but the lease has a row.
    """
    values = vars(bill)
    if is_new:
        connection.execute(sa.insert(BILLS).values(**values))
        return
    connection.execute(sa.update(BILLS).where(BILLS.c.lease_id == bill.lease_id).values(**values))


def failed_due(connection, now, limit):
    """Return the ids of at most `limit` leases whose failed bills must be tried again."""
    return list(connection.execute(
        sa.select(FAILED.c.lease_id).where(FAILED.c.next_at <= now)
        .order_by(FAILED.c.next_at, FAILED.c.lease_id).limit(limit)).scalars())


def failed_attempts(connection, lease_id):
    """Return the number of consecutive failed attempts to bill a lease."""
    return connection.execute(sa.select(FAILED.c.attempts).where(
        FAILED.c.lease_id == lease_id)).scalar() or 0


def write_failure(connection, lease_id, number, now, next_at):
    """Record a failed attempt.

    :param number: the number of failed attempts, including this one.
    :raises Duplicate: another manager has recorded the first failure.
    """
    if number == 1:
        connection.execute(sa.insert(FAILED).values(
            lease_id=lease_id, since=now, attempts=1, next_at=next_at))
        return
    connection.execute(sa.update(FAILED).where(FAILED.c.lease_id == lease_id)
                       .values(attempts=number, next_at=next_at))


def forget_failures(connection, lease_id):
    """Delete the failures of a lease that is billed or deleted."""
    connection.execute(sa.delete(FAILED).where(FAILED.c.lease_id == lease_id))


def count_failed(connection):
    """Return the number of leases that could not be billed."""
    return connection.execute(sa.select(sa.func.count()).select_from(FAILED)).scalar_one()


def unsettled(begin):
    """Return the condition that selects leases that are not completely billed.

    :param begin: allocations that ended before this moment are billed or free.
    """
    not_yet = sa.exists().where(
        RESERVATIONS.c.lease_id == LEASES.c.id, RESERVATIONS.c.started_at.is_not(None),
        ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id, allocations.COUNTS,
        ALLOCATIONS.c.end >= begin, ALLOCATIONS.c.start < ALLOCATIONS.c.end,
        ~sa.exists().where(BILLS.c.lease_id == LEASES.c.id,
                           BILLS.c.billed_until >= ALLOCATIONS.c.end))
    cancelled_since = sa.exists().where(
        CANCELS.c.lease_id == LEASES.c.id, CANCELS.c.cancelled_at >= begin,
        ~sa.exists().where(BILLS.c.lease_id == LEASES.c.id,
                           BILLS.c.generation == LEASES.c.generation))
    return sa.or_(not_yet, cancelled_since,
                  sa.exists().where(FAILED.c.lease_id == LEASES.c.id))


def settled_samples(connection, now):
    """Return the conditions that select the samples of use that no bill will read again."""
    begin = settled_until(connection)
    if begin is None:
        return ()
    month = ledger.begin_of(ledger.month_of(now))
    own = RESERVATIONS.c.id == use_samples.SAMPLES.c.reservation_id
    not_yet = sa.exists().where(
        own, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id, allocations.COUNTS,
        ALLOCATIONS.c.end >= begin, ALLOCATIONS.c.start < ALLOCATIONS.c.end,
        ~sa.exists().where(BILLS.c.lease_id == RESERVATIONS.c.lease_id, sa.or_(
            BILLS.c.billed_until >= ALLOCATIONS.c.end, BILLS.c.billed_until >= month)))
    failed = sa.exists().where(own, FAILED.c.lease_id == RESERVATIONS.c.lease_id)
    # The present month is billed at its end.
    return use_samples.SAMPLES.c.hour < month, ~not_yet, ~failed


def settled_until(connection):
    """Return the moment up to which everything is billed or free; None: there is no price book."""
    first = connection.execute(sa.select(sa.func.min(BOOKS.c.valid_from))).scalar()
    closed = connection.execute(sa.select(sa.func.max(MONTHS.c.month)).where(
        MONTHS.c.closed_at.is_not(None))).scalar()
    if first is None or closed is None:
        return first
    return max(first, ledger.end_of(closed))
