# SPDX-License-Identifier: Apache-2.0
"""The world of the model: one database, one cloud, two managers that can be stopped anywhere."""
import dataclasses
import datetime
import logging
import random
import uuid

import model_images
from support import builders
from support import ledger_driver

from climate import errors
from climate.cloud import simulated
from climate.cloud.simulated import neutron
from climate.db import events
from climate.db import tables
from climate.manager.events import loop

HOSTS = 7
#: The number of them that may be enrolled; ordinary servers live on the others.
POOLED = 4
#: Those that are lent to best effort, by the aggregate of that name.
LENT = ('compute-5', 'compute-6')
LENT_AGGREGATE = 'lent'
#: What is enrolled at first, beside hosts: {pool: (names, other fields)}.
POOLS = {
    'address': ([f'172.24.4.{number}' for number in range(210, 214)],
                {'network_id': neutron.PUBLIC}),
    # All of one machine, so that it can sleep.
    'backend': (['storage@ssd#ssd', 'storage@hdd#hdd'], {}),
    'segment': ([f'physnet1:vlan:{number}' for number in range(3000, 3003)], {}),
}
_TRIES = 4
CLAIM = datetime.timedelta(seconds=30)
#: The time for which Climate waits for images before it may delete a server without one.
IMAGES_TAKE = datetime.timedelta(minutes=10)

#: The most refused requests of a project that are kept, in runs in which they are few or many.
FEW, MANY = REFUSALS = 6, 1000

_OPTIONS = {
    ('simulated', 'hosts'): HOSTS,
    ('simulated', 'delete_seconds'): 5,
    ('simulated', 'server_seconds'): 3,
    ('simulated', 'image_seconds'): 8,
    ('simulated', 'volume_seconds'): 4,
    ('simulated', 'stack_seconds'): 6,
    ('simulated', 'port_seconds'): 4,
    ('simulated', 'cluster_seconds'): 6,
    ('acquire', 'lent_aggregate'): LENT_AGGREGATE,
    ('billing', 'close_days'): 0,
    ('acquire', 'retry_pause_longest_seconds'): 120,
    ('idle', 'idle_hours'): 1,
    ('energy', 'driver'): 'simulated',
    ('energy', 'spare'): 0,
    ('energy', 'lead_minutes'): 1,
    ('energy', 'wake_minutes'): 2,
    ('energy', 'wake_limit_minutes'): 5,
    ('energy', 'min_awake_minutes'): 2,
    ('energy', 'min_asleep_minutes'): 2,
    ('energy', 'cycles_per_day'): 100,
    ('health', 'sick_after_seconds'): 60,
    ('health', 'well_after_seconds'): 60,
    ('health', 'heal_hours'): 1,
    ('health', 'quarantine_minutes'): 10,
    ('manager', 'workers'): 4,
    ('manager', 'busy_seconds'): 10,
    ('manager', 'busy_limit_seconds'): 200,
    ('manager', 'retry_seconds'): 5,
    ('manager', 'claim_seconds'): CLAIM.total_seconds(),
    ('manager', 'minutes_before_end_lease'): 5,
    ('physical:host', 'image_seconds'): IMAGES_TAKE.total_seconds(),
    ('virtual:volume', 'copy_seconds'): 0,
    ('virtual:instance', 'bind_seconds'): 60,
    ('virtual:instance', 'image_seconds'): 600,
}


def configure(conf):
    """Set what makes a model's time short: long waits are only more of the same steps."""
    for (group, name), value in _OPTIONS.items():
        conf.set_override(name, value, group=group)
    return conf


def empty(database):
    """Take all rows away; what is numbered begins with 1 again."""
    if database.dialect == 'postgresql':
        builders.clean(database)
        return
    with database.writer() as connection:
        for table in reversed(tables.METADATA.sorted_tables):
            if table is not tables.WAIT_QUEUE:
                connection.execute(table.delete())
        if database.dialect == 'sqlite':
            connection.exec_driver_sql('DELETE FROM sqlite_sequence')
        else:
            for name in ('resources', 'allocations', 'properties'):
                connection.exec_driver_sql(f'ALTER TABLE {name} AUTO_INCREMENT = 1')


