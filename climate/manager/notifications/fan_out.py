# SPDX-License-Identifier: Apache-2.0
"""Copy notifications from the outbox to the subscriptions that they concern.

Each row of the outbox is copied in one transaction, which also marks the row. The bus gets only
marked rows, so no row is deleted before the subscriptions have it, and an outage of the bus delays
no subscription.
"""
from climate.db import deliveries
from climate.db import journal
from climate.db import subscriptions
from climate.domain import notification_kinds
from climate.domain import notifications
from climate.manager import core as cores

_BATCH = 100


def fan_out(core, now):
    """Copy all notifications that the subscriptions do not have yet; return their number.

    Any number of managers may do it at once: each row is locked by one of them.
    """
    count = 0
    while True:
        with core.database.reader() as connection:
            if not journal.any_not_fanned_out(connection):
                return count
        done = _copy(core, now)
        if not done:
            # Another manager has locked the rest.
            return count
        count += done


@cores.again_after_a_race
def _copy(core, now):
    """Copy a batch of notifications in one transaction; return their number."""
    with core.database.writer() as connection:
        # Rows are read before subscriptions, so a subscription that is older than a row gets it.
        ids = journal.lock_not_fanned_out(connection, _BATCH)
        if ids and subscriptions.any_sent(connection):
            _add(connection, journal.contents(connection, ids), now)
        if ids:
            journal.fanned_out(connection, ids)
    return len(ids)


def _add(connection, rows, now):
    notices = []
    for row in rows:
        # A row that cannot be copied still goes to the bus.
        with cores.isolated('Notification %s of the outbox', row[0]):
            notices.append(notifications.of_outbox(*row))
    by_project = subscriptions.of_projects(connection, {
        notice.project_id for notice in notices if notice.kinds and notice.project_id is not None})
    deliveries.add(connection, (
        (subscription, notice.source, kind, notice.at, notice.content, now)
        for notice in notices if notice.kinds
        for subscription, kind in notifications.concerned(
            by_project.get(notice.project_id, ()), notice)))
    over = {notice.content['lease']['id'] for notice in notices
            if notification_kinds.END in notice.kinds}
    if over:
        deliveries.give_up_reminders(connection, over, now)
