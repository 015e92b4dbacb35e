# SPDX-License-Identifier: Apache-2.0
"""Copy notifications from the outbox to the subscriptions that they concern.

Each row of the outbox is copied in one transaction, which also marks the row. The bus gets only
marked rows, so a row is never deleted before the subscriptions have it; and whether the bus answers
does not matter.
"""
from climate.db import deliveries
from climate.db import journal
from climate.db import subscriptions
from climate.domain import notification_kinds
from climate.domain import subscriptions as domain
from climate.manager import core as cores

_BATCH = 100


def fan_out(core, now):
    """Copy all notifications that the subscriptions do not have yet; return how many there were.

    Any number of managers may do it at once: each row is locked by one of them.
    """
    count = 0
    while True:
        with core.database.reader() as connection:
            if not journal.any_not_fanned_out(connection):
                return count
        done = _copy(core, now)
        if not done:
            # Another manager has locked all that is left.
            return count
        count += done


@cores.again_after_a_race
def _copy(core, now):
    """Copy a number of notifications in one transaction; return how many."""
    with core.database.writer() as connection:
        # The rows are read before the subscriptions. A subscription that was there before a row is
        # therefore seen.
        ids = journal.lock_not_fanned_out(connection, _BATCH)
        if ids and subscriptions.any_sent(connection):
            _add(connection, journal.contents(connection, ids), now)
        if ids:
            journal.fanned_out(connection, ids)
    return len(ids)


def _add(connection, rows, now):
    happened = []
    for row in rows:
        # A row that subscriptions cannot be notified of still goes to the bus.
        with cores.isolated('Notification %s of the outbox', row[0]):
            happened.append(domain.of_outbox(*row))
    by_project = subscriptions.of_projects(connection, {
        each.project_id for each in happened if each.kinds and each.project_id is not None})
    deliveries.add(connection, (
        (told, each.source, kind, each.at, each.content, now)
        for each in happened if each.kinds
        for told, kind in domain.concerned(by_project.get(each.project_id, ()), each)))
    over = {each.content['lease']['id'] for each in happened
            if notification_kinds.END in each.kinds}
    if over:
        deliveries.give_up_reminders(connection, over, now)
