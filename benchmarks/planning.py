# SPDX-License-Identifier: Apache-2.0
"""How long it takes to choose resources for a lease among very many.

``python -m benchmarks.planning [HOSTS ALLOCATIONS]...``, on the database that
CLIMATE_TEST_DATABASE names, or on a SQLite file. What is in the database goes. Each host gets so
many allocations, spread over a year. What is chosen must be what the plain reference chooses:
``domain.joint`` over all resources with all that is booked of them.
"""
# ruff: noqa: E402, I001
import dataclasses
import datetime
import math
import pathlib
import random
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tests'))

from climate import backend

backend.prefer_threads()

import sqlalchemy as sa

import builders
from benchmarks import lease as lease_benchmark
from climate.db import allocations
from climate.db import leases
from climate.db import reservations
from climate.db import tables
from climate.domain import fit
from climate.domain import interval
from climate.domain import joint
from climate.domain import records
from climate.domain import requirement
from climate.manager import booking
from climate.manager import criteria
from climate.plugins import base

SIZES = ((1_000, 10), (5_000, 50), (10_000, 50))
ROUNDS = 20
# So many of them are compared with the plain reference.
CHECKED = 3
YEAR = datetime.timedelta(days=365)
EARLY = YEAR / 6
MINUTE = datetime.timedelta(minutes=1)
SHORT, LONG = datetime.timedelta(hours=1), datetime.timedelta(days=30)
CAPACITY = {'vcpus': 32, 'memory_mb': 131072, 'disk_gb': 1000}
SMALL = {'vcpus': 8, 'memory_mb': 16384, 'disk_gb': 100}
_PAGE = 5_000


@dataclasses.dataclass(frozen=True)
class Case:
    """What is asked for, during how much time, and how many milliseconds it may take."""

    name: str
    demand: fit.Demand
    criteria: str
    duration: datetime.timedelta
    limit_ms: dict


def cases():
    """The Cases: hosts with and without criteria, and instances near to and apart from others."""
    for words, duration in (('an hour', SHORT), ('30 days', LONG)):
        hosts = fit.Demand(fit.WHOLE, 1, 3, fit.Spread.APART)
        limits = {1_000: 2, 5_000: 10, 10_000: 15}
        yield Case(f'hosts for {words}', hosts, '', duration, limits)
        yield Case(f'hosts with criteria for {words}', hosts,
                   '["and", [">=", "$vcpus", 16], ["=", "$rack", "7"]]', duration, limits)
        for spread in (fit.Spread.ANY, fit.Spread.APART, fit.Spread.TOGETHER):
            yield Case(f'3 instances, {spread.value}, for {words}',
                       fit.Demand(SMALL, 3, 3, spread), '', duration,
                       {1_000: 25, 5_000: 25, 10_000: 37.5})


def fill(database, hosts, each, made):
    """Enrol hosts and promise `each` spans of each of them; half of the hosts as a whole.

    :returns: the Allocations.
    """
    start = builders.NOON
    with database.writer() as connection:
        connection.execute(sa.insert(tables.PROPERTIES), [
            {'id': 1, 'pool': 'host', 'name': 'rack', 'created_at': start}])
        connection.execute(sa.insert(tables.RESOURCES), [
            {'id': number, 'pool': 'host', 'name': f'host-{number}',
             'enrolled_name': f'host-{number}', 'capacity': CAPACITY, 'created_at': start}
            for number in range(1, hosts + 1)])
        connection.execute(sa.insert(tables.PROPERTY_VALUES), [
            {'resource_id': number, 'property_id': 1, 'text': str(number % 10),
             'number': number % 10} for number in range(1, hosts + 1)])
        lease = records.Lease(
            id='a lease', name='bench', project_id='bench', user_id='bench', start=start,
            end=start + YEAR, created_at=start)
        leases.add(connection, lease)
        reservations.add(connection, [records.Reservation(
            id='all', lease_id=lease.id, resource_type='physical:host', request={},
            created_at=start)])
        rows = [given for number in range(1, hosts + 1) for given in spans(number, each, made)]
        for first in range(0, len(rows), _PAGE):
            allocations.add(connection, rows[first:first + _PAGE])
    if database.dialect == 'postgresql':
        with database.engine.connect() as connection:
            connection.execution_options(isolation_level='AUTOCOMMIT').exec_driver_sql('ANALYZE')
    return rows


def spans(resource_id, each, made):
    """The Allocations of one host, all year; of one host in 21, in the first two months."""
    whole = resource_id % 2 == 0
    slot = (YEAR if resource_id % 21 else EARLY) / each
    for number in range(each):
        start = builders.NOON + number * slot + made.random() * slot / 2
        yield records.Allocation(
            reservation_id='all', resource_id=resource_id, start=start,
            end=start + made.random() * slot / 2 + MINUTE, whole=whole,
            amount={} if whole else SMALL, copies=1 if whole else made.randint(1, 3))


class Reference:
    """All resources with all that is booked of them, for the plain way."""

    def __init__(self, hosts, rows):
        self._hosts = hosts
        self._booked = {number: [] for number in range(1, hosts + 1)}
        for given in rows:
            self._booked[given.resource_id].append(given)

    def choose(self, wish, span):
        """What the wish gets, in the order of the ids."""
        wanted = requirement.names(wish.need.requirement)
        candidates = [
            fit.Candidate(number, CAPACITY, [
                (interval.Interval(given.start, given.end),
                 fit.WHOLE if given.whole else given.amount)
                for given in booked for _ in range(given.copies)
                if given.start < span.end and given.end > span.start])
            for number, booked in self._booked.items()
            if not wanted or requirement.matches(
                wish.need.requirement, {**CAPACITY, 'rack': str(number % 10)})]
        [picks] = joint.choose([joint.Ask(wish.need.demand, candidates)], span)
        return picks


def measure(manager, reference, case, made):
    """Plan again and again; returns (the milliseconds of each time, the most statements)."""
    planner = booking.Booking(manager.core)
    need = base.Need('host', case.demand, requirement.parse(case.criteria))
    wish = booking.Wish('mine', need)
    now = manager.clock()
    taken, statements = [], 0
    for number in range(ROUNDS):
        start = now + EARLY + made.random() * (YEAR - EARLY - LONG)
        span = interval.Interval(start, start + case.duration)
        with lease_benchmark.counted() as asked:
            began = time.perf_counter()
            with manager.database.reader() as connection:
                criteria.check_names(manager.core, connection, need)
            chosen = planner.plan([wish], span, now)
            taken.append((time.perf_counter() - began) * 1000)
        statements = max(statements, len(asked))
        if number < CHECKED:
            picks = tuple(fit.Pick(given.resource_id, given.copies) for given in chosen)
            assert picks == reference.choose(wish, span), (case.name, span)
    return taken, statements


def main(arguments):
    sizes = list(zip(*[iter(map(int, arguments))] * 2, strict=True)) or SIZES
    made = random.Random(1)
    missed = 0
    for hosts, each in sizes:
        with lease_benchmark.emptied() as database:
            reference = Reference(hosts, fill(database, hosts, each, made))
            manager = builders.Manager(lease_benchmark.configured(), database, builders.Clock())
            for case in cases():
                taken, statements = measure(manager, reference, case, made)
                median, limit = statistics.median(taken), case.limit_ms.get(hosts, math.inf)
                missed += median > limit
                print(f'{database.dialect}, {hosts} hosts x {each}, {case.name}: {median:.1f} ms, '
                      f'at most {max(taken):.1f} ms, {statements} statements; '
                      f'goal: {limit} ms', flush=True)
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
