# SPDX-License-Identifier: Apache-2.0
"""The speed at which 1, 2 and 3 managers carry out events that are due at once.

``python -m benchmarks.claims``. On SQLite it is one manager only, as that has one writer. The
events do nothing in the cloud (they are notices), so that only claiming and recording is measured.
"""
import dataclasses
import multiprocessing
import statistics
import sys
import time

from oslo_config import cfg
import sqlalchemy as sa
from support import builders

from benchmarks import report
from benchmarks import worlds
from climate import conf as configuration
from climate.db import events
from climate.db import leases
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import service

EVENTS = {'short': 300, 'bench': 1_000, 'long': 10_000}
RUNS = {'short': 1, 'bench': 2, 'long': 5}
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
    """One manager in a process of its own, until it is stopped."""
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
                events.new(lease.id, event_kinds.NOTIFY, due, now),)))


def left(database):
    """Return the number of events that are not done."""
    with database.reader() as connection:
        return connection.execute(
            sa.select(sa.func.count()).select_from(tables.EVENTS)
            .where(tables.EVENTS.c.status != lifecycle.EVENT_DONE)).scalar()


def drained(database, managers, count):
    """Return (events per second, milliseconds of processor per event) of some managers.

    The second leaves out the database, and what else the machine does.
    """
    processes = multiprocessing.get_context('spawn')
    url = database.engine.url.render_as_string(hide_password=False)
    ready, stop, spent = processes.Semaphore(0), processes.Event(), processes.Queue()
    workers = [processes.Process(target=work, args=(url, ready, stop, spent))
               for _ in range(managers)]
    for each in workers:
        each.start()
    for _ in workers:
        assert ready.acquire(timeout=60), 'A manager did not start.'
    fill(database, count)
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
    assert done == count, f'{count} events were carried out {done} times.'
    return count / seconds, used * 1000 / count


def figures(form):
    """Measure the events per second of a number of managers, on each kind of database."""
    for kind in worlds.kinds():
        yield from _figures(kind, form)


def _figures(kind, form):
    crowds = (1,) if kind == worlds.FILE else (1, 2, 3)
    found = {managers: [] for managers in crowds}
    for _ in range(RUNS[form]):
        for managers in crowds:
            with worlds.emptied(kind) as database:
                found[managers].append(drained(database, managers, EVENTS[form]))
    rates = {}
    for managers, runs in found.items():
        rates[managers], used = map(statistics.median, zip(*runs, strict=True))
        what = f'{EVENTS[form]:,} due events by {managers}, {database.dialect}'
        yield report.Figure(9, what, rates[managers], 'events/s', more=True, runs=len(runs),
                            goal=1_000 if managers == 3 else None)
        yield report.Figure(9, f'{what}: processor for each', used, 'ms', runs=len(runs))
    if 3 in rates:
        yield report.Figure(9, f'3 managers against 2, {database.dialect}', rates[3] / rates[2],
                            'x', goal=0.9, more=True, runs=RUNS[form])


if __name__ == '__main__':
    sys.exit(report.main(figures))
