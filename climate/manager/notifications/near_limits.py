# SPDX-License-Identifier: Apache-2.0
"""Tell a project that it has used most of a limit: once, until it has used clearly less."""
import contextlib

from oslo_log import log

from climate.db import engine
from climate.db import journal
from climate.db import near_limits
from climate.db import subscriptions
from climate.db import wait_queue
from climate.domain import near_limits as domain
from climate.manager import core as cores

LOG = log.getLogger(__name__)

#: The pause between two looks at what projects have used.
PAUSE_SECONDS = 60
#: The type of the notification.
EVENT_TYPE = 'project.limit_near'
# How many projects are forgotten in one transaction.
_BATCH = 500


def look(core, now):
    """Tell the projects that have come near a limit; return how many were told.

    Any number of managers may do it at once. Limits of other services are not looked at, and not
    that of offers, which last for minutes only.
    """
    percent = core.conf.notifications.limit_near_percent
    if not percent:
        return 0
    total = 0
    for name, most, count, what in (
            ('waiting_per_project', core.conf.acquire.waiting_per_project, wait_queue.counts,
             'leases in the wait queue'),
            ('subscriptions_per_project', core.conf.notifications.subscriptions_per_project,
             subscriptions.by_project, 'subscriptions')):
        with cores.isolated('Limit %s', name):
            total += _look(core, name, most, count, what, percent, now)
    return total


def _look(core, name, most, count, what, percent, now):
    with core.database.reader() as connection:
        told = near_limits.told(connection, name)
        # A limit of 0 is none, or lets nobody use anything.
        used = count(connection) if most else {}
    new, over = domain.crossings(used, told, most, percent) if most else ([], sorted(told))
    for first in range(0, len(over), _BATCH):
        with core.database.writer() as connection:
            near_limits.delete(connection, over[first:first + _BATCH], name)
    told_now = 0
    for each in new:
        # If another manager tells it at this moment, there is nothing left to do.
        with cores.isolated('Project %s, limit %s', each, name), contextlib.suppress(
                engine.Duplicate):
            _tell(core, each, name, used[each], most, what, now)
            told_now += 1
    return told_now


@cores.again_after_a_race
def _tell(core, project_id, name, used, most, what, now):
    with core.database.writer() as connection:
        near_limits.add(connection, project_id, name, now)
        # It belongs to no user, so all subscriptions of the project are told.
        journal.publish(connection, now, EVENT_TYPE, [{
            'project_id': project_id, 'limit': name, 'used': used, 'most': most, 'message': (
                f'Your project has {used} of at most {most} {what}. Requests for more than {most} '
                'are refused.')}])
    LOG.info('Project %s has %s of at most %s %s', project_id, used, most, what)
