# SPDX-License-Identifier: Apache-2.0
"""One round of a manager's work for subscriptions, in a process that is killed at a point of it."""
import itertools
import os
import signal

import sqlalchemy as sa

from climate import cloud as clouds
from climate import conf as configuration
from climate.db import engine
from climate.manager import core as cores
from climate.manager.notifications import delivery
from climate.manager.notifications import fan_out
from climate.manager.notifications import reminders
from climate.notifiers import webhook
from support import loopback


class Points:
    """The moments at which the process may die; it kills itself at one of them.

    :param crash_at: the number of that moment; 0: none.
    """

    def __init__(self, crash_at):
        self._numbers = itertools.count(1)
        self._crash_at = crash_at

    def reach(self, *_):
        # next() of a count is one step, for all threads.
        if next(self._numbers) == self._crash_at:
            os.kill(os.getpid(), signal.SIGKILL)


class Fragile(webhook.Webhook):
    """A Webhook with a moment to die before and after each request."""

    def __init__(self, conf, points):
        super().__init__(conf, loopback.resolve)
        self._points = points

    def send(self, message, pool=None):
        self._points.reach()
        super().send(message, pool)
        self._points.reach()


def run(config_file, now, owner, crash_at=0):
    """Copy notifications, look for reminders, and deliver by webhook what is due at `now`."""
    conf = configuration.load([], 'climate-manager', files=[config_file])
    points = Points(crash_at)
    database = engine.connect(conf)
    core = cores.Core(conf=conf, database=database, cloud=clouds.build(conf, {}), registry=None,
                      clock=lambda: now)
    # Before each statement and before each commit; what comes after one is before the next.
    sa.event.listen(sa.Engine, 'before_cursor_execute', points.reach)
    sa.event.listen(sa.Engine, 'commit', points.reach)
    fan_out.fan_out(core, now)
    reminders.remind(core, now)
    delivery.Deliverer(core, owner, 'webhook', Fragile(conf, points)).deliver(now)
    database.dispose()
