# SPDX-License-Identifier: Apache-2.0
"""Reminders in the database: the leases for which subscriptions get a reminder of the end."""
import datetime

import sqlalchemy as sa

from climate.db import by_keys
from climate.db import engine
from climate.db import shares
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import notifications
from climate.domain import subscriptions

LEASES = tables.LEASES
REMINDERS = tables.REMINDERS
SCANS = tables.REMINDER_SCANS
_SCAN = 1
# The maximum number of spans of time in one statement.
_BATCH = 100
_ANY = sa.select(REMINDERS.c.seconds).limit(1)


def any_wanted(connection):
    """Return whether any subscription has reminders before the end."""
    return connection.execute(_ANY).scalar() is not None


def wanted(connection):
    """Return the distinct times before the end, in seconds, at which reminders are sent."""
    return list(connection.execute(
        sa.select(REMINDERS.c.seconds).distinct().order_by(REMINDERS.c.seconds)).scalars())


def first_wanted_at(connection):
    """Return when the oldest subscription with reminders was created."""
    table = tables.SUBSCRIPTIONS
    return connection.execute(
        sa.select(sa.func.min(table.c.created_at))
        .where(table.c.id.in_(sa.select(REMINDERS.c.subscription_id)))).scalar()


def has_scan(connection):
    """Return whether the scan for reminders has begun."""
    return connection.execute(sa.select(SCANS.c.id)).scalar() is not None


def begin(connection, moment):
    """Record that the scan for reminders begins at a moment.

    :raises Duplicate: the scan has begun before.
    """
    connection.execute(sa.insert(SCANS).values(id=_SCAN, scanned_until=moment))


def lock_scan(connection):
    """Lock the scan until the transaction ends; return the moment up to which it was done.

    :returns: None if the database can skip locked rows and another transaction has locked the scan.
    """
    return connection.execute(sa.select(SCANS.c.scanned_until).with_for_update(
        skip_locked=engine.skips_locked(connection))).scalar()


def scanned(connection, until):
    """Record the moment up to which the reminders were scanned."""
    connection.execute(sa.update(SCANS).values(scanned_until=until))


def between(connection, seconds, since, until, now):
    """Yield the Reminders whose moment is after `since` and not after `until`.

    Leases that are over have no reminders, because "ends soon" must not follow "has ended". Leases
    that wait for resources have no reminders, because their end is not known. Leases that are
    extended in steps have none either; their owners are notified before the last step.

    :param seconds: the list of times before the end, in seconds.
    """
    for batch in by_keys.batches(seconds, _BATCH):
        spans = {count: (since + _span(count), until + _span(count)) for count in batch}
        rows = connection.execute(
            sa.select(LEASES).where(
                sa.or_(*(sa.and_(LEASES.c.end > low, LEASES.c.end <= high)
                         for low, high in spans.values())),
                LEASES.c.state != lifecycle.ACQUIRING, LEASES.c.ended_at.is_(None),
                LEASES.c.deleted_at.is_(None), LEASES.c.end > now,
                LEASES.c.while_free_seconds.is_(None))
            .order_by(LEASES.c.end, LEASES.c.id)).all()
        for row in rows:
            for count, (low, high) in spans.items():
                if low < row.end <= high:
                    yield _reminder(row, count, row.end - _span(count))


def leases_of_calendar(connection, subscription, since, limit, now):
    """Return the leases of a calendar that end after `since`, as rows by their end.

    Leases that are shared with the project, or with the user, are among them.

    If there are more than `limit` leases, leases that are over are left out, the oldest first, and
    then the other leases with the latest ends.
    """
    statement = sa.select(LEASES).where(
        _of_calendar(connection, subscription, now), LEASES.c.deleted_at.is_(None),
        LEASES.c.end > since, LEASES.c.state != lifecycle.ACQUIRING)
    rows = connection.execute(statement.where(LEASES.c.ended_at.is_(None)).order_by(
        LEASES.c.end, LEASES.c.id).limit(limit)).all()
    if len(rows) < limit:
        rows += connection.execute(statement.where(LEASES.c.ended_at.is_not(None)).order_by(
            LEASES.c.end.desc(), LEASES.c.id).limit(limit - len(rows))).all()
    return sorted(rows, key=lambda row: (row.end, row.id))


def _of_calendar(connection, subscription, now):
    """Return the condition that a lease belongs to the owner of a calendar, or is shared."""
    own = LEASES.c.project_id == subscription.project_id
    if subscription.scope == subscriptions.OWN:
        own = sa.and_(own, LEASES.c.user_id == subscription.user_id)
    receiver = subscription.project_id, subscription.user_id
    if not shares.any_for(connection, receiver, now):
        return own
    return sa.or_(own, LEASES.c.id.in_(shares.leases_for(receiver, now)))


def _reminder(row, seconds, moment):
    return notifications.Reminder(
        seconds=seconds, at=moment, lease_id=row.id, project_id=row.project_id,
        user_id=row.user_id, end=row.end, content={'seconds_before_end': seconds, 'lease': {
            'id': row.id, 'name': row.name, 'project_id': row.project_id, 'user_id': row.user_id,
            'start': row.start.isoformat(), 'end': row.end.isoformat(), 'state': row.state,
            'degraded': bool(row.degraded), 'reason': row.owner_reason}})


def _span(seconds):
    return datetime.timedelta(seconds=seconds)
