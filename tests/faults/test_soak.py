# SPDX-License-Identifier: Apache-2.0
"""Memory and database do not grow while leases are made and ended at a steady rate for long.

CLIMATE_SOAK_SECONDS sets how long it runs: an hour with make faults-long. Without it the test is
skipped, because in a few minutes the filling of caches and pools looks like growth.
CLIMATE_SOAK_RATE sets how many leases are made per second.
"""
import collections
from concurrent import futures
import dataclasses
import datetime
import itertools
import os
import statistics
import time

from chaos import clients
from chaos import plan
from chaos import stage as stages
import pytest
import sqlalchemy as sa
from support import db_rows

from climate.db import engine
from climate.db import migrate
from climate.db import tables

_SECONDS = float(os.environ.get('CLIMATE_SOAK_SECONDS') or 0)
_RATE = float(os.environ.get('CLIMATE_SOAK_RATE') or 20)
_CLIENTS = 16
_HOSTS = 150
_LEASE_SECONDS = 3
_AUDIT_SECONDS = 120
# The first part of the time, in which caches and pools fill.
_WARM_UP = 0.2
_LOOKS = 60
_GROWTH = 1.10
_KEPT = datetime.timedelta(seconds=30)

pytestmark = [pytest.mark.faults,
              pytest.mark.skipif(not _SECONDS, reason='a long run: CLIMATE_SOAK_SECONDS')]


@dataclasses.dataclass(frozen=True)
class Look:
    """The measurements of one look.

    :ivar megabytes: memory by program; `seconds` of a processor by program, since it began.
    :ivar leases: how many the database has.
    """

    megabytes: dict
    seconds: dict
    leases: int


class Stream:
    """Clients who together ask for a lease every 1 / rate seconds."""

    def __init__(self, urls, made, seconds):
        self._doors = [clients.Door(urls, made.chances(f'client {number}'), 30)
                       for number in range(_CLIENTS)]
        self._numbers = itertools.count()
        self._began = time.monotonic()
        self._seconds = seconds

    def flow(self, door):
        """Ask for one lease after the other until the time is over."""
        # A draw from itertools.count is one step of the interpreter: no number comes twice.
        while (at := next(self._numbers) / _RATE) < self._seconds:
            time.sleep(max(0, self._began + at - time.monotonic()))
            door.ask('POST', '/leases', 'demo', {
                'name': 'one of many', 'duration': f'{_LEASE_SECONDS}s', 'reservations': [
                    {'resource_type': 'physical:host', 'min': 1, 'max': 1}]})
            # What is kept for those who look for a cause would be all that grows here.
            door.told.clear()

    def start(self, pool):
        return [pool.submit(self.flow, door) for door in self._doors]

    @property
    def answers(self):
        return sum((door.answers for door in self._doors), collections.Counter())


def _look(stage, database):
    """Purge as an administrator does, and look."""
    # It purges what ended within this day, which no manager closes before it is over.
    db_rows.closed(database, database.now())
    migrate.purge(database, database.now() - _KEPT)
    with database.reader() as connection:
        leases = connection.execute(
            sa.select(sa.func.count()).select_from(tables.LEASES)).scalar_one()
    programs = {**stage.daemons, 'broker': stage.broker, 'database': stage.database}
    return Look({name: program.resident_mb() for name, program in programs.items()},
                {name: program.processor_seconds() for name, program in programs.items()}, leases)


def _watch(stage, running):
    """Return each Look of the whole run, the first before any request."""
    database = engine.Database(stage.url)
    try:
        found = [_look(stage, database)]
        while not all(each.done() for each in running):
            futures.wait(running, timeout=_SECONDS / _LOOKS)
            found.append(_look(stage, database))
        for each in running:
            each.result()
        return found
    finally:
        database.dispose()


def test_memory_and_database_stay_as_large_as_they_were(tmp_path, figures):
    made = dataclasses.replace(plan.make(tmp_path, 'postgresql', [], 0), managers=1, apis=1,
                               hosts=_HOSTS, claim_seconds=30, answer_seconds=30, cuttable=False,
                               pinned=True, audit_seconds=_AUDIT_SECONDS)
    stage = stages.Stage(made)
    try:
        stage.up()
        stream = Stream(stage.urls, made, _SECONDS)
        with futures.ThreadPoolExecutor(_CLIENTS) as pool:
            looks = _watch(stage, stream.start(pool))
    finally:
        stage.down()
    warm = looks[int(len(looks) * _WARM_UP):]
    part = max(1, len(warm) // 5)
    growth = {name: _megabytes(warm[-part:], name) / _megabytes(warm[:part], name)
              for name in stage.daemons}
    figures(_table(stream.answers, looks, warm, part))
    assert set(stream.answers) == {('POST', 201)}
    assert max(growth.values()) <= _GROWTH, growth
    assert max(look.leases for look in warm[-part:]) <= 1.5 * _RATE * (
        _KEPT.total_seconds() + 2 * _LEASE_SECONDS + _SECONDS / _LOOKS)


def _megabytes(looks, name):
    return statistics.median(look.megabytes[name] for look in looks)


def _table(answers, looks, warm, part):
    leases = answers['POST', 201]
    first, last = looks[0], looks[-1]
    return '\n'.join([
        f'{_SECONDS:.0f} s, {_RATE:.0f} leases/s asked for, answers {dict(answers)}, '
        f'in the database at most {max(look.leases for look in warm)}',
        'program    MB after warm-up    MB at the end    processor seconds for 1,000 leases',
        *(f'{name:10} {_megabytes(warm[:part], name):16.1f} {_megabytes(warm[-part:], name):16.1f} '
          f'{(last.seconds[name] - first.seconds[name]) / leases * 1000:37.1f}'
          for name in first.megabytes)])
