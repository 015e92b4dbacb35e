# SPDX-License-Identifier: Apache-2.0
"""The cost of a request or an event, compared with the bare libraries doing the same work.

``python -m benchmarks.bare``: the processor time of one process, in which API and manager are one
program. The same work is a route of pecan that answers the same document, and as many statements of
SQLAlchemy, each of one row of ``leases`` by its key, in two transactions. A page of 100 leases
reads 600 rows: six statements of 100. A search for free hosts is compared with numpy, which sorts
the beginnings and the ends of all gaps and looks each of them up among the others; the whole answer
with the one statement that reads the allocations.
"""
import datetime
import json
import statistics
import sys
import time
import uuid

import numpy as np
import pecan
from pecan import rest
import sqlalchemy as sa
from support import builders
import webtest

from benchmarks import availability
from benchmarks import fill
from benchmarks import lease
from benchmarks import report
from benchmarks import worlds
from climate.cloud import simulated
from climate.db import booking_columns
from climate.db import tables
from climate.domain import interval
from climate.manager import endpoint
from climate.rpc import client

HOSTS = 1_000
LEASES = 1_000
ROUNDS = {'short': 20, 'bench': 200, 'long': 1_000}
_TOKEN = f'root:{fill.PROJECT}:admin,member,reader'
_LEASES = tables.LEASES
_PAGE = '/v1/leases?limit=100'


class Bare(rest.RestController):
    """The routes of leases that answer a document, and nothing else.

    :ivar document: what they answer.
    """

    def __init__(self):
        self.document = {}

    @pecan.expose('json')
    def get_all(self, _request, _response, **_parameters):
        return self.document

    @pecan.expose('json')
    def post(self, _request, _response, **_parameters):
        return self.document


def _bare_api(document):
    controller = Bare()
    controller.document = document

    class V1:
        leases = controller

    class Root:
        v1 = V1()
    return webtest.TestApp(pecan.make_app(Root(), use_context_locals=False, debug=False,
                                          force_canonical=False))


def taken(rounds, work):
    """The median of the milliseconds of the processor that `work` takes."""
    found = []
    for number in range(rounds + 5):
        began = time.process_time()
        work()
        if number >= 5:
            found.append((time.process_time() - began) * 1000)
    return statistics.median(found)


class Statements:
    """The cost of statements of one row, in milliseconds of the processor.

    :ivar read: a SELECT by the key.
    :ivar page: a SELECT of 100 rows.
    :ivar write: an INSERT.
    :ivar commit: a transaction around it.
    """

    def __init__(self, database, rounds):
        select = sa.select(_LEASES).where(_LEASES.c.id == sa.bindparam('key'))
        many = sa.select(_LEASES).limit(100)
        with database.reader() as connection:
            [row] = connection.execute(sa.select(_LEASES).limit(1)).mappings().all()
            self.read = taken(rounds, lambda: connection.execute(
                select, {'key': row['id']}).mappings().all())
            self.page = taken(rounds, lambda: connection.execute(many).mappings().all())
        insert = sa.insert(_LEASES)

        def write(connection):
            connection.execute(insert, {**row, 'id': str(uuid.uuid4())})
        with database.writer() as connection:
            self.write = taken(rounds, lambda: write(connection))

        def transaction():
            with database.writer() as connection:
                write(connection)
        self.commit = max(0, taken(rounds, transaction) - self.write)

    def cost(self, made):
        """The milliseconds of as many reads and writes as these statements are."""
        reads = sum(each.lstrip().upper().startswith('SELECT') for each in made)
        return reads * self.read + (len(made) - reads) * self.write + 2 * self.commit


