# SPDX-License-Identifier: Apache-2.0
"""Notifications of a project that reached one of its limits, or used most of it: once for each."""
import contextlib
import datetime

from oslo_log import log

from climate import errors
from climate.db import engine
from climate.db import journal
from climate.db import limit_notices
from climate.db import subscriptions
from climate.db import wait_queue
from climate.domain import notifications as domain
from climate.manager import core as cores

LOG = log.getLogger(__name__)

#: The pause between two checks of what projects have used.
PAUSE_SECONDS = 60
_REACHED, _NEAR = 'project.limit', 'project.limit_near'
# The number of projects that one transaction forgets.
_BATCH = 500


def report_reached(core, project_id, error):
    """Put a notification of a LimitReached in the outbox, unless there was one not long ago.

    A failure is only logged: it must not change the answer to the caller, and the next refusal is
    reported instead.

    :returns: whether there is a new notification.
    """
    if project_id is None:
        return False
    try:
        return _write_reached(core, project_id, error, core.clock())
    except engine.Duplicate:
        LOG.debug('Another manager notified project %s of %s', project_id, error.limit_name)
    except errors.ClimateError as failure:
        LOG.warning('Project %s is not notified that it has reached %s: %s', project_id,
                    error.limit_name, failure.message)
    return False


@cores.again_after_a_race
def _write_reached(core, project_id, error, now):
    again = datetime.timedelta(hours=core.conf.notifications.limit_again_hours)
    with core.database.reader() as connection:
        if limit_notices.was_notified(connection, project_id, error.limit_name, now - again):
            return False
    with core.database.writer() as connection:
        if not limit_notices.renew(connection, project_id, error.limit_name, now, now - again):
            return False
        _publish(connection, _REACHED, project_id, error.limit_name, error.owner_message, now)
    LOG.info('Project %s has reached a limit: %s', project_id, error.limit_name)
    return True


def report_near(core, now):
    """Notify the projects that have come near a limit; return their number.

    Any number of managers may do it at once. Limits of other services are not checked, nor that of
    offers, which last for minutes only.
    """
    percent = core.conf.notifications.limit_near_percent
    if not percent:
        return 0
    total = 0
    for name, most, count, noun in (
            ('waiting_per_project', core.conf.acquire.waiting_per_project, wait_queue.counts,
             'leases in the wait queue'),
            ('subscriptions_per_project', core.conf.notifications.subscriptions_per_project,
             subscriptions.by_project, 'subscriptions')):
        with cores.isolated('Limit %s', name):
            total += _check(core, name, most, count, noun, percent, now)
    return total


def _check(core, name, most, count, noun, percent, now):
    """Notify the projects that have come near one limit, and forget those that use less now."""
    with core.database.reader() as connection:
        notified = limit_notices.notified_near(connection, name)
        # A limit of 0 is none, or lets nobody use anything.
        used = count(connection) if most else {}
    new, over = (domain.limit_crossings(used, notified, most, percent) if most
                 else ([], sorted(notified)))
    for first in range(0, len(over), _BATCH):
        with core.database.writer() as connection:
            limit_notices.delete_near(connection, over[first:first + _BATCH], name)
    written = 0
    for project_id in new:
        # If another manager writes it at this moment, there is nothing left to do.
        with cores.isolated('Project %s, limit %s', project_id, name), contextlib.suppress(
                engine.Duplicate):
            _write_near(core, project_id, name, used[project_id], most, noun, now)
            written += 1
    return written


@cores.again_after_a_race
def _write_near(core, project_id, name, used, most, noun, now):
    with core.database.writer() as connection:
        limit_notices.add_near(connection, project_id, name, now)
        _publish(connection, _NEAR, project_id, name, (
            f'Your project has {used} of at most {most} {noun}. Requests for more than {most} '
            'are refused.'), now, used=used, most=most)
    LOG.info('Project %s has %s of at most %s %s', project_id, used, most, noun)


def _publish(connection, event_type, project_id, name, message, now, **more):
    # The notification belongs to no user, so all subscriptions of the project get it.
    journal.publish(connection, now, event_type, [{
        'project_id': project_id, 'limit': name, **more, 'message': message}])
