# SPDX-License-Identifier: Apache-2.0
"""The number of leases of a host that are created per second, over REST.

``python -m benchmarks.create``: by 8 clients, on 1,000 hosts; API and manager in one process on
SQLite, and as programs of their own on the database that CLIMATE_TEST_DATABASE names, with
RabbitMQ between them where it is installed. Each lease is for an hour of the month to come; in the
long form, all are for the same hour too, so that all want the same hosts first.
"""
import contextlib
import datetime
import itertools
import json
import pathlib
import random
import statistics
import sys
import tempfile

import sqlalchemy as sa
from support import builders

from benchmarks import broker
from benchmarks import callers
from benchmarks import fill
from benchmarks import programs
from benchmarks import report
from benchmarks import worlds
from climate.db import tables

HOSTS = {'short': 50, 'bench': 1_000, 'long': 1_000}
LEASES = {'short': 0, 'bench': 300, 'long': 900}
RUNS = {'short': 0, 'bench': 2, 'long': 5}
CLIENTS = 8
WARM_UP = 80
EMBEDDED_GOAL, DISTRIBUTED_GOAL, GOAL_P99_MS = 200, 100, 100
# Was it made before; what is free; the host once more, locked, and its allocations; the
# lease, its reservation, events and allocation; the host's generation; history and news; the
# counter of changes.
GOAL_STATEMENTS = 13
_HOUR = datetime.timedelta(hours=1)


def figures(form):
    """Yield the Figures of both kinds of installations."""
    for kind in worlds.kinds():
        yield counted(kind, HOSTS[form])
        if not LEASES[form]:
            continue
        embedded = kind == worlds.FILE
        if not embedded and not broker.is_installed():
            continue
        words = 'one process, sqlite' if embedded else 'api, manager and rabbitmq, {0}'
        goal = EMBEDDED_GOAL if embedded else DISTRIBUTED_GOAL
        wanted = {'an hour of a month': spread}
        if form == 'long':
            wanted['the same hour'] = _alike
        with bus(embedded) as transport:
            for name, starts in wanted.items():
                rates, taken = [], []
                for _ in range(RUNS[form]):
                    with worlds.emptied(kind) as database:
                        fill.hosts(database, HOSTS[form])
                        worlds.analyzed(database)
                        seconds, heard = measured(database, transport, starts, LEASES[form])
                        no_overlap(database, LEASES[form] + WARM_UP)
                        words = words.format(database.dialect)
                    rates.append(LEASES[form] / seconds)
                    taken += heard
                yield report.Figure(
                    3, f'create a lease of a host for {name}, {words}', statistics.median(rates),
                    'leases/s', goal=goal, more=True, runs=len(rates))
                yield report.timed(3, f'the same, {name}, {words}', taken, p99_goal=GOAL_P99_MS)


@contextlib.contextmanager
def bus(embedded):
    """The address of a RabbitMQ of its own; None where the programs are one."""
    if embedded:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder, broker.running(pathlib.Path(folder)) as transport:
        yield transport


def counted(kind, hosts):
    """The Figure of how many statements one costs, with all that an API does in this process."""
    with worlds.emptied(kind) as database:
        fill.hosts(database, hosts)
        conf = worlds.configured()
        conf.set_override('auth_strategy', 'noauth', group='api')
        api = builders.Api(conf, builders.Manager(conf, database, builders.Clock()))
        for start in (1, 2):
            with builders.statements() as statements:
                answer = api.post('/v1/leases', version='1.1', raw=body(
                    builders.NOON + start * _HOUR))
            assert answer.status_int == 201, answer.body
        return report.Figure(
            3, f'create a lease of a host of {hosts:,}, {database.dialect}', len(statements),
            'statements', goal=GOAL_STATEMENTS, firm=True)


def measured(database, transport, starts, leases):
    """Return (the seconds for all leases, the milliseconds of each)."""
    url = database.engine.url.render_as_string(hide_password=False)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        if transport is None:
            _, port = stack.enter_context(programs.standalone(folder, url))
        else:
            _, port = stack.enter_context(programs.distributed(folder, url, transport))
        requests = [('POST', '/v1/leases', body(start))
                    for start in starts(WARM_UP + leases)]
        first, _ = callers.many(port, CLIENTS, requests[:WARM_UP])
        answers, seconds = callers.many(port, CLIENTS, requests[WARM_UP:])
    refused = [json.loads(document) for _, status, document in [*first, *answers] if status != 201]
    assert not refused, (len(refused), refused[0])
    return seconds, [milliseconds for milliseconds, _, _ in answers]


def no_overlap(database, leases):
    """Assert that all leases have their host, and no host is allocated twice at a time."""
    given = tables.ALLOCATIONS
    with database.reader() as connection:
        rows = connection.execute(
            sa.select(given.c.resource_id, given.c.start, given.c.end)
            .order_by(given.c.resource_id, given.c.start)).all()
    assert len(rows) == leases, len(rows)
    for (one, _, end), (other, start, _) in itertools.pairwise(rows):
        assert one != other or end <= start, (one, start)


def spread(count):
    made = random.Random(1)
    return [_tomorrow() + made.randrange(30 * 24) * _HOUR for _ in range(count)]


def _alike(count):
    return [_tomorrow()] * count


def _tomorrow():
    now = datetime.datetime.now(datetime.UTC)
    return now.replace(minute=0, second=0, microsecond=0) + 24 * _HOUR


def body(start):
    return callers.body(
        name='bench', start=f'{start:%Y-%m-%dT%H:%M:%SZ}', duration='1h',
        reservations=[{'resource_type': 'physical:host', 'min': 1, 'max': 1}])


def main(arguments=None):
    return report.main(figures, arguments)


if __name__ == '__main__':
    sys.exit(main())
