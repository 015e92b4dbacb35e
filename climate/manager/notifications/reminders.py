# SPDX-License-Identifier: Apache-2.0
"""Look for leases whose end is as near as subscriptions want to be told.

Nothing is written per lease ahead of time. A durable moment says how far the search has come; each
step looks for the leases whose end, less the time before it, falls between that moment and now. The
moment moves in the transaction that writes the deliveries. So an outage of any length loses no
reminder, and two managers write none twice.
"""
import datetime

from climate.db import deliveries
from climate.db import engine
from climate.db import reminders
from climate.db import subscriptions
from climate.domain import notification_kinds
from climate.domain import subscriptions as domain
from climate.manager import core as cores

# A longer time is searched in steps, so that no transaction grows with an outage.
_STEP = datetime.timedelta(minutes=10)
# Each step looks back so far again: a lease may be committed a little after it was written.
_AGAIN = datetime.timedelta(minutes=2)


def remind(core, now):
    """Write the deliveries of all reminders whose moment has come; return how many.

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
    """Write the moment from which the first search goes on."""
    try:
        with core.database.writer() as connection:
            reminders.begin(connection, reminders.first_wanted_at(connection) or now)
    except engine.Duplicate:
        # Another manager began at the same time.
        return


@cores.again_after_a_race
def _step(core, now):
    """Search one span of time.

    :returns: (how many deliveries were written, up to which moment was searched; None if another
        manager is searching).
    """
    with core.database.writer() as connection:
        since = reminders.lock_scan(connection)
        if since is None:
            return 0, None
        # Nobody wanted to be told before the oldest subscription, so that time is left out.
        first = reminders.first_wanted_at(connection)
        since = max(since, first or now)
        until = max(since, min(now, since + _STEP))
        found = list(reminders.between(connection, reminders.wanted(connection),
                                       since - _AGAIN, until, now))
        added = _add(connection, found, now)
        reminders.scanned(connection, until)
    return added, until


def _add(connection, found, now):
    by_project = subscriptions.of_projects(connection, {each.project_id for each in found})
    wanted = {}
    for each in found:
        with cores.isolated('Lease %s: its reminder', each.lease_id):
            wanted |= {(told.id, each.source): (
                told, each.source, notification_kinds.BEFORE_END, each.at, each.content, now)
                for told in domain.reminded(by_project.get(each.project_id, ()), each)}
    new = wanted.keys() - deliveries.sources(connection, wanted.keys())
    deliveries.add(connection, (wanted[each] for each in wanted if each in new))
    return len(new)
