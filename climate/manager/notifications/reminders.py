# SPDX-License-Identifier: Apache-2.0
"""Write the reminders of leases that end soon.

The database stores the time up to which all reminders are written. A step finds the reminders that
became due after this time, writes their deliveries, and advances the time, in one transaction. So
an outage loses no reminder, and two managers never write the same reminder.
"""
import contextlib
import datetime

from climate.db import deliveries
from climate.db import engine
from climate.db import reminders
from climate.db import subscriptions
from climate.domain import notification_kinds
from climate.domain import notifications
from climate.manager import core as cores

# The longest span that one step searches, so that transactions stay small after an outage.
_STEP = datetime.timedelta(minutes=10)
# Each step also searches this last part of the previous span, because leases may be committed late.
_AGAIN = datetime.timedelta(minutes=2)


def remind(core, now):
    """Write the deliveries of all due reminders; return their number.

    Several managers may call this at the same time.
    """
    with core.database.reader() as connection:
        if not reminders.any_wanted(connection):
            return 0
        begun = reminders.has_scan(connection)
    if not begun:
        # Duplicate means that another manager begins at the same time.
        with contextlib.suppress(engine.Duplicate), core.database.writer() as connection:
            reminders.begin(connection, reminders.first_wanted_at(connection) or now)
    count = 0
    while True:
        added, scanned_until = _step(core, now)
        count += added
        if scanned_until is None or scanned_until >= now:
            return count


@cores.again_after_a_race
def _step(core, now):
    """Search one span of time.

    :returns: (the number of written deliveries, the end of the span). The end is None if another
        manager is searching.
    """
    with core.database.writer() as connection:
        since = reminders.lock_scan(connection)
        if since is None:
            return 0, None
        # Skip the time before the oldest subscription that wants reminders.
        since = max(since, reminders.first_wanted_at(connection) or now)
        until = max(since, min(now, since + _STEP))
        due_reminders = list(reminders.between(connection, reminders.wanted(connection),
                                               since - _AGAIN, until, now))
        added = _add(connection, due_reminders, now)
        reminders.scanned(connection, until)
    return added, until


def _add(connection, due_reminders, now):
    by_project = subscriptions.of_projects(
        connection, {reminder.project_id for reminder in due_reminders})
    due = {}
    for reminder in due_reminders:
        with cores.isolated('Lease %s: its reminder', reminder.lease_id,
                            then=f'for {_AGAIN.seconds} s the next passes try it again'):
            due |= {(subscription.id, reminder.source): (
                subscription, reminder.source, notification_kinds.BEFORE_END, reminder.at,
                reminder.content, now)
                for subscription in notifications.reminder_recipients(
                    by_project.get(reminder.project_id, ()), reminder)}
    new = due.keys() - deliveries.sources(connection, due.keys())
    deliveries.add(connection, (due[key] for key in due if key in new))
    return len(new)
