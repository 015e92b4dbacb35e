# SPDX-License-Identifier: Apache-2.0
"""Copy notifications from the outbox to the subscriptions that they concern.

The transaction that copies a row of the outbox also marks the row as copied. Only marked rows are
sent to the bus and then deleted. So no row is deleted before it is copied, and an outage of the bus
delays no subscription.
"""
from climate.db import deliveries
from climate.db import journal
from climate.db import subscriptions
from climate.domain import notification_kinds
from climate.domain import notifications
from climate.manager import core as cores

_BATCH = 100


def fan_out(core, now):
    """Copy all notifications that are not copied yet; return their number.

    Several managers may call this at the same time, because each row is locked by one of them.
    """
    count = 0
    while True:
        with core.database.reader() as connection:
            if not journal.any_not_fanned_out(connection):
                return count
        copied = _copy_batch(core, now)
        if not copied:
            # Another manager has locked the remaining rows.
            return count
        count += copied


@cores.again_after_a_race
def _copy_batch(core, now):
    """Copy a batch of notifications in one transaction; return their number."""
    with core.database.writer() as connection:
        # Read subscriptions after the rows, so that every subscription older than a row is found.
        ids = journal.lock_not_fanned_out(connection, _BATCH)
        if ids and subscriptions.any_sent(connection):
            _add(connection, journal.contents(connection, ids), now)
        if ids:
            journal.fanned_out(connection, ids)
    return len(ids)


def _add(connection, rows, now):
    notices = []
    for row in rows:
        with cores.isolated('Notification %s of the outbox', row[0],
                            then='it is only sent to the bus, and no subscription gets it'):
            notices.append(notifications.of_outbox(*row))
    by_project = subscriptions.of_projects(connection, {
        notice.project_id for notice in notices if notice.kinds and notice.project_id is not None})
    deliveries.add(connection, (
        (subscription, notice.source, kind, notice.at, notice.content, now)
        for notice in notices if notice.kinds
        for subscription, kind in notifications.recipients(
            by_project.get(notice.project_id, ()), notice)))
    ended_leases = {notice.content['lease']['id'] for notice in notices
                    if notification_kinds.END in notice.kinds}
    if ended_leases:
        deliveries.give_up_reminders(connection, ended_leases, now)
