# SPDX-License-Identifier: Apache-2.0
"""The world of the model: one database, one cloud, two managers that can be stopped anywhere."""
import dataclasses
import datetime
import logging
import random
import uuid

import builders
import test_crash_in_process as crashes

from climate.cloud import simulated
from climate.db import tables
from climate.manager import clockwork

Crash = crashes.Crash
HOSTS = 6
#: So many of the hosts are never enrolled: ordinary servers live there.
ORDINARY = 2
CLAIM = datetime.timedelta(seconds=30)

_OPTIONS = {
    ('simulated', 'hosts'): HOSTS,
    ('simulated', 'delete_seconds'): 5,
    ('simulated', 'server_seconds'): 3,
    ('simulated', 'image_seconds'): 8,
    ('manager', 'workers'): 4,
    ('manager', 'busy_seconds'): 10,
    ('manager', 'busy_limit_seconds'): 200,
    ('manager', 'retry_seconds'): 5,
    ('manager', 'claim_seconds'): CLAIM.total_seconds(),
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
    if database.dialect != 'sqlite':
        builders.clean(database)
        return
    with database.writer() as connection:
        for table in reversed(tables.METADATA.sorted_tables):
            connection.execute(table.delete())
        connection.exec_driver_sql('DELETE FROM sqlite_sequence')


class Ids:
    """Stands in for uuid4, so that the same steps make the same ids."""

    def __init__(self):
        self._chance = random.Random(4)

    def __call__(self):
        return uuid.UUID(int=self._chance.getrandbits(128), version=4)


class Points:
    """The moments at which a process may die or stand still, and what happens at the next one.

    Those of the cloud are before and after each call; those of the database before and after each
    commit, where a process may die and nothing else can happen.
    """

    def __init__(self):
        self._left = 0
        self._deed = self._dies = None

    @property
    def armed(self):
        return self._deed is not None

    def arm(self, number, deed, dies):
        self._left, self._deed, self._dies = number, deed, dies

    def disarm(self):
        self._deed = None

    def reach(self, *where):
        if self._deed is None or not (where or self._dies):
            return
        self._left -= 1
        if self._left == 0:
            deed, self._deed = self._deed, None
            deed()


class Daemon(builders.Manager):
    """A manager that claims in one step and carries out in another, under a name of its own."""

    def __init__(self, conf, database, clock, cloud, owner):
        super().__init__(conf, database, clock, cloud)
        # The clock of the process goes on also while the process stands still.
        self.core = dataclasses.replace(self.core, monotonic=lambda: clock().timestamp())
        self.claimed = []
        self.clockwork = clockwork.Clockwork(
            self.core, owner, lambda work, claim: self.claimed.append((work, claim)))

    def claim(self):
        return self.clockwork.tick(self.clock())

    def finish(self):
        while self.claimed:
            work, claim = self.claimed.pop(0)
            work(claim)

    def run(self):
        self.finish()
        while self.claim():
            self.finish()


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
    """What a run happens in.

    :ivar managers: the two that live now.
    :ivar frozen: one of them stood still in a call of the cloud, which went on too late.
    """

    def __init__(self, conf, database, points):
        empty(database)
        self.conf, self.database, self.points = conf, database, points
        points.disarm()
        self.clock = builders.Clock()
        self.cloud = simulated.SimulatedCloud(
            conf, on_point=points.reach, clock=lambda: self.clock().timestamp())
        self.frozen = False
        self._born = 0
        self.managers = [self._manager(), self._manager()]
        self.at_first = self.cloud.leftovers()

    def _manager(self):
        self._born += 1
        return Daemon(self.conf, self.database, self.clock, self.cloud, f'manager-{self._born}')

    def restart(self, place):
        """Another process takes the place of one that died; it knows nothing."""
        self.points.disarm()
        self.managers[place] = self._manager()

    def close(self):
        self.points.disarm()
        self.cloud.close()
