# SPDX-License-Identifier: Apache-2.0
"""The growth of work with the number of leases that are over: there must be none.

``python -m benchmarks.growth``. The same work is done on two databases in turns, of which one has
ten times the ended leases of the other, with all that belongs to them: reservations, allocations,
events, history. Times are compared, and the rows that the database reads for it, which is firm.
"""
import collections
import contextlib
import statistics
import sys
import time
from urllib import parse

import oslo_messaging as messaging
from support import builders

from benchmarks import examined
from benchmarks import history
from benchmarks import lease as life
from benchmarks import report
from benchmarks import worlds
from climate.db import leases
from climate.domain import interval
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import booking
from climate.manager.booking import wish_lists
from climate.manager.notifications import fan_out
from climate.manager.notifications import outbox
from climate.manager.usage import days
from climate.manager.usage import gauges
from climate.plugins import base

HOSTS = 50
# More than a page of the lists, so that they are full in both.
ENDED = {'short': 300, 'bench': 2_000, 'long': 50_000}
ROUNDS = {'bench': 10, 'long': 200}
EXAMINED_ROUNDS = 2
TIMES = 10
LIMIT = 1.3
# A few rows more are no growth: this number is added to both before they are compared.
# PostgreSQL may read all hosts one time and at the first few another, and what is over is many
# times more than these.
_SOME = 40 * HOSTS
_VERSION = '1.1'
_TWO_HOSTS = parse.quote('[{"resource_type": "physical:host", "min": 2, "max": 2}]')
_SMALL = {'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1}


class World:
    """A manager and an API on a database in which a number of leases are over."""

    def __init__(self, database, ended):
        conf = worlds.configured(HOSTS)
        conf.set_override('auth_strategy', 'noauth', group='api')
        self.database = database
        self.clock = builders.Clock()
        self.manager = builders.Manager(conf, database, self.clock)
        self.api = builders.Api(conf, self.manager)
        self.planner = booking.Booking(self.manager.core)
        self._news = outbox.Sender(self.manager.core, 'bench',
                                   messaging.get_notification_transport(conf, url='fake:/'))
        hosts = [host.id for host in self.manager.enrol(HOSTS)]
        # After midnight: the day has as many ended leases in both, however many there are.
        self.clock.advance(builders.hours(13))
        self._old = self.live(_unmeasured)
        history.multiply(database, self._old, ended, hosts)
        days.close(database, self.clock(), most=None)
        worlds.analyzed(database)

    def live(self, step):
        """Run a lease from its creation to its end; return it."""
        with step('create a lease'):
            made = self._ask('POST', '/v1/leases', {
                'name': 'mine', 'duration': '1h',
                'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]})
        with step('start it'):
            life.drained(self.manager)
        self.look(step, made['lease'])
        with step('prolong it'):
            self._ask('PUT', f'/v1/leases/{made["lease"]["id"]}', {
                'end': (self.clock() + builders.hours(2)).isoformat()})
            life.drained(self.manager)
        self.clock.advance(builders.hours(2))
        with step('end it'):
            life.drained(self.manager)
        with step('send its news'):
            fan_out.fan_out(self.manager.core, self.clock())
            assert self._news.flush(self.clock())
        with self.database.reader() as connection:
            ended = leases.get(connection, made['lease']['id'])
        assert ended.state == 'TERMINATED', ended
        return ended

    def look(self, step, lease):
        """Ask all that is asked for while a lease runs."""
        [reservation] = lease['reservations']
        with step('read a lease'):
            self._ask('GET', f'/v1/leases/{lease["id"]}')
        with step('may a server use it'):
            answer = self._ask(
                'GET', f'/v1/reservations/{reservation["id"]}/hosts?project_id=demo',
                token=builders.ADMIN)
            assert answer['reservation']['active'], answer
        with step('list leases'):
            assert self._ask('GET', '/v1/leases?limit=20')['leases']
        with step('list those of all projects'):
            self._ask('GET', '/v1/leases?limit=20&all_projects=true', token=builders.ADMIN)
        with step('list those that run'):
            answer = self._ask('GET', '/v1/leases?limit=20&status=active')
            assert [each['id'] for each in answer['leases']] == [lease['id']]
        with step('list those that run of all'):
            self._ask('GET', '/v1/leases?limit=20&status=active&all_projects=true',
                      token=builders.ADMIN)
        with step('list hosts'):
            self._ask('GET', '/v1/os-hosts?limit=20', token=builders.ADMIN)
        with step('list the allocations of hosts'):
            self._ask('GET', '/v1/os-hosts/allocations', token=builders.ADMIN)
        with step('look for due events'):
            assert not self.manager.event_loop.tick(self.clock())
            self.manager.event_loop.next_moment()
        with step('ask when hosts are free'):
            answer = self._ask('GET', f'/v1/availability?duration=2h&reservations={_TWO_HOSTS}')
            assert answer['offers'], answer
        with step('plan hosts'):
            self._plan(selection.Demand(selection.WHOLE, 1, 3, selection.Spread.APART), 3)
        with step('plan instances'):
            self._plan(selection.Demand(_SMALL, 3, 3, selection.Spread.ANY), 3)
        with step('report the usage of this day'):
            answer = self._ask('GET', '/v1/usage?start=now&end=%2B1h&group_by=pool')
            assert answer['usage']['total']['allocated']['resource_hours'], answer
        with step('report utilisation'):
            self._ask('GET', '/v1/utilisation', token=builders.ADMIN)
        with step('read the metrics of usage'):
            assert list(gauges.families(self.database, self.clock()))
        with step('look for a day to close'):
            days.close(self.database, self.clock())
        with step('read what an audit compares'), self.database.reader() as connection:
            found = leases.open_ones(connection)
        assert [each.id for each in found] == [lease['id']]

    def _plan(self, demand, count):
        wish = wish_lists.Wish('mine', base.Need('hosts', 'host', demand, requirement.parse('')))
        now = self.clock()
        chosen = self.planner.plan([wish], interval.Interval(now, now + builders.hours(5)), now)
        assert sum(given.copies for given in chosen) == count

    def _ask(self, method, path, body=None, token=builders.DEMO):
        answer = self.api.call(method, path, body, token=token, version=_VERSION)
        assert answer.status_int in (200, 201), (path, answer.json)
        return answer.json


@contextlib.contextmanager
def _unmeasured(_what):
    yield


class Watch:
    """Milliseconds of each step, of all rounds."""

    def __init__(self):
        self.taken = collections.defaultdict(list)

    @contextlib.contextmanager
    def step(self, what):
        began = time.perf_counter()
        yield
        self.taken[what].append((time.perf_counter() - began) * 1000)


class Ledger:
    """The rows that the database reads in each step, by statement."""

    def __init__(self, database):
        self._database = database
        self.examined = collections.defaultdict(collections.Counter)
        self.statements = 0

    @contextlib.contextmanager
    def step(self, what):
        with examined.counted(self._database) as found, builders.statements() as statements:
            yield
        self.examined[what].update(found)
        self.statements += len(statements)


def figures(form):
    """The growth of each work from N to 10 N ended leases, on SQLite and on PostgreSQL."""
    for kind in worlds.kinds():
        with worlds.emptied(kind, apart='few') as few, worlds.emptied(kind, apart='many') as many:
            if few.dialect in examined.DIALECTS:
                yield from _compared(World(few, ENDED[form]),
                                     World(many, ENDED[form] * TIMES), form)


def _compared(few, many, form):
    where = f'{ENDED[form] * TIMES:,} ended leases, {few.database.dialect}'
    if form != 'short':
        yield from _timed(few, many, where, ROUNDS[form])
    before, after = ledgers = Ledger(few.database), Ledger(many.database)
    for world, ledger in zip((few, many), ledgers, strict=True):
        for _ in range(EXAMINED_ROUNDS):
            world.live(ledger.step)
    for what in before.examined:
        yield report.Figure(
            10, f'{what}: examined, {where}', firm=True, unit='x', goal=LIMIT,
            value=_growth(before.examined[what].total(), after.examined[what].total()))
    yield report.Figure(10, f'statements of all that, {where}', unit='x', goal=1, firm=True,
                        value=after.statements / before.statements)
    grown = list(_grown(before.examined, after.examined))
    for line in grown:
        print(line, file=sys.stderr)
    yield report.Figure(10, f'statements that read more, {where}', len(grown), 'statements',
                        goal=0, firm=True)


def _timed(few, many, where, rounds):
    """The growth of the times of each work."""
    watches = Watch(), Watch()
    for _ in range(rounds):
        for world, watch in zip((few, many), watches, strict=True):
            world.live(watch.step)
    for what in watches[0].taken:
        before, after = (statistics.median(watch.taken[what]) for watch in watches)
        yield report.Figure(10, f'{what}: time, {where}', after / before, 'x', goal=LIMIT,
                            runs=rounds)


def _growth(before, after):
    return (after + _SOME) / (before + _SOME)


def _grown(few, many):
    """Return a line for each statement that reads more if more leases are over."""
    for what, statements in many.items():
        for statement, after in statements.items():
            before = few[what][statement]
            if _growth(before, after) > LIMIT:
                yield f'{what}: {before} grew to {after}: {" ".join(statement.split())}'


if __name__ == '__main__':
    sys.exit(report.main(figures))
