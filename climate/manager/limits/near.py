# SPDX-License-Identifier: Apache-2.0
"""Notify projects that have used most of a limit of the limit book."""
import collections
import functools

from climate.db import held_resources
from climate.db import limit_notices as stored
from climate.domain.limits import holdings as domain
from climate.domain.limits import limit_texts
from climate.domain.limits import rules
from climate.domain.limits import usage
from climate.manager import core as cores
from climate.manager.limits import books
from climate.manager.limits import checking
from climate.manager.limits import holdings
from climate.manager.notifications import limit_notices

#: The pause between two calls of `report_near`.
PAUSE_SECONDS = 600
# The number of projects whose leases are read at once.
_BATCH = 200
# Offers last only a few minutes.
_WATCHED = (rules.OF_AMOUNTS | rules.OF_COUNTS) - {rules.Measure.HELD_OFFERS}


def report_near(core, now):
    """Notify the projects that have used most of a limit; return their number.

    Only limits for which the leases of a project are added up are checked. The records of limits
    that the limit book does not have any more are deleted.
    """
    percent = core.conf.notifications.limit_near_percent
    if not percent:
        return 0
    book = books.known(core, now)
    limits = [] if book is None else [limit for limit in book.limits if _is_watched(limit)]
    used = _used(core, book, now) if limits else {}
    with core.database.reader() as connection:
        private = checking.private_names(connection, limits)
        removed = stored.names_near(connection) - limit_notices.NAMES - {
            limit.name for limit in limits}
    watched = [_watched(limit, used.get(limit.name, ()), private) for limit in limits] + [
        limit_notices.WatchedLimit(name, 0, {}, str) for name in sorted(removed)]
    total = 0
    for limit in watched:
        with cores.isolated('Limit %s', limit.name):
            total += limit_notices.check(core, limit, percent, now)
    return total


def _is_watched(limit):
    return (limit.per is rules.Per.PROJECT and limit.measure in _WATCHED
            and limit.name not in limit_notices.NAMES)


def _used(core, book, now):
    """Return {name of a limit: [(project id, LimitUse)]}. Projects are read in batches."""
    limits = [limit for limit in book.limits if _is_watched(limit)]
    with core.database.reader() as connection:
        project_ids = held_resources.project_ids(connection, holdings.since_of(limits, now))
    found = collections.defaultdict(list)
    for first in range(0, len(project_ids), _BATCH):
        batch = project_ids[first:first + _BATCH]
        with core.database.reader() as connection:
            read = holdings.read_projects(
                core, connection, limits, batch, (now, holdings.LAST), now)
        held = collections.defaultdict(list)
        for holding in read.by_id.values():
            held[holding.project_id].append(holding)
        for project_id in batch:
            request = domain.Request(now, others=tuple(held[project_id]), parts=read.parts)
            for limit in book.limits_for(project_id, ''):
                if _is_watched(limit):
                    found[limit.name].append((project_id, usage.of(limit, request)))
    return found


def _watched(limit, uses, private):
    """Return the WatchedLimit of a Limit.

    :param uses: [(project id, LimitUse)].
    :param private: names of properties that members may not see.
    """
    # The capacity of a pool is the same for all projects.
    most = limit_texts.figure(uses[0][1].bound if uses else 0)
    return limit_notices.WatchedLimit(
        limit.name, most, {project_id: limit_texts.figure(use.used, up=True)
                           for project_id, use in uses},
        functools.partial(_words, limit.name, most, limit_texts.description(limit, private)))


def _words(name, most, description, used):
    return (f'Your project has used {used:,} of {most:,} of the limit "{name}": {description}. '
            'Requests for more than that are refused.')
