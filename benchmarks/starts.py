# SPDX-License-Identifier: Apache-2.0
"""The lateness of leases that start in the same second, and the time of a large start and end.

``python -m benchmarks.starts``: the daemon's threads in this process, on the simulated cloud, whose
calls take their time. The cloud's own time is what calls of one start (or end) take one after the
other, for as many at a time as there are workers; what is later than that is Climate's.
"""
import collections
import concurrent.futures
import contextlib
import datetime
import math
import sys
import time

import sqlalchemy as sa
from support import builders

from benchmarks import report
from benchmarks import worlds
from climate.db import resource_properties
from climate.db import resources
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.manager import endpoint
from climate.manager import service
from climate.rpc import client

# (leases, seconds of a call).
CROWDS = {'short': ((20, 0.05), (50, 0)), 'bench': ((200, 0.05), (300, 0)),
          'long': ((200, 0.05), (2_000, 0))}
# (hosts, seconds of a call, calls at a time).
LARGE = {'short': (20, 0.05, 20), 'bench': (100, 0.2, 20), 'long': (100, 0.2, 20)}
LIMIT_SECONDS = 600
# A start of one host: whether it is up, the aggregates, the host in and out. What else it needs was
# made before, in three calls for each lease.
START_CALLS, STAGE_CALLS = 4, 3
# How long leases are known before their start, beside the time that it takes to make them.
_AHEAD_SECONDS = 12
_TRIED = 20
CREATORS = 4


class Daemon:
    """A manager with all its threads, and what calls of the cloud it made.

    :ivar calls: a Counter of the names of the calls.
    """

    def __init__(self, conf):
        self.manager = service.Manager(conf, serve_rpc=False)
        self.core = self.manager.core
        self.client = client.ManagerClient(endpoint.InProcess(self.manager.endpoint))
        self.calls = collections.Counter()

        def count(name, when):
            if when == 'before':
                self.calls[name] += 1
        self.core.cloud.faults.on_point = count


@contextlib.contextmanager
def running(database, hosts, seconds, concurrency=20):
    """A Daemon on `hosts` enrolled hosts of a cloud whose calls take a number of seconds."""
    conf = worlds.configured(hosts)
    conf.set_override('connection', database.engine.url.render_as_string(hide_password=False),
                      group='database')
    conf.set_override('concurrency', concurrency, group='nova')
    conf.set_override('delay_seconds', seconds, group='simulated')
    daemon = Daemon(conf)
    for name in sorted(daemon.core.cloud.host_names()):
        # Nobody waits for this here.
        with database.writer() as connection:
            _enrolled(connection, name, database.now())
    daemon.core.cloud.as_service().nova.add_hosts(
        daemon.core.cloud.as_service().nova.ensure_aggregate('freepool'),
        sorted(daemon.core.cloud.host_names()))
    daemon.manager.start()
    try:
        yield daemon
    finally:
        daemon.manager.stop(5)


def _enrolled(connection, name, now):
    resource_id = resources.add(connection, 'host', name, {'vcpus': 16}, now)
    resource_properties.set_values(connection, 'host', resource_id, {'service_name': name}, now,
                                   fact=True)


def created(daemon, count, start, end, hosts=1, name='lease'):
    """Create leases; the daemon does nothing for them before `start`."""
    def create(number):
        daemon.client.create_lease(
            builders.a_member(), f'{name}-{number:06}',
            builders.a_lease(builders.hosts(hosts), start=start, end=end))

    with concurrent.futures.ThreadPoolExecutor(CREATORS) as pool:
        list(pool.map(create, range(count)))


def wait_for(database, state, count):
    """Wait until a number of leases are in that state."""
    give_up = time.monotonic() + LIMIT_SECONDS
    query = sa.select(sa.func.count()).select_from(tables.LEASES).where(
        tables.LEASES.c.state == state)
    while True:
        with database.reader() as connection:
            found = connection.execute(query).scalar()
        if found == count:
            return
        assert time.monotonic() < give_up, f'{found} of {count} are {state}.'
        time.sleep(0.05)


