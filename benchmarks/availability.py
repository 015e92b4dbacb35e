# SPDX-License-Identifier: Apache-2.0
"""The time to find when a number of equal hosts is free: row 6 of the table.

``python -m benchmarks.availability``: 1,000 hosts with 100 allocations each, spread over a
year, as in the other rows, or all lie in the 30 days that are searched. The first opening is
compared with that of ``domain.free_starts.starts``, host by host.
"""
import collections
import dataclasses
import datetime
import heapq
import json
import random
import sys
import tempfile
import time
import urllib.parse

import sqlalchemy as sa
from support import builders

from benchmarks import callers
from benchmarks import fill
from benchmarks import programs
from benchmarks import report
from benchmarks import worlds
from climate.db import tables
from climate.domain import availability
from climate.domain import free_starts
from climate.domain import interval
from climate.manager.booking import availability_finder
from climate.manager.booking import booking
from climate.manager.booking import start_times
from climate.manager.leases import draft

HOSTS = {'short': 100, 'bench': 1_000, 'long': 1_000}
EACH = {'short': 20, 'bench': 100, 'long': 100}
ROUNDS = {'short': 3, 'bench': 25, 'long': 400}
CHECKED = 3
GOAL_MS, GOAL_P99_MS = 5, 50
# The hosts, their allocations in the first days, and in all; is anything overdue, and are
# there offers that nobody may take; what the hosts of the openings are like.
GOAL_STATEMENTS = 12
DAYS = {'a year': 365, '30 days': 30}
AHEAD = datetime.timedelta(days=30)
_DAY_SECONDS = 86400


@dataclasses.dataclass(frozen=True)
class Question:
    """A question: when are `count` of the same hosts free for a duration?"""

    count: int
    minutes: int

    @property
    def duration(self):
        return datetime.timedelta(minutes=self.minutes)

    def query(self, start):
        """The ``availability.AvailabilityQuery``."""
        return availability.AvailabilityQuery((builders.hosts(self.count),), self.minutes * 60,
                                              earliest=start, latest=start + AHEAD)

    def path(self, start):
        """Return the URL of the question."""
        return '/v1/availability?' + urllib.parse.urlencode({
            'duration': f'{self.minutes}m', 'earliest': f'{start:%Y-%m-%dT%H:%M:%SZ}',
            'latest': f'{start + AHEAD:%Y-%m-%dT%H:%M:%SZ}',
            'reservations': json.dumps([{'resource_type': 'physical:host', 'min': self.count,
                                         'max': self.count}])})


def figures(form):
    """Yield the Figures of each kind of database and of both spreads."""
    for kind in worlds.kinds():
        for words, days in DAYS.items():
            with worlds.emptied(kind, 'availability') as database:
                yield from _of_spread(form, database, words, days)


def _of_spread(form, database, words, days):
    hosts, each = HOSTS[form], EACH[form]
    start = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)).replace(
        microsecond=0)
    manager, questions = filled(database, start, hosts, each, days, ROUNDS[form])
    where = f'of {hosts:,} hosts, {hosts * each:,} allocations in {words}'
    reference = Reference(database, start)
    with builders.statements() as statements:
        for question in questions[:CHECKED]:
            answer = manager.client.find_availability(builders.a_member(), question.query(start))
            assert answer.complete
            found = [each.start for each in answer.openings][:1]
            assert found == reference.first(question), (question, found)
    yield report.Figure(
        6, f'statements of an answer, {where}, {database.dialect}',
        len(statements) / len(questions[:CHECKED]), 'statements', GOAL_STATEMENTS, firm=True)
    if form == 'short':
        return
    yield report.timed(6, f'when {where}, {database.dialect}',
                       searched(manager, questions, start), goal=GOAL_MS)
    yield report.timed(6, f'the same with reading, {words}, {database.dialect}',
                       found_by(manager, questions, start))
    yield report.timed(6, f'the same over REST, {words}, {database.dialect}',
                       asked(database, questions, start), p99_goal=GOAL_P99_MS)


def filled(database, start, hosts, each, days, rounds):
    """Fill the database; return (a manager, as many Questions as `rounds`)."""
    made = random.Random(1)
    fill.hosts(database, hosts)
    with database.writer() as connection:
        fill.allocate(connection, 'all', start, allocation_rows(hosts, each, days, made))
    worlds.analyzed(database)
    manager = builders.Manager(worlds.configured(), database, builders.Clock(start))
    # Hosts are free for a tenth of the time, on average in gaps of this number of minutes.
    gap = days * _DAY_SECONDS // each // 60 // 10
    return manager, [Question(made.randint(hosts // 100, hosts // 15),
                              made.randint(gap // 20, gap)) for _ in range(rounds)]


def allocation_rows(hosts, each, days, made):
    """Rows for ``fill.allocate``: whole hosts, `each` spans of each, over `days`."""
    slot = days * _DAY_SECONDS / each
    for resource_id in range(1, hosts + 1):
        for number in range(each):
            begin = (number + made.random() / 20) * slot
            yield resource_id, begin, begin + (17 + 2 * made.random()) * slot / 20, True, {}, 1


class Reference:
    """The allocations of each host, for a simple search."""

    def __init__(self, database, start):
        self._window = interval.Interval(start, start + AHEAD)
        self._taken = collections.defaultdict(list)
        with database.reader() as connection:
            self._hosts = connection.execute(sa.select(tables.RESOURCES.c.id)).scalars().all()
            for row in connection.execute(sa.select(tables.ALLOCATIONS)):
                self._taken[row.resource_id].append(interval.Interval(row.start, row.end))

    def first(self, question):
        """Return [the first moment at which enough hosts are free], or []."""
        ranges = sorted(found for host in self._hosts for found in free_starts.starts(
            self._taken[host], question.duration, self._window))
        lasts = []
        for first, last in ranges:
            heapq.heappush(lasts, last)
            while lasts[0] < first:
                heapq.heappop(lasts)
            if len(lasts) >= question.count:
                return [first]
        return []


def searched(manager, questions, start):
    """The milliseconds of each search in what was read once, as a search does for alternatives."""
    taken = []
    for question in questions:
        query = question.query(start)
        window = interval.Interval(start, query.latest)
        request = availability_finder.lease_request(query, window, manager.clock())
        wishes = draft.Drafts(manager.core).draft(
            builders.a_member(), 'bench', request, manager.clock()).wishes
        terms = booking.Booking(manager.core).terms(wishes, window, manager.clock())
        with manager.database.reader() as connection:
            found = start_times.StartSearch(manager.core, connection, wishes, terms, window)
        began = time.perf_counter()
        found.openings(question.duration, query.limit)
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def found_by(manager, questions, start):
    """The milliseconds of each answer of the use case."""
    taken = []
    for question in questions:
        began = time.perf_counter()
        manager.client.find_availability(builders.a_member(), question.query(start))
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def asked(database, questions, start):
    """The milliseconds of each answer over REST, of API and manager in one process."""
    url = database.engine.url.render_as_string(hide_password=False)
    with tempfile.TemporaryDirectory() as folder, \
            programs.standalone(folder, url) as (_program, port):
        caller = callers.Caller(port)
        taken = []
        for question in [*questions[:5], *questions]:
            milliseconds, status, document = caller.timed('GET', question.path(start))
            assert status == 200, document
            taken.append(milliseconds)
        caller.close()
    # The first ones of a process that has just begun are not measured.
    return taken[5:]


if __name__ == '__main__':
    sys.exit(report.main(figures))
