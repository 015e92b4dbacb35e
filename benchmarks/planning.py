# SPDX-License-Identifier: Apache-2.0
"""The time to choose resources for a lease among very many: rows 1, 2 and 14.

``python -m benchmarks.planning [--form short|bench|long]``, on a SQLite file and on the database
that CLIMATE_TEST_DATABASE names. Each host gets some allocations, spread over a year. What is
chosen must be what the plain reference chooses: ``domain.joint_selection`` over all resources with
all that is booked of them. The long form is 100,000 hosts, on a database that is a server if one is
named.
"""
import collections
import dataclasses
import datetime
import random
import sys
import time

import sqlalchemy as sa
from support import builders

from benchmarks import fill
from benchmarks import report
from benchmarks import worlds
from climate.db import tables
from climate.domain import interval
from climate.domain import joint_selection
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import booking
from climate.manager.booking import criteria
from climate.manager.booking import wish_lists
from climate.plugins import base

# By form: pairs of hosts and allocations of each.
SIZES = {'short': ((1_000, 5), (2_000, 5)),
         'bench': ((1_000, 10), (5_000, 50), (10_000, 50)),
         'long': ((100_000, 50),)}
ROUNDS = {'short': 3, 'bench': 11, 'long': 7}
# Of what has no goal.
FEW_ROUNDS = 3
# This number of them is compared with the plain reference.
CHECKED = {'short': 3, 'bench': 1, 'long': 1}
STATEMENTS = 5
YEAR = datetime.timedelta(days=365)
EARLY = YEAR / 6
SPANS = {'1 h': datetime.timedelta(hours=1), '30 days': datetime.timedelta(days=30)}
CAPACITY = {'vcpus': 32, 'memory_mb': 131072, 'disk_gb': 1000}
SMALL = {'vcpus': 8, 'memory_mb': 16384, 'disk_gb': 100}
ZONE_HOSTS = 5_000
_PAGE = 5_000


@dataclasses.dataclass(frozen=True)
class Case:
    """A request; `goals` are milliseconds by the number of hosts."""

    name: str
    demand: selection.Demand
    goals: dict
    criteria: str = ''


def _demand(spread):
    return selection.Demand(SMALL, 3, 3, spread)


HOST_GOALS = {1_000: 2, 5_000: 10, 10_000: 10, 100_000: 60}
INSTANCE_GOALS = {1_000: 25, 5_000: 25, 10_000: 25, 100_000: 60}
HOSTS = selection.Demand(selection.WHOLE, 1, 3, selection.Spread.APART)
CASES = (
    Case('3 hosts', HOSTS, HOST_GOALS),
    Case('3 hosts with criteria', HOSTS, HOST_GOALS,
         '["and", [">=", "$vcpus", 16], ["=", "$rack", "7"]]'),
    Case('3 instances anywhere', _demand(selection.Spread.ANY), INSTANCE_GOALS),
    Case('3 instances apart', _demand(selection.Spread.APART), INSTANCE_GOALS),
    Case('3 instances together', _demand(selection.Spread.TOGETHER), INSTANCE_GOALS),
    Case('3 instances with criteria', _demand(selection.Spread.ANY), INSTANCE_GOALS,
         '["and", [">=", "$vcpus", 16], ["=", "$rack", "7"]]'),
    # No host that is used has the capacity, so all hosts have to be read.
    Case('1 instance as large as a host', selection.Demand(CAPACITY, 1, 1), {}),
)
ZONED = tuple(dataclasses.replace(case, name=f'{case.name}, in one zone',
                                  criteria='["=", "$availability_zone", "zone-3"]')
              for case in CASES if not case.criteria)


def figures(form):
    """The Figures of all sizes, on each database that there is."""
    kinds = worlds.kinds()[-1:] if form == 'long' else worlds.kinds()
    for kind in kinds:
        medians = {}
        for hosts, each in SIZES[form]:
            with worlds.emptied(kind, 'planning') as database:
                yield from _of_size(form, database, hosts, each, medians)
        if form == 'bench':
            yield from growth(medians, database.dialect)


def _of_size(form, database, hosts, each, medians):
    """The Figures of one size; keeps the median of each case."""
    most, made = 0, random.Random(1)
    enrol(database, hosts, each, made)
    manager = builders.Manager(worlds.configured(), database, builders.Clock())
    reference = Reference(database, hosts)
    for case in (*CASES, *(ZONED if form == 'long' else ())):
        for words, duration in SPANS.items():
            taken, statements = measure(manager, reference, case, duration, made, form)
            found = report.timed(
                _row(hosts), f'{case.name} of {hosts:,} x {each}, {words}, {database.dialect}',
                taken, goal=case.goals.get(hosts))
            medians[hosts, case.name, words] = found.value
            most = max(most, statements)
            yield found
    yield report.Figure(_row(hosts), f'statements of a plan, {hosts:,} x {each}, '
                        f'{database.dialect}', most, 'statements', STATEMENTS, firm=True)


