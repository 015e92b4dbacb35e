# SPDX-License-Identifier: Apache-2.0
"""The cost of limits for the creation of a lease, over REST within one process.

``python -m benchmarks.limited``: an owner with 100 leases creates a lease without limits, and with
four limits that are not nearly reached. Both take turns, so that a busy machine slows down both.
"""
import random
import statistics
import sys
import time

import sqlalchemy as sa
from support import builders

from benchmarks import create
from benchmarks import fill
from benchmarks import report
from benchmarks import worlds
from climate.db import tables
from climate.manager.limits import books

HOSTS, LEASES = 1_000, 100
TURNS = {'short': 2, 'bench': 100, 'long': 500}
WARM_UP = 20
LIMITS = [
    {'name': 'leases', 'measure': 'open_leases', 'most': 1_000},
    {'name': 'week', 'measure': 'lease_length', 'most': '7d'},
    {'name': 'hosts', 'measure': 'resources', 'most': 500},
    {'name': 'cores', 'measure': 'resource_hours', 'most': 10 ** 9, 'unit': 'vcpus',
     'window': '90d'}]
# SQLite needs no lock of the owner, because a writer is alone.
MORE_STATEMENTS = {'sqlite': 1, 'postgresql': 2, 'mysql': 2}
GOAL_RATIO = 1.1


def figures(form):
    """Yield the Figures of all kinds of databases."""
    for kind in worlds.kinds():
        with worlds.emptied(kind) as database:
            fill.hosts(database, HOSTS)
            yield from _figures(database, TURNS[form])


def _figures(database, turns):
    conf = worlds.configured()
    conf.set_override('auth_strategy', 'noauth', group='api')
    clock = builders.Clock()
    plain, limited = (builders.Manager(conf, database, clock, monotonic=lambda: 0.0)
                      for _ in range(2))
    # The first manager has read the limit book before the limits were in force.
    books.known(plain.core, clock())
    books.LimitBooks(limited.core).create(builders.an_admin(), None, {'limits': LIMITS})
    owner = _Owner(database)
    plain, limited = (builders.Api(conf, manager) for manager in (plain, limited))
    for _ in range(LEASES):
        owner.create(plain)
    worlds.analyzed(database)
    for _ in range(min(turns, WARM_UP)):
        owner.turn(plain, limited)
    counts = []
    for api in (plain, limited):
        with builders.statements() as statements:
            owner.create(api)
        owner.set_aside()
        counts.append(len(statements))
    without, with_limits = zip(*(owner.turn(plain, limited) for _ in range(turns)), strict=True)
    what = f'create a lease with four limits, {LEASES} leases, {database.dialect}'
    yield report.Figure(20, what, counts[1], 'statements', firm=True,
                        goal=counts[0] + MORE_STATEMENTS[database.dialect])
    yield report.timed(20, f'{what}: processor time', with_limits)
    yield report.timed(20, 'the same without limits', without)
    yield report.Figure(20, 'the ratio of both', statistics.median(with_limits) / statistics.median(
        without), 'x', goal=GOAL_RATIO, runs=turns)


class _Owner:
    """A project that always has the same number of leases when it creates another one."""

    def __init__(self, database):
        self._database = database
        self._draw = random.Random(1)
        self._last = None

    def turn(self, *apis):
        """Create and set aside one lease through each API; return the milliseconds of each."""
        taken = []
        for api in apis:
            taken.append(self.create(api))
            self.set_aside()
        return taken

    def create(self, api):
        """Create a lease; return the milliseconds of the processor."""
        body = create.body(builders.at(1 + self._draw.randrange(30 * 24)))
        begun = time.process_time()
        answer = api.post('/v1/leases', version='1.1', raw=body)
        taken = (time.process_time() - begun) * 1_000
        assert answer.status_int == 201, answer.body
        self._last = answer.json['lease']['id']
        return taken

    def set_aside(self):
        """Give the last lease to another project."""
        with self._database.writer() as connection:
            connection.execute(sa.update(tables.LEASES).where(
                tables.LEASES.c.id == self._last).values(project_id='aside'))


def main(arguments=None):
    return report.main(figures, arguments)


if __name__ == '__main__':
    sys.exit(main())
