# SPDX-License-Identifier: Apache-2.0
"""Find the leases whose end is close enough for a reminder.

Nothing is written per lease ahead of time. The database stores the time up to which leases were
searched; each step finds the leases whose reminder falls between that time and now. The
transaction that writes the deliveries also moves that time. So an outage of any length loses no
reminder, and two managers write none twice.
"""
import datetime

from climate.db import deliveries
from climate.db import engine
from climate.db import reminders
from climate.db import subscriptions
from climate.domain import notification_kinds
from climate.domain import notifications
from climate.manager import core as cores

# A longer span is searched in steps, so that no transaction grows with an outage.
_STEP = datetime.timedelta(minutes=10)
# Each step repeats this span: a lease may be committed a little after it was written.
_AGAIN = datetime.timedelta(minutes=2)


def remind(core, now):
    """Write the deliveries of all due reminders; return their number.

    Any number of managers may do it at once.
    """
    with core.database.reader() as connection:
        if not reminders.any_wanted(connection):
            return 0
        begun = reminders.has_scan(connection)
    if not begun:
        _begin(core, now)
    count = 0
    while True:
        added, scanned_until = _step(core, now)
        count += added
        if scanned_until is None or scanned_until >= now:
            return count


def _begin(core, now):
    """Write the time at which the first search begins."""
    try:
        with core.database.writer() as connection:
            reminders.begin(connection, reminders.first_wanted_at(connection) or now)
    except engine.Duplicate:
        # Another manager began at the same time.
        return


@cores.again_after_a_race
def _step(core, now):
    """Search one span of time.

    :returns: (the number of deliveries written, the time up to which was searched; None if another
        manager is searching).
    """
    with core.database.writer() as connection:
        since = reminders.lock_scan(connection)
        if since is None:
            return 0, None
        # Before the oldest subscription nobody wanted reminders.
        first = reminders.first_wanted_at(connection)
        since = max(since, first or now)
        until = max(since, min(now, since + _STEP))
        found = list(reminders.between(connection, reminders.wanted(connection),
                                       since - _AGAIN, until, now))
        added = _add(connection, found, now)
        reminders.scanned(connection, until)
    return added, until


def _add(connection, found, now):
    by_project = subscriptions.of_projects(
        connection, {reminder.project_id for reminder in found})
    due = {}
    for reminder in found:
        with cores.isolated('Lease %s: its reminder', reminder.lease_id):
            due |= {(subscription.id, reminder.source): (
                subscription, reminder.source, notification_kinds.BEFORE_END, reminder.at,
                reminder.content, now)
                for subscription in notifications.reminded(
                    by_project.get(reminder.project_id, ()), reminder)}
    new = due.keys() - deliveries.sources(connection, due.keys())
    deliveries.add(connection, (due[key] for key in due if key in new))
    return len(new)