def growth(medians, dialect):
    """Return the cost of the largest pool, compared with the one before."""
    (fewer, _), (more, _) = SIZES['bench'][-2:]
    for (hosts, name, words), median in medians.items():
        if hosts == more:
            yield report.Figure(2, f'choose {name}, {words}, {more:,} : {fewer:,} hosts, {dialect}',
                                median / medians[fewer, name, words], 'x', 1.5)


def _row(hosts):
    return 14 if hosts > 10_000 else 2 if hosts > 1_000 else 1


def enrol(database, hosts, each, made):
    """Enrol hosts and allocate `each` spans of each of them; half of the hosts as a whole."""
    start = builders.NOON
    with database.writer() as connection:
        connection.execute(sa.insert(tables.PROPERTIES), [
            {'id': number, 'pool': 'host', 'name': name, 'created_at': start}
            for number, name in ((1, 'rack'), (2, 'availability_zone'))])
        for first in range(1, hosts + 1, _PAGE):
            numbers = range(first, min(first + _PAGE, hosts + 1))
            connection.execute(sa.insert(tables.RESOURCES), [
                {'id': number, 'pool': 'host', 'name': f'host-{number}',
                 'enrolled_name': f'host-{number}', 'capacity': CAPACITY, 'created_at': start}
                for number in numbers])
            connection.execute(sa.insert(tables.PROPERTY_VALUES), [
                value for number in numbers for value in (
                    {'resource_id': number, 'property_id': 1, 'text': rack(number),
                     'number': number % 10},
                    {'resource_id': number, 'property_id': 2, 'text': zone(number),
                     'number': None})])
        fill.allocate(connection, 'all', builders.NOON, (
            row for number in range(1, hosts + 1) for row in spans(number, each, made)))
    worlds.analyzed(database)


def rack(number):
    return str(number % 10)


def zone(number):
    return f'zone-{number // ZONE_HOSTS}'


def spans(resource_id, each, made):
    """Rows for one host, all year; for one host in 21, in the first two months."""
    whole = resource_id % 2 == 0
    slot = (YEAR if resource_id % 21 else EARLY).total_seconds() / each
    for number in range(each):
        start = (number + made.random() / 2) * slot
        yield (resource_id, start, start + made.random() * slot / 2 + 60, whole,
               {} if whole else SMALL, 1 if whole else made.randint(1, 3))


class Reference:
    """All resources with all that is booked of them, for the simple algorithm."""

    def __init__(self, database, hosts):
        self._database, self._hosts = database, hosts

    def choose(self, wish, span):
        """Return what the wish gets, in the order of the ids."""
        table, booked = tables.ALLOCATIONS.c, collections.defaultdict(list)
        with self._database.reader() as connection:
            for given in connection.execute(sa.select(tables.ALLOCATIONS).where(
                    table.start < span.end, table.end > span.start)):
                booked[given.resource_id] += [
                    (interval.Interval(given.start, given.end),
                     selection.WHOLE if given.whole else given.amount)] * given.copies
        wanted = wish.need.requirement
        candidates = [
            selection.Candidate(number, CAPACITY, booked[number])
            for number in range(1, self._hosts + 1)
            if requirement.matches(wanted, {**CAPACITY, 'rack': rack(number),
                                            'availability_zone': zone(number)})]
        [picks] = joint_selection.choose(
            [joint_selection.ReservationDemand(wish.need.demand, candidates)], span)
        return picks


def measure(manager, reference, case, duration, made, form):
    """Plan again and again; returns (the milliseconds of each time, the most statements)."""
    planner = booking.Booking(manager.core)
    need = base.Need('hosts', 'host', case.demand, requirement.parse(case.criteria))
    wish = wish_lists.Wish('mine', need)
    now = manager.clock()
    taken, statements = [], 0
    for number in range((ROUNDS[form] if case.goals else FEW_ROUNDS) + 1):
        start = now + EARLY + made.random() * (YEAR - EARLY - SPANS['30 days'])
        span = interval.Interval(start, start + duration)
        with builders.statements() as asked:
            began = time.perf_counter()
            with manager.database.reader() as connection:
                criteria.check_names(manager.core, connection, need)
            chosen = planner.plan([wish], span, now)
            taken.append((time.perf_counter() - began) * 1000)
        statements = max(statements, len(asked))
        if number < CHECKED[form]:
            picks = tuple(selection.Pick(given.resource_id, given.copies) for given in chosen)
            assert picks == reference.choose(wish, span), (case.name, span)
    # The first one of its kind builds its statements.
    return taken[1:], statements


if __name__ == '__main__':
    sys.exit(report.main(figures))
