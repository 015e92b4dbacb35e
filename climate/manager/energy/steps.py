# SPDX-License-Identifier: Apache-2.0
"""The next step of one machine that falls asleep, sleeps or wakes up. Each step can be repeated.

The intended state is stored before the first call, and the outcome after the last one. So if a
manager dies between two calls, another manager can continue.
"""
import datetime

from oslo_log import log

from climate import errors
from climate.db import absences
from climate.db import maintenances
from climate.db import power
from climate.db import resources
from climate.domain import sleep
from climate.domain import utilisation
from climate.manager import core as cores
from climate.manager.energy import sleep_states
from climate.manager.queue import wakeups
from climate.power import base

LOG = log.getLogger(__name__)


class Steps:
    """Brings the resources of machines into their intended states."""

    def __init__(self, core, driver):
        self._core = core
        self._driver = driver

    def carry_on(self, machine, powers, now):
        """Do the next step of a Machine. A failed call is logged, and the next pass repeats it.

        :param powers: {resource id: its Power}, of all resources on it.
        """
        states = {before.state for before in powers.values()}
        try:
            if states == {sleep.FALLING}:
                self._fall(machine, powers, now)
            elif states == {sleep.ASLEEP}:
                self._watch_asleep(machine, powers, now)
            elif states & {sleep.FALLING, sleep.ASLEEP}:
                # For example, one was enrolled while the others were falling asleep.
                self._write(machine, {key: before for key, before in powers.items()
                                      if before.state != sleep.FAILED}, sleep.WAKING, now,
                            'another resource on its machine is not asleep')
            else:
                self._wake(machine, _in_state(powers, sleep.WAKING), now)
        except errors.CloudError as error:
            LOG.warning('%s: a step in the state %s failed and is tried again: %s', machine.name,
                        ' and '.join(sorted(states)), error.message)
            self._give_up(machine, powers, now)

    def _fall(self, machine, powers, now):
        reason = self._in_use(machine, now)
        if reason is None and not self._close(machine):
            reason = 'an administrator has disabled it'
        elif reason is None:
            # Check again, because a server may have come before the machine was closed.
            reason = self._in_use(machine, now)
        if reason is not None:
            self._open(machine)
            self._write(machine, powers, sleep.AWAKE, now, reason)
            return
        if self._has_changed(powers):
            self._open_if_woken(machine)
            return
        if self._driver.state(machine) == base.OFF:
            self._write(machine, powers, sleep.ASLEEP, now, 'its power is off', sleep.SLEPT)
            return
        self._driver.sleep(machine)
        if self._has_changed(powers):
            # The machine was woken meanwhile. Its state may be awake already, so wake it here.
            self._driver.wake(machine)
            return
        if self._driver.state(machine) == base.OFF:
            self._write(machine, powers, sleep.ASLEEP, now, 'its power is off', sleep.SLEPT)
        else:
            self._give_up(machine, powers, now)

    def _in_use(self, machine, now):
        """Return why a machine must not be switched off, in words; None if it may be."""
        with self._core.database.reader() as connection:
            needs = power.needed(connection, now, [resource.id for resource in machine.resources])
        if any(need.needed_at is not None and need.needed_at <= now for need in needs.values()):
            # This lease was created or changed after the machine had begun to fall asleep.
            return 'a lease has it'
        reasons = (pool.in_use(self._core.cloud, resources_of)
                   for pool, resources_of in self._by_pool(machine))
        return next(filter(None, reasons), None)

    def _close(self, machine):
        return all(pool.close_for_sleep(self._core.cloud, resources_of)
                   for pool, resources_of in self._by_pool(machine))

    def _open(self, machine):
        for pool, resources_of in self._by_pool(machine):
            pool.open_after_sleep(self._core.cloud, resources_of)

    def _open_if_woken(self, machine):
        """Open a machine that another manager woke while this manager was closing it."""
        with self._core.database.reader() as connection:
            powers = power.of(connection, [resource.id for resource in machine.resources])
        if not {current.state for current in powers.values()} & {sleep.FALLING, sleep.ASLEEP}:
            self._open(machine)

    def _by_pool(self, machine):
        return [(self._core.registry.pool(name), resources_of)
                for name, resources_of in machine.by_pool()]

    def _has_changed(self, powers):
        with self._core.database.reader() as connection:
            return power.of(connection, powers) != powers

    def _watch_asleep(self, machine, powers, now):
        if self._driver.state(machine) == base.ON:
            self._write(machine, powers, sleep.WAKING, now, 'somebody switched it on')

    def _wake(self, machine, powers, now):
        """Wake the resources in `powers`; each counts as awake as soon as it works."""
        if self._driver.state(machine) == base.OFF:
            self._driver.wake(machine)
        awake = set()
        if self._driver.state(machine) == base.ON and not self._may_be_shutting_down(powers, now):
            for pool, resources_of in self._by_pool(machine):
                awake |= self._opened(pool, [
                    resource for resource in resources_of if resource.id in powers])
        woken = {key: before for key, before in powers.items() if key in awake}
        if woken:
            self._write(machine, woken, sleep.AWAKE, now, 'it is up', sleep.WOKE)
            self._core.notify()
        self._give_up(machine, {key: before for key, before in powers.items()
                                if key not in awake}, now)

    def _may_be_shutting_down(self, powers, now):
        """Return whether a machine fell asleep so recently that it may still seem awake.

        Its power is on until it has shut down. Afterwards, Nova reports its service as up for some
        time.
        """
        recent = now - datetime.timedelta(seconds=self._core.conf.energy.settle_seconds)
        with self._core.database.reader() as connection:
            return power.fell_asleep(connection, powers, recent)

    def _opened(self, pool, waking):
        """Open the working Resources; return the ids of those that are ready for leases."""
        works = pool.works(self._core.cloud, waking) if waking else ()
        working = [resource for resource in waking if resource.id in works]
        if not working:
            return set()
        pool.open_after_sleep(self._core.cloud, working)
        return pool.ready(self._core.cloud, working)

    def _give_up(self, machine, powers, now):
        """Stop a step that has taken longer than [energy] wake_limit_minutes."""
        limit = sleep_states.minutes(self._core.conf.energy.wake_limit_minutes)
        late = {key: before for key, before in powers.items()
                if before.since is not None and now - before.since >= limit}
        # A machine that fell asleep too slowly may be off, so wake it.
        self._write(machine, _in_state(late, sleep.FALLING), sleep.WAKING, now,
                    'it did not fall asleep in time')
        self._write(machine, _in_state(late, sleep.WAKING), sleep.FAILED, now,
                    'it did not wake up in time', sleep.FAILED_TO_WAKE)

    def _write(self, machine, powers, state, now, reason, kind=None):
        """Write a state of the resources in `powers`, unless another manager changed one of them.

        :param powers: {resource id: its Power}. Resources that are in the state are left out.
        """
        powers = {key: before for key, before in sorted(powers.items()) if before.state != state}
        if not powers or not self._write_all(powers, state, now, kind):
            return
        level = log.ERROR if state == sleep.FAILED else log.INFO
        for resource in machine.resources:
            if resource.id in powers:
                LOG.log(level, '%s %s: %s, now %s: %s%s', resource.pool, resource.name,
                        powers[resource.id].state, state, reason, (
                            '; it is out of use. Repair it, then wake it and enable it again, for '
                            'example with "climate host wake" and "climate host set --enable"'
                            if state == sleep.FAILED else ''))

    @cores.again_after_a_race
    def _write_all(self, powers, state, now, kind):
        with self._core.database.writer() as connection:
            # All transactions lock resources first.
            resources.touch(connection, list(powers), now)
            if power.of(connection, powers) != powers:
                return False
            for key, before in powers.items():
                if not power.change(connection, before, state, now):
                    # The resource was woken at this moment, so roll back the other changes.
                    raise errors.LostRace()
                self._note(connection, before, state, now, kind)
                if state == sleep.AWAKE:
                    maintenances.close_awake(connection, key, now)
            if state == sleep.AWAKE:
                wakeups.wake(connection, now)
        return True

    def _note(self, connection, before, state, now, kind):
        """Record a change of state for reports and for starts."""
        if kind is not None:
            # Read the clock, because a wake-up includes the calls of this step.
            power.note(connection, before.resource_id, kind, now, None if kind != sleep.WOKE else (
                self._core.clock() - before.since).total_seconds())
        if state == sleep.ASLEEP:
            absences.begin(connection, before.resource_id, utilisation.ASLEEP, now)
        elif state in (sleep.AWAKE, sleep.FAILED):
            absences.end(connection, before.resource_id, utilisation.ASLEEP, now)
        if state == sleep.FAILED:
            # Starts replace a resource that is not reservable.
            resources.change(connection, before.resource_id, now, reservable=False)


def _in_state(powers, state):
    return {key: before for key, before in powers.items() if before.state == state}
