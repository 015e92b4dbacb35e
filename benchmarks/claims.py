# SPDX-License-Identifier: Apache-2.0
"""How fast 1, 2 and 3 managers together carry out 2,000 events that are due at once.

``python -m benchmarks.claims``, on the database that CLIMATE_TEST_DATABASE names, or on a SQLite
file (then one manager only, as SQLite has one writer). What is in the database goes. The events
do nothing in the cloud (they are notices), so that only claiming and recording is measured.
"""
# ruff: noqa: E402, I001
import dataclasses
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tests'))

from climate import backend

backend.prefer_threads()

from oslo_config import cfg
import sqlalchemy as sa

import builders
from climate import conf as configuration
from climate.db import engine
from climate.db import events
from climate.db import leases
from climate.db import migrate
from climate.db import tables
from climate.domain import agenda
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import service

EVENTS = 2_000
LIMIT_SECONDS = 300


def configured(url):
    """The options of a manager on that database and the simulated cloud."""
    conf = configuration.register(cfg.ConfigOpts())
    conf([], project='climate', default_config_files=[], default_config_dirs=[])
    conf.set_override('plugins', ['virtual:dummy'])
    conf.set_override('driver', 'simulated', group='cloud')
    conf.set_override('connection', url, group='database')
    conf.set_override('poll_seconds', 0.1, group='manager')
    conf.register_opts([], group='oslo_messaging_notifications')
    return conf


def work(url, ready, stop, spent):
    """One manager in a process of its own, until it is told to stop."""
    manager = service.Manager(configured(url), serve_rpc=False)
    manager.start()
    began = time.process_time()
    ready.release()
    stop.wait()
    spent.put(time.process_time() - began)
    manager.stop()


def fill(database, count):
    """Write leases that run, each with one notice that is due."""
    now = database.now()
    with database.writer() as connection:
        for number in range(count):
            lease = records.Lease(
                id=f'lease-{number:06}', name='bench', project_id='bench', user_id='bench',
                start=now - builders.hours(1), end=now + builders.hours(9),
                state=lifecycle.ACTIVE, created_at=now)
            due = now - builders.minutes(1) + builders.minutes(number / count)
            leases.add(connection, dataclasses.replace(lease, events=(
                events.new(lease.id, agenda.NOTIFY, due, now),)))


def left(database):
    """How many events are not done."""
    with database.reader() as connection:
        return connection.execute(
            sa.select(sa.func.count()).select_from(tables.EVENTS)
            .where(tables.EVENTS.c.status != lifecycle.EVENT_DONE)).scalar()


def drained(database, url, managers):
    """What so many managers did together: (events a second, milliseconds of processor an event).

    The second leaves out the database, and what else the machine does.
    """
    processes = multiprocessing.get_context('spawn')
    ready, stop, spent = processes.Semaphore(0), processes.Event(), processes.Queue()
    workers = [processes.Process(target=work, args=(url, ready, stop, spent))
               for _ in range(managers)]
    for each in workers:
        each.start()
    for _ in workers:
        assert ready.acquire(timeout=60), 'A manager did not start.'
    fill(database, EVENTS)
    began = time.monotonic()
    while left(database):
        assert time.monotonic() < began + LIMIT_SECONDS, 'The events were not done in time.'
        time.sleep(0.02)
    seconds = time.monotonic() - began
    stop.set()
    used = sum(spent.get(timeout=60) for _ in workers)
    for each in workers:
        each.join(60)
    with database.reader() as connection:
        done = connection.execute(sa.select(sa.func.count()).select_from(tables.HISTORY)).scalar()
    assert done == EVENTS, f'{EVENTS} events were carried out {done} times.'
    return EVENTS / seconds, used * 1000 / EVENTS


def main():
    with tempfile.TemporaryDirectory() as folder:
        url = os.environ.get('CLIMATE_TEST_DATABASE', f'sqlite:///{folder}/climate.sqlite')
        database = engine.Database(url)
        if database.dialect == 'sqlite':
            migrate.upgrade(database)
        for managers in (1,) if database.dialect == 'sqlite' else (1, 2, 3):
            if database.dialect != 'sqlite':
                builders.clean(database)
            rate, used = drained(database, url, managers)
            print(f'{database.dialect}: {EVENTS} events by {managers}: {rate:.0f} a second, '
                  f'{used:.1f} ms of processor each', flush=True)
        database.dispose()
    return 0


if __name__ == '__main__':
    sys.exit(main())
