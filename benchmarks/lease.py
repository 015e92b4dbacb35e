# SPDX-License-Identifier: Apache-2.0
"""The cost of the life of a lease of one host for a manager and its database.

``python -m benchmarks.lease``. The leases come one after the other, as they do where few come at a
time, through endpoint and event loop of one manager on the simulated cloud; after each event
it looks for the next one as the daemon does. The news of all of them go out at the end.
"""
import collections
import contextlib
import datetime
import os
import pathlib
import statistics
import sys
import time

import oslo_messaging as messaging
import sqlalchemy as sa
from support import builders

from benchmarks import report
from benchmarks import worlds
from climate.cloud import simulated
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.manager.notifications import fan_out
from climate.manager.notifications import outbox

HOSTS = 150
LEASES = {'short': 20, 'bench': 100, 'long': 2_000}
WARM_UP = 20
# The statements that each step of a lease's life may need.
STEPS = {'create': 15, 'start': 27, 'end': 23, 'news': 1}


class Meter:
    """Counts what steps cost: statements each time, and milliseconds of processor in all.

    The database's are those of all processes of a PostgreSQL on this machine, to a hundredth of a
    second; 0 elsewhere.
    """

    def __init__(self, database):
        self._database = database
        self.statements = collections.defaultdict(list)
        self.manager, self.server = collections.Counter(), collections.Counter()

    @contextlib.contextmanager
    def step(self, name):
        """Count what is done inside as part of that step."""
        with builders.statements() as statements:
            began = time.process_time()
            yield
            self.manager[name] += (time.process_time() - began) * 1000
        self.statements[name].append(len(statements))

    def server_ms(self):
        """The milliseconds that the processes of the database have used."""
        if self._database.dialect != 'postgresql':
            return 0
        with self._database.reader() as connection:
            pids = connection.exec_driver_sql('SELECT pid FROM pg_stat_activity').scalars().all()
        return sum(_processor_ms(pid) for pid in pids)


def _processor_ms(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf('SC_CLK_TCK')


def drained(manager):
    """Carry out all that is due, looking for the next moment after each as the daemon does."""
    while True:
        claimed = manager.event_loop.tick(manager.clock())
        manager.event_loop.next_moment()
        if not claimed:
            return


def live(manager, meter, clock):
    """One lease from its creation to its end."""
    with meter.step('create'):
        manager.create(builders.a_lease(end=clock() + builders.minutes(1)))
    with meter.step('start'):
        drained(manager)
    clock.ahead += builders.minutes(2)
    with meter.step('end'):
        drained(manager)


class Clock:
    """The clock of the database, and so much `ahead`."""

    def __init__(self, database):
        self._database = database
        self.ahead = datetime.timedelta()

    def __call__(self):
        return self._database.now() + self.ahead


def measure(database, count):
    """Run a number of leases; return the Meter."""
    clock = Clock(database)
    conf = worlds.configured(HOSTS)
    manager = builders.Manager(conf, database, clock, simulated.SimulatedCloud(conf))
    manager.enrol(HOSTS)
    sender = outbox.Sender(manager.core, 'bench',
                           messaging.get_notification_transport(conf, url='fake:/'))
    unmeasured = Meter(database)
    for _ in range(WARM_UP):
        live(manager, unmeasured, clock)
    fan_out.fan_out(manager.core, clock())
    sender.flush(clock())
    meter = Meter(database)
    before = meter.server_ms()
    for _ in range(count):
        live(manager, meter, clock)
    with meter.step('news'):
        fan_out.fan_out(manager.core, clock())
        assert sender.flush(clock()) == count * 3
    meter.server['all'] = meter.server_ms() - before
    assert lived(database) == count + WARM_UP
    return meter


def lived(database):
    """Return the number of leases that were started and are over."""
    with database.reader() as connection:
        return connection.execute(
            sa.select(sa.func.count()).select_from(tables.LEASES)
            .where(tables.LEASES.c.state == lifecycle.TERMINATED, tables.LEASES.c.id.in_(
                sa.select(tables.HISTORY.c.lease_id)
                .where(tables.HISTORY.c.what == event_kinds.START)))).scalar_one()


def _per_lease(statements, count):
    """Return the number of statements of a step for one lease.

    Now and then the clock of the database is read again, which is no part of a step. So the median
    counts, unless the step was made once for all leases.
    """
    return statistics.median(statements) if len(statements) == count else sum(statements) / count


def figures(form):
    """Measure the cost of each step of a lease, on each kind of database."""
    count = LEASES[form]
    for kind in worlds.kinds():
        with worlds.emptied(kind) as database:
            meter = measure(database, count)
        for step, goal in STEPS.items():
            what = f"a lease's {step}, {database.dialect}"
            yield report.Figure(0, what, _per_lease(meter.statements[step], count), 'statements',
                                goal=goal, runs=count, firm=True)
            yield report.Figure(0, f'{what}: processor', meter.manager[step] / count, 'ms',
                                runs=count)
        if database.dialect == 'postgresql':
            yield report.Figure(0, f"a lease's life, {database.dialect}: its processor",
                                meter.server['all'] / count, 'ms', runs=count)


if __name__ == '__main__':
    sys.exit(report.main(figures))
