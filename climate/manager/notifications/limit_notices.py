# SPDX-License-Identifier: Apache-2.0
"""Notify projects that have reached one of their limits, or have used most of it."""
from collections.abc import Callable
from collections.abc import Mapping
import contextlib
import dataclasses
import datetime
import functools

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

#: The pause between two calls of `report_near`.
PAUSE_SECONDS = 60
_WAITING, _SUBSCRIPTIONS = 'waiting_per_project', 'subscriptions_per_project'
#: The names of the limits that `report_near` checks.
NAMES = frozenset({_WAITING, _SUBSCRIPTIONS})
_REACHED, _NEAR = 'project.limit', 'project.limit_near'
# The number of records that one transaction deletes.
_BATCH = 500


@dataclasses.dataclass(frozen=True)
class WatchedLimit:
    """A limit, and its use by all projects.

    :ivar most: the limit; 0: it is not checked.
    :ivar used: {project id: number in use}.
    :ivar message: a function that returns the message for a project that uses a number.
    """

    name: str
    most: int | float
    used: Mapping[str, int | float]
    message: Callable[[int | float], str]


def report_reached(core, project_id, error):
    """Write a notification of a LimitReached to the outbox, unless a recent one exists.

    A failure is only logged, because it must not change the answer to the caller. The next refusal
    will be reported instead.

    :returns: whether a notification was written.
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
    recent = now - datetime.timedelta(hours=core.conf.notifications.limit_again_hours)
    with core.database.reader() as connection:
        if limit_notices.was_notified(connection, project_id, error.limit_name, recent):
            return False
    with core.database.writer() as connection:
        if not limit_notices.renew(connection, project_id, error.limit_name, now, recent):
            return False
        _publish(connection, _REACHED, project_id, error.limit_name, error.owner_message, now)
    LOG.info('Project %s has reached a limit: %s', project_id, error.limit_name)
    return True


def report_near(core, now):
    """Notify the projects that have used most of a limit; return their number.

    Several managers may call this at the same time. Limits of other services are not checked.
    The limit of offers is not checked either, because offers last only a few minutes.
    """
    percent = core.conf.notifications.limit_near_percent
    if not percent:
        return 0
    total = 0
    for name, most, count, noun in (
            (_WAITING, core.conf.acquire.waiting_per_project, wait_queue.counts,
             'leases in the wait queue'),
            (_SUBSCRIPTIONS, core.conf.notifications.subscriptions_per_project,
             subscriptions.by_project, 'subscriptions')):
        with cores.isolated('Limit %s', name):
            # A limit of 0 means that there is no limit, or that nothing can be used.
            with core.database.reader() as connection:
                used = count(connection) if most else {}
            total += check(core, WatchedLimit(
                name, most, used, functools.partial(_count_words, most, noun)), percent, now)
    return total


def _count_words(most, noun, used):
    return (f'Your project has {used} of at most {most} {noun}. Requests for more than {most} are '
            'refused.')


def check(core, limit, percent, now):
    """Notify the projects that have used most of a WatchedLimit; return their number.

    The records of projects that use less now are deleted, so they can be notified again.
    """
    with core.database.reader() as connection:
        notified = limit_notices.notified_near(connection, limit.name)
    near, not_near = (domain.limit_crossings(limit.used, notified, limit.most, percent)
                      if limit.most else ([], sorted(notified)))
    for first in range(0, len(not_near), _BATCH):
        with core.database.writer() as connection:
            limit_notices.delete_near(connection, not_near[first:first + _BATCH], limit.name)
    written = 0
    for project_id in near:
        # Duplicate means that another manager has just notified the project.
        with cores.isolated('Project %s, limit %s', project_id, limit.name), contextlib.suppress(
                engine.Duplicate):
            _write_near(core, project_id, limit, now)
            written += 1
    return written


@cores.again_after_a_race
def _write_near(core, project_id, limit, now):
    used = limit.used[project_id]
    with core.database.writer() as connection:
        limit_notices.add_near(connection, project_id, limit.name, now)
        _publish(connection, _NEAR, project_id, limit.name, limit.message(used), now, used=used,
                 most=limit.most)
    LOG.info('Project %s has used %s of at most %s: limit %s', project_id, used, limit.most,
             limit.name)


def _publish(connection, event_type, project_id, name, message, now, **numbers):
    # The notification belongs to no user, so all subscriptions of the project get it.
    journal.publish(connection, now, event_type, [{
        'project_id': project_id, 'limit': name, **numbers, 'message': message}])
