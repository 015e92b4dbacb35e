# SPDX-License-Identifier: Apache-2.0
"""The next step of one resource that falls asleep, sleeps or wakes up. Each may be repeated.

The intent is in the database before anything is called, and the outcome is written after it. So a
manager that dies between two calls leaves a state from which the next one goes on.
"""
from oslo_log import log

from climate import errors
from climate.db import absences
from climate.db import maintenances
from climate.db import power
from climate.db import resources
from climate.domain import sleep
from climate.domain import utilisation
from climate.manager import core as cores
from climate.manager.energy import sleepers
from climate.manager.queue import wakeups
from climate.power import base

LOG = log.getLogger(__name__)


class Steps:
    """Brings resources to the state in which they should be."""

    def __init__(self, core, driver):
        self._core = core
        self._driver = driver
        self._sleepers = sleepers.Sleepers(core)
        self._by_state = {sleep.FALLING: self._fall, sleep.ASLEEP: self._look,
                          sleep.WAKING: self._wake}

    def carry_on(self, resource, was, now):
        """Do the next step of a Resource whose Power was `was`.

        :raises PowerFailed: it could not be switched or asked; it is tried again.
        """
        pool = self._core.registry.pool(resource.pool)
        try:
            self._by_state[was.state](pool, resource, was, now)
        except errors.CloudError as error:
            LOG.warning('%s %s: %s, and it is tried again: %s', resource.pool, resource.name,
                        was.state, error.message)
            self._give_up(pool, resource, was, now)

    def _fall(self, pool, resource, was, now):
        cloud = self._core.cloud
        reason = None
        if pool.in_use(cloud, resource):
            reason = 'something is on it'
        elif not pool.close_for_sleep(cloud, resource):
            reason = 'an administrator has disabled it'
        else:
            # Look again: something may have come before it was closed.
            reason = pool.in_use(cloud, resource)
        if reason is not None:
            pool.open_after_sleep(cloud, resource)
            self._write(resource, was, sleep.AWAKE, now, reason)
            return
        if self._sleepers.power(resource.id) != was:
            return
        if self._driver.state(resource) == base.OFF:
            self._write(resource, was, sleep.ASLEEP, now, 'its power is off', sleep.SLEPT)
            return
        self._driver.sleep(resource)
        if self._sleepers.power(resource.id) != was:
            # It was woken meanwhile, and may count as awake by now.
            self._driver.wake(resource)
            return
        if self._driver.state(resource) == base.OFF:
            self._write(resource, was, sleep.ASLEEP, now, 'its power is off', sleep.SLEPT)
        else:
            self._give_up(pool, resource, was, now)

    def _look(self, pool, resource, was, now):
        if self._driver.state(resource) == base.ON:
            self._write(resource, was, sleep.WAKING, now, 'somebody switched it on')

    def _wake(self, pool, resource, was, now):
        if self._driver.state(resource) == base.OFF:
            self._driver.wake(resource)
        if (self._driver.state(resource) == base.ON
                and resource.id in pool.works(self._core.cloud, [resource])):
            pool.open_after_sleep(self._core.cloud, resource)
            # The calls of this step count, too: switching alone may take long.
            self._write(resource, was, sleep.AWAKE, now, 'it is up', sleep.WOKE,
                        (self._core.clock() - was.since).total_seconds())
            self._core.notify()
        else:
            self._give_up(pool, resource, was, now)

    def _give_up(self, pool, resource, was, now):
        """Stop a step that has taken longer than [energy] wake_limit_minutes."""
        limit = sleepers.minutes(self._core.conf.energy.wake_limit_minutes)
        if now - was.since < limit:
            return
        if was.state == sleep.FALLING:
            # It may be off by now, so it is woken as any other.
            self._write(resource, was, sleep.WAKING, now, 'it did not fall asleep in time')
        elif was.state == sleep.WAKING:
            self._write(resource, was, sleep.FAILED, now, 'it did not wake up in time',
                        sleep.FAILED_TO_WAKE)

    @cores.again_after_a_race
    def _write(self, resource, was, state, now, reason, kind=None, seconds=None):
        with self._core.database.writer() as connection:
            # Resources are locked before anything else.
            resources.touch(connection, [resource.id], now)
            if not power.change(connection, was, state, now):
                return
            if kind is not None:
                power.note(connection, resource.id, kind, now, seconds)
            if state == sleep.ASLEEP:
                absences.begin(connection, resource.id, utilisation.ASLEEP, now)
            elif state in (sleep.AWAKE, sleep.FAILED):
                absences.end(connection, resource.id, utilisation.ASLEEP, now)
            if state == sleep.FAILED:
                # The one place that marks it sick. Starts replace what is not reservable.
                resources.change(connection, resource.id, now, reservable=False)
            elif state == sleep.AWAKE:
                wakeups.wake(connection, now)
                maintenances.close_awake(connection, resource.id, now)
        level = log.ERROR if state == sleep.FAILED else log.INFO
        LOG.log(level, '%s %s: %s, now %s: %s%s', resource.pool, resource.name, was.state, state,
                reason, '; it is out of use. Repair it, then "climate host wake" and '
                '"climate host set --enable"' if state == sleep.FAILED else '')
