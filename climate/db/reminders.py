# SPDX-License-Identifier: Apache-2.0
"""Reminders in the database: which leases end so and so long after a moment."""
import datetime

import sqlalchemy as sa

from climate.db import engine
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import notifications
from climate.domain import subscriptions

LEASES = tables.LEASES
REMINDERS = tables.REMINDERS
SCANS = tables.REMINDER_SCANS
_SCAN = 1
# So many spans of time are asked for in one statement.
_BATCH = 100
_ANY = sa.select(REMINDERS.c.seconds).limit(1)


def any_wanted(connection):
    """Return whether a subscription wants to be told before the end."""
    return connection.execute(_ANY).scalar() is not None


def wanted(connection):
    """Return the numbers of seconds before the end at which somebody is told, without doubles."""
    return list(connection.execute(
        sa.select(REMINDERS.c.seconds).distinct().order_by(REMINDERS.c.seconds)).scalars())


def first_wanted_at(connection):
    """Return when the oldest subscription with reminders was made."""
    table = tables.SUBSCRIPTIONS
    return connection.execute(
        sa.select(sa.func.min(table.c.created_at))
        .where(table.c.id.in_(sa.select(REMINDERS.c.subscription_id)))).scalar()


def has_scan(connection):
    """Return whether reminders were ever looked for."""
    return connection.execute(sa.select(SCANS.c.id)).scalar() is not None


def begin(connection, moment):
    """Write that reminders are looked for from a moment on. A second time raises Duplicate."""
    connection.execute(sa.insert(SCANS).values(id=_SCAN, scanned_until=moment))


def lock_scan(connection):
    """Lock the scan until the transaction ends; return up to which moment it has come.

    :returns: None if another transaction has locked it, on a database that can skip locked rows.
    """
    return connection.execute(sa.select(SCANS.c.scanned_until).with_for_update(
        skip_locked=engine.skips_locked(connection))).scalar()


def scanned(connection, until):
    """Write down up to which moment the reminders were looked for."""
    connection.execute(sa.update(SCANS).values(scanned_until=until))


def between(connection, seconds, since, until, now):
    """Yield the Reminders whose moment is after `since` and not after `until`.

    Leases that are over have none, also if their moment came before, because "ends soon" must not
    follow "has ended". Nor have those that wait for resources, whose end is not known.

    :param seconds: how long before the end; a list.
    """
    for first in range(0, len(seconds), _BATCH):
        some = seconds[first:first + _BATCH]
        spans = {each: (since + _span(each), until + _span(each)) for each in some}
        rows = connection.execute(
            sa.select(LEASES).where(
                sa.or_(*(sa.and_(LEASES.c.end > low, LEASES.c.end <= high)
                         for low, high in spans.values())),
                LEASES.c.state != lifecycle.ACQUIRING, LEASES.c.ended_at.is_(None),
                LEASES.c.deleted_at.is_(None), LEASES.c.end > now)
            .order_by(LEASES.c.end, LEASES.c.id)).all()
        for row in rows:
            for each, (low, high) in spans.items():
                moment = row.end - _span(each)
                if low < row.end <= high:
                    yield _reminder(row, each, moment)


def leases_of_calendar(connection, subscription, since, limit):
    """Return the leases that a calendar shows, as rows by their end: those that end after `since`.

    If there are more than `limit`, leases that are not over go before those that are, and the
    latest of these before older ones.
    """
    statement = sa.select(LEASES).where(
        LEASES.c.project_id == subscription.project_id, LEASES.c.deleted_at.is_(None),
        LEASES.c.end > since, LEASES.c.state != lifecycle.ACQUIRING)
    if subscription.scope == subscriptions.OWN:
        statement = statement.where(LEASES.c.user_id == subscription.user_id)
    found = connection.execute(statement.where(LEASES.c.ended_at.is_(None)).order_by(
        LEASES.c.end, LEASES.c.id).limit(limit)).all()
    if len(found) < limit:
        found += connection.execute(statement.where(LEASES.c.ended_at.is_not(None)).order_by(
            LEASES.c.end.desc(), LEASES.c.id).limit(limit - len(found))).all()
    return sorted(found, key=lambda row: (row.end, row.id))


def _reminder(row, seconds, moment):
    return notifications.Reminder(
        seconds=seconds, at=moment, lease_id=row.id, project_id=row.project_id,
        user_id=row.user_id, end=row.end, content={'seconds_before_end': seconds, 'lease': {
            'id': row.id, 'name': row.name, 'project_id': row.project_id, 'user_id': row.user_id,
            'start': row.start.isoformat(), 'end': row.end.isoformat(), 'state': row.state,
            'degraded': bool(row.degraded), 'reason': row.owner_reason}})


def _span(seconds):
    return datetime.timedelta(seconds=seconds)
