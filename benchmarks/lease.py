# SPDX-License-Identifier: Apache-2.0
"""What the life of a lease of one host costs a manager and its database.

``python -m benchmarks.lease``, on the database that CLIMATE_TEST_DATABASE names, or on a SQLite
file. What is in the database goes. The leases come one after the other, as they do where few come
at a time, through the endpoint and the clockwork of one manager on the simulated cloud; after each
event it looks for the next one as the daemon does. The news of all of them go out at the end.
"""
# ruff: noqa: E402, I001
import collections
import contextlib
import datetime
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tests'))

from climate import backend

backend.prefer_threads()

from oslo_config import cfg
import oslo_messaging as messaging
import sqlalchemy as sa

import builders
from climate import conf as configuration
from climate.cloud import simulated
from climate.db import engine
from climate.db import migrate
from climate.db import tables
from climate.domain import agenda
from climate.domain import lifecycle
from climate.manager import notify
from climate.plugins import registry

HOSTS = 150
LEASES = 200
WARM_UP = 20
STEPS = ('create', 'start', 'end', 'news')


def configured():
    """The options of a manager on the simulated cloud, which takes no time."""
    conf = configuration.register(cfg.ConfigOpts())
    registry.register_options(conf, registry.load(['physical:host']))
    conf([], project='climate', default_config_files=[], default_config_dirs=[])
    conf.set_override('plugins', ['physical:host'])
    conf.set_override('driver', 'simulated', group='cloud')
    conf.set_override('hosts', HOSTS, group='simulated')
    conf.set_override('minutes_before_end_lease', 0, group='manager')
    messaging.get_notification_transport(conf, url='fake:/')  # It registers the options.
    conf.register_opts([], group='oslo_messaging_notifications')
    return conf


@contextlib.contextmanager
def counted():
    """The statements that are executed inside, as a list that grows."""
    found = []

    def note(connection, cursor, statement, *_):
        if not statement.startswith('BEGIN'):
            found.append(statement)

    sa.event.listen(sa.Engine, 'before_cursor_execute', note)
    yield found
    sa.event.remove(sa.Engine, 'before_cursor_execute', note)


class Meter:
    """Counts what steps cost: statements, and milliseconds of processor.

    The database's are those of all processes of a PostgreSQL on this machine, to a hundredth of a
    second; 0 elsewhere.
    """

    def __init__(self, database):
        self._database = database
        self.statements, self.manager, self.server = (collections.Counter() for _ in range(3))

    @contextlib.contextmanager
    def step(self, name):
        """Count what is done inside as part of that step."""
        with counted() as statements:
            began = time.process_time()
            yield
            self.manager[name] += (time.process_time() - began) * 1000
        self.statements[name] += len(statements)

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
        claimed = manager.clockwork.tick(manager.clock())
        manager.clockwork.next_moment()
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


def measure(database):
    """Let leases live; returns the Meter."""
    clock = Clock(database)
    conf = configured()
    manager = builders.Manager(conf, database, clock, simulated.SimulatedCloud(conf))
    manager.enrol(HOSTS)
    sender = notify.Sender(manager.core, 'bench',
                           messaging.get_notification_transport(conf, url='fake:/'))
    unmeasured = Meter(database)
    for _ in range(WARM_UP):
        live(manager, unmeasured, clock)
    sender.flush(clock())
    meter = Meter(database)
    before = meter.server_ms()
    for _ in range(LEASES):
        live(manager, meter, clock)
    with meter.step('news'):
        assert sender.flush(clock()) == LEASES * 3
    meter.server['all'] = meter.server_ms() - before
    assert lived(database) == LEASES + WARM_UP
    return meter


def lived(database):
    """How many leases were started and are over."""
    with database.reader() as connection:
        return connection.execute(
            sa.select(sa.func.count()).select_from(tables.LEASES)
            .where(tables.LEASES.c.state == lifecycle.TERMINATED, tables.LEASES.c.id.in_(
                sa.select(tables.HISTORY.c.lease_id)
                .where(tables.HISTORY.c.what == agenda.START)))).scalar_one()


@contextlib.contextmanager
def emptied():
    """The database that CLIMATE_TEST_DATABASE names, or a SQLite file; nothing is in its tables."""
    with tempfile.TemporaryDirectory() as folder:
        database = engine.Database(os.environ.get('CLIMATE_TEST_DATABASE',
                                                  f'sqlite:///{folder}/climate.sqlite'))
        if database.dialect == 'sqlite':
            migrate.upgrade(database)
        else:
            builders.clean(database)
        yield database
        database.dispose()


def main():
    with emptied() as database:
        meter = measure(database)
        for name in STEPS:
            print(f'{database.dialect}, {name}: {meter.statements[name] / LEASES:.1f} statements, '
                  f'{meter.manager[name] / LEASES:.1f} ms of processor')
        print(f'{database.dialect}, all of it: {meter.statements.total() / LEASES:.1f} statements, '
              f'{meter.manager.total() / LEASES:.1f} ms of processor, and '
              f'{meter.server["all"] / LEASES:.1f} ms of the database\'s')
    return 0


if __name__ == '__main__':
    sys.exit(main())
