# SPDX-License-Identifier: Apache-2.0
"""The speed of the jobs of a computer over months, as leases of its hosts in Climate.

``TRACE=FILE python -m benchmarks.replay``. FILE is in the Standard Workload Format, gzipped or not;
without it jobs of the same shape are made up. Each job that ran is a lease from its start to its
end on 128 hosts: asked for at its start, in simulated time, after all that was due until then was
carried out, through endpoint and event loop of one manager on the simulated cloud. What does
not fit is refused. The news of all go out at the end.
"""
import collections
import dataclasses
import datetime
import gzip
import heapq
import itertools
import os
import pathlib
import random
import sys
import time

import oslo_messaging as messaging
import sqlalchemy as sa
from support import builders

from benchmarks import report
from benchmarks import worlds
from climate import errors
from climate.cloud import simulated
from climate.db import tables
from climate.domain import lifecycle
from climate.manager.notifications import fan_out
from climate.manager.notifications import outbox

HOSTS = 128
JOBS = {'short': 60, 'bench': 200, 'long': None}
# The statements that a lease may need that is refused or lives, however many there were before.
STATEMENTS = 70
_MADE_UP = 18_066


@dataclasses.dataclass(frozen=True)
class Job:
    """`hosts` hosts from the second `start` to the second `end`."""

    start: int
    end: int
    hosts: int


def jobs():
    """The Jobs of the trace that TRACE names, or made up, by their start."""
    path = os.environ.get('TRACE')
    found = _read(pathlib.Path(path)) if path else _made_up(random.Random(1993))
    return sorted(found, key=lambda job: (job.start, job.end, job.hosts))


def _read(path):
    opened = gzip.open if path.suffix == '.gz' else open
    with opened(path, 'rt') as lines:
        for line in lines:
            if not line.strip() or line.startswith(';'):
                continue
            _, submitted, waited, ran, allocated, _, _, requested = map(float, line.split()[:8])
            hosts = int(allocated if allocated > 0 else requested)
            start = int(submitted + max(waited, 0))
            if ran > 0 and 0 < hosts <= HOSTS:
                yield Job(start, start + int(ran), hosts)


def _made_up(chance):
    """Small ones by day and large ones by night, for three months."""
    start = 0
    for _ in range(_MADE_UP):
        start += int(chance.expovariate(1 / 430)) + 1
        by_night = start % 86400 < 8 * 3600
        hosts = 2 ** min(7, int(chance.expovariate(1 / (3.2 if by_night else 1.7))))
        yield Job(start, start + 1 + int(chance.lognormvariate(4.3 if not by_night else 6, 1.6)),
                  hosts)


def accepted(found):
    """Return the Jobs that fit when they come, found by a simple algorithm."""
    running, free, taken = [], HOSTS, []
    for job in found:
        while running and running[0][0] <= job.start:
            free += heapq.heappop(running)[1]
        if job.hosts <= free:
            free -= job.hosts
            heapq.heappush(running, (job.end, job.hosts))
            taken.append(job)
    return taken


def replayed(manager, found):
    """Run the leases of the Jobs; return the number of refused ones."""
    refused = 0
    for job in found:
        manager.run_until(_moment(job.start))
        try:
            manager.create(builders.a_lease(builders.hosts(job.hosts), end=_moment(job.end)))
        except errors.NotEnough:
            refused += 1
    manager.run_until(_moment(max(job.end for job in found)))
    return refused


def _moment(second):
    return builders.NOON + datetime.timedelta(seconds=second)


def check(database, taken):
    """Assert that the Jobs took what was allocated, and no host was allocated twice."""
    with database.reader() as connection:
        states = collections.Counter(connection.execute(
            sa.select(tables.LEASES.c.state)).scalars())
        allocated = [tuple(row) for row in connection.execute(
            sa.select(tables.ALLOCATIONS.c.resource_id, tables.ALLOCATIONS.c.start,
                      tables.ALLOCATIONS.c.end))]
        left = connection.execute(sa.select(sa.func.count()).select_from(tables.EVENTS).where(
            tables.EVENTS.c.status != lifecycle.EVENT_DONE)).scalar()
    assert states == {lifecycle.TERMINATED: len(taken)}, states
    assert not left, f'{left} events were not carried out.'
    overlaps = sum(one[0] == two[0] and two[1] < one[2]
                   for one, two in itertools.pairwise(sorted(allocated)))
    assert not overlaps, f'{overlaps} times a host was allocated twice.'
    used = sum((end - start).total_seconds() for _, start, end in allocated)
    expected = sum((job.end - job.start) * job.hosts for job in taken)
    assert used == expected, f'{used} seconds of hosts were allocated, of {expected}.'
    return used


def figures(form):
    """Measure the leases per second, on each kind of database."""
    found = jobs()[:JOBS[form]]
    taken = accepted(found)
    for kind in worlds.kinds():
        with worlds.emptied(kind) as database:
            yield from _figures(database, found, taken)


def _figures(database, found, taken):
    conf = worlds.configured(HOSTS)
    clock = builders.Clock()
    cloud = simulated.SimulatedCloud(conf, clock=lambda: clock().timestamp())
    manager = builders.Manager(conf, database, clock, cloud)
    manager.enrol(HOSTS)
    sender = outbox.Sender(manager.core, 'bench',
                           messaging.get_notification_transport(conf, url='fake:/'))
    fan_out.fan_out(manager.core, clock())
    sender.flush(clock())
    with builders.statements() as statements:
        began = time.monotonic(), time.process_time()
        refused = replayed(manager, found)
        fan_out.fan_out(manager.core, clock())
        sent = sender.flush(clock())
        seconds, used = time.monotonic() - began[0], time.process_time() - began[1]
    assert refused == len(found) - len(taken), (refused, len(found), len(taken))
    assert sent == 3 * len(taken), sent
    busy = check(database, taken) / HOSTS / (max(each.end for each in taken) - found[0].start)
    what = (f'{len(found):,} jobs of {"the trace" if "TRACE" in os.environ else "a made up trace"}'
            f' on {HOSTS} hosts, {database.dialect}')
    yield report.Figure(8, what, len(found) / seconds, 'leases/s', goal=120, more=True)
    yield report.Figure(8, f'{what}: processor', used * 1000 / len(found), 'ms')
    yield report.Figure(8, f'{what}: statements', len(statements) / len(found), 'statements',
                        goal=STATEMENTS, firm=True)
    yield report.Figure(8, f'{what}: refused', refused, 'leases')
    yield report.Figure(8, f'{what}: utilisation', busy * 100, '%')


if __name__ == '__main__':
    sys.exit(report.main(figures))