def _wait_until_staged(database, count):
    """Wait until everything that leases need before their start is made."""
    give_up = time.monotonic() + LIMIT_SECONDS
    query = sa.select(sa.func.count()).select_from(tables.EVENTS).where(
        tables.EVENTS.c.kind == event_kinds.STAGE, tables.EVENTS.c.status == lifecycle.EVENT_DONE)
    while True:
        with database.reader() as connection:
            found = connection.execute(query).scalar()
        if found >= count:
            return
        assert time.monotonic() < give_up, f'{found} of {count} are staged.'
        time.sleep(0.05)


def told(database, what):
    """Return when `what` is in the history of each lease, in order."""
    with database.reader() as connection:
        return sorted(connection.execute(sa.select(tables.HISTORY.c.at).where(
            tables.HISTORY.c.what == what)).scalars())


def crowd(database, count, seconds):
    """Leases that start in the same second; returns the moments of their starts, and of `start`."""
    with running(database, count, seconds) as daemon:
        # Long enough to make them all, by how long some take that never start.
        began, later = time.monotonic(), daemon.core.clock() + builders.hours(24)
        created(daemon, _TRIED, later, later + builders.hours(1), name='later')
        each = (time.monotonic() - began) / _TRIED
        ahead = _AHEAD_SECONDS + count * (each * 1.5 + STAGE_CALLS * seconds)
        start = daemon.core.clock() + datetime.timedelta(seconds=ahead)
        created(daemon, count, start, start + builders.hours(9))
        _wait_until_staged(database, count)
        assert daemon.core.clock() < start, 'They were not made and staged in time.'
        daemon.calls.clear()
        wait_for(database, lifecycle.ACTIVE, count)
        lanes = min(daemon.manager.core.conf.manager.workers, 20)
        calls = sum(daemon.calls.values())
    # A manager that has just begun also reads the cloud for audits and repairs.
    assert calls <= START_CALLS * count + 20, daemon.calls
    return told(database, event_kinds.START), start, lanes


def large(database, hosts, seconds, concurrency):
    """Return the seconds for the start of a lease of many hosts, and for its end."""
    with running(database, hosts, seconds, concurrency) as daemon:
        start = daemon.core.clock() + datetime.timedelta(seconds=_AHEAD_SECONDS)
        end = start + datetime.timedelta(seconds=6)
        created(daemon, 1, start, end, hosts)
        _wait_until_staged(database, 1)
        wait_for(database, lifecycle.TERMINATED, 1)
    [began], [ended] = told(database, event_kinds.START), told(database, event_kinds.END)
    return (began - start).total_seconds(), (ended - end).total_seconds()


def figures(form):
    """Rows 5 and 13."""
    for kind in worlds.kinds_in(form):
        for count, seconds in CROWDS[form]:
            with worlds.emptied(kind) as database:
                yield from _crowd_figures(database, count, seconds)
        hosts, seconds, concurrency = LARGE[form]
        with worlds.emptied(kind) as database:
            began, ended = large(database, hosts, seconds, concurrency)
            what = f'a lease of {hosts} hosts, {seconds * 1000:.0f} ms a call, {database.dialect}'
            goal = 2.5 if hosts == 100 else None
            yield report.Figure(13, f'{what}: starts', began, 's', goal=goal)
            yield report.Figure(13, f'{what}: ends', ended, 's', goal=goal)


def _crowd_figures(database, count, seconds):
    moments, start, lanes = crowd(database, count, seconds)
    assert len(moments) == count
    passed = [(each - start).total_seconds() for each in moments]
    what = f'{count:,} starts at once, {seconds * 1000:.0f} ms a call, {database.dialect}'
    if seconds:
        late = [taken - math.ceil(place / lanes) * START_CALLS * seconds
                for place, taken in enumerate(passed, 1)]
        yield report.timed(5, f'{what}: late beyond the cloud', [each * 1000 for each in late],
                           goal=300, p99_goal=1_000)
    yield report.Figure(5, f'{what}: drained', count / max(passed), 'starts/s', more=True,
                        goal=None if seconds else 200)


if __name__ == '__main__':
    sys.exit(report.main(figures))