def figures(form):
    """Rows 3 to 6 and 8."""
    rounds = ROUNDS[form]
    with worlds.emptied(worlds.FILE) as database:
        fill.hosts(database, HOSTS)
        fill.ended_leases(database, LEASES, HOSTS)
        conf = worlds.configured(HOSTS)
        conf.set_override('auth_strategy', 'noauth', group='api')
        manager = builders.Manager(conf, database, lambda: datetime.datetime.now(datetime.UTC))
        # Records pass the border between API and manager as they are, as in one program.
        manager.client = client.ManagerClient(endpoint.InProcess(endpoint.Endpoint(manager.core)))
        api, bare = builders.Api(conf, manager), Statements(database, rounds)

        def create():
            start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
            return _answered(api.post('/v1/leases', {
                'name': 'one more', 'start': start.isoformat(), 'duration': '1h',
                'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]},
                token=_TOKEN, version='1.1'))

        def page():
            return _answered(api.get(_PAGE, token=_TOKEN, version='1.1'))
        for row, what, work, method in ((4, 'a page of 100 leases', page, 'GET'),
                                        (3, 'create a lease', create, 'POST')):
            work()
            with builders.statements() as made:
                document = work()
            plain = _bare_api(document)
            libraries = (bare.cost(made) if work is create else 6 * bare.page) + taken(
                rounds, lambda plain=plain, method=method: plain.request(_PAGE, method=method))
            yield from _compared(row, what, taken(rounds, work), libraries)
    yield from _life(bare, rounds)
    yield from _search(rounds)


def _life(bare, rounds):
    """Rows 5 and 8: a start and a whole life, on a simulated cloud that answers at once."""
    with worlds.emptied(worlds.FILE) as database:
        clock = lease.Clock(database)
        conf = worlds.configured(HOSTS)
        manager = builders.Manager(conf, database, clock, simulated.SimulatedCloud(conf))
        manager.enrol(lease.HOSTS)
        meter = lease.Meter(database)
        for _ in range(rounds):
            lease.live(manager, meter, clock)
    for row, what, steps in ((5, 'a start', ['start']),
                             (8, 'the life of a lease', ['create', 'start', 'end'])):
        made = sum(int(statistics.median(meter.statements[step])) for step in steps)
        # About half of them write.
        libraries = made / 2 * (bare.read + bare.write) + 2 * len(steps) * bare.commit
        yield from _compared(
            row, what, sum(meter.manager[step] for step in steps) / rounds, libraries)


def _search(rounds):
    """Row 6: when hosts are free, with all their allocations in the 30 days."""
    rounds = min(rounds, availability.ROUNDS['bench'])
    with worlds.emptied(worlds.FILE, 'availability') as database:
        start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
        manager, questions = availability.filled(
            database, start, HOSTS, availability.EACH['bench'], 30, rounds)
        window = interval.Interval(start, start + availability.AHEAD)
        mine = statistics.median(availability.searched(manager, questions, start))
        with database.reader() as connection:
            known = booking_columns.of_pool(connection, 'host', window, parts=False)
            statement = taken(rounds, lambda: booking_columns.of_pool(
                connection, 'host', window, parts=False))
        yield from _compared(6, 'the search', mine, taken(rounds, lambda: _sorted(known)))
        answer = statistics.median(availability.found_by(manager, questions, start))
        yield from _compared(6, 'the answer', answer, statement)


def _sorted(known):
    """The time that numpy needs to find all moments at which the number of free hosts changes."""
    begins, ends = np.sort(known.ends), np.sort(known.starts)
    return np.searchsorted(begins, ends), np.searchsorted(ends, begins)


def _compared(row, what, mine, libraries):
    yield report.Figure(row, f'{what}: processor', mine, 'ms')
    yield report.Figure(row, f'{what}: processor of the bare libraries', libraries, 'ms')
    yield report.Figure(row, f'{what}: to the bare libraries', mine / libraries, 'x')


def _answered(answer):
    assert answer.status_int in (200, 201), answer.body
    document = json.loads(answer.body)
    assert len(document.get('leases', ())) in (0, 100)
    return document


if __name__ == '__main__':
    sys.exit(report.main(figures))