class Ids:
    """Stands in for uuid4, so that the same steps make the same ids."""

    def __init__(self):
        self._chance = random.Random(4)

    def __call__(self):
        return uuid.UUID(int=self._chance.getrandbits(128), version=4)


class Daemon(builders.Manager):
    """A manager that claims in one step and carries out in another, under a name of its own."""

    def __init__(self, conf, database, clock, cloud, owner, ledger):
        super().__init__(conf, database, clock, cloud, driver=ledger)
        # The clock of the process goes on also while the process stands still.
        self.core = dataclasses.replace(self.core, monotonic=lambda: clock().timestamp())
        self.claimed = []
        self.event_loop = loop.EventLoop(
            self.core, owner, lambda work, claim: self.claimed.append((work, claim)))

    def claim(self):
        return self.event_loop.tick(self.clock())

    def finish(self):
        while self.claimed:
            work, claim = self.claimed.pop(0)
            work(claim)

    def run(self):
        """Carry out events until none is due; all that were due could be claimed."""
        self.finish()
        tries = 0
        while self._due():
            # A transaction may be broken off; the next look takes what that one did not.
            tries = 0 if self.claim() else tries + 1
            self.finish()
            assert tries < _TRIES, f'Nobody can take what is due at {self.clock()}: {self._due()}'

    def _due(self):
        with self.database.reader() as connection:
            return events.due(connection, self.clock(), _TRIES)


class Complaints(logging.Handler):
    """Collects what was logged with a traceback: errors that nobody meant."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.found = []

    def emit(self, record):
        if record.exc_info:
            text = logging.Formatter().formatException(record.exc_info)
            self.found.append(f'{record.getMessage()}\n{text}')


class World:
    """The world of a run.

    :ivar managers: the two that live now.
    :ivar ledger: the LedgerDriver of an enforcement service, or None.
    :ivar witness: sees which images are begun, and which servers are deleted.
    :ivar frozen: one of them stood still in a call of the cloud, which went on too late.
    """

    def __init__(self, conf, database, points, enforced=False):
        empty(database)
        self.conf, self.database, self.points = conf, database, points
        points.disarm()
        self.clock = builders.Clock()
        self.cloud = simulated.SimulatedCloud(
            conf, on_point=self._reach, clock=lambda: self.clock().timestamp())
        self.witness = model_images.Witness(self.cloud, self.clock)
        self.ledger = ledger_driver.LedgerDriver(conf) if enforced else None
        if enforced:
            self.ledger.reach = self._reach_service
        self.frozen = False
        self._born = 0
        self.managers = [self._manager(), self._manager()]
        nova = self.cloud.as_service().nova
        nova.add_hosts(nova.ensure_aggregate(LENT_AGGREGATE), LENT)
        # Copies that users keep would fill their quotas.
        with self.cloud.state() as connection:
            connection.executemany(
                "INSERT INTO volume_quotas VALUES ('demo', ?, -1)",
                [('gigabytes',), ('volumes',), ('snapshots',)])
        self.at_first = self.cloud.leftovers()

    def _reach(self, name, when):
        self.witness.reach(name, when)
        self.points.reach(name, when)

    def _reach_service(self, name, when):
        try:
            self.points.reach(name, when)
        except errors.CloudUnreachable as error:
            raise errors.EnforcementUnavailable(reason=error.kwargs['reason']) from error

    def _manager(self):
        self._born += 1
        return Daemon(self.conf, self.database, self.clock, self.cloud, f'manager-{self._born}',
                      self.ledger)

    def choose(self, cleaning_minutes, hold_room, refusals):
        """Restart the managers with these options."""
        self.conf.set_override('cleaning_minutes', cleaning_minutes, group='manager')
        self.conf.set_override('hold_room', hold_room, group='virtual:instance')
        self.conf.set_override('refusals_per_project', refusals, group='forecast')
        self.conf.set_override('spare_percent', 0, group='energy')
        for place in range(len(self.managers)):
            self.restart(place)

    def restart(self, place):
        """Another process takes the place of one that died; it knows nothing."""
        self.points.disarm()
        self.managers[place] = self._manager()

    def close(self):
        self.points.disarm()
        self.cloud.close()
