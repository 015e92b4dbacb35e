# SPDX-License-Identifier: Apache-2.0
"""The next step of one machine that falls asleep, sleeps or wakes up. Each may be repeated.

The intent is stored before any call, and the outcome after it. So a manager that dies between two
calls leaves a state from which the next one continues.
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
        self._sleepers = sleep_states.SleepStates(core)

    def carry_on(self, machine, was, now):
        """Do the next step of a Machine.

        If a machine cannot be switched or called, this is logged, and tried again.

        :param was: {resource id: its Power}, of all resources on it.
        """
        states = {each.state for each in was.values()}
        try:
            if states == {sleep.FALLING}:
                self._fall(machine, was, now)
            elif states == {sleep.ASLEEP}:
                self._watch_asleep(machine, was, now)
            elif states & {sleep.FALLING, sleep.ASLEEP}:
                # Such as after the enrolment of one while the others were falling asleep.
                self._write(machine, {key: each for key, each in was.items()
                                      if each.state != sleep.FAILED}, sleep.WAKING, now,
                            'something on its machine is not asleep')
            else:
                self._wake(machine, _in_state(was, sleep.WAKING), now)
        except errors.CloudError as error:
            LOG.warning('%s: %s, and it is tried again: %s', machine.name,
                        ' and '.join(sorted(states)), error.message)
            self._give_up(machine, was, now)

    def _fall(self, machine, was, now):
        reason = self._in_use(machine, now)
        if reason is None and not self._close(machine):
            reason = 'an administrator has disabled it'
        elif reason is None:
            # Check again: a server may have come before it was closed.
            reason = self._in_use(machine, now)
        if reason is not None:
            self._open(machine)
            self._write(machine, was, sleep.AWAKE, now, reason)
            return
        if self._has_changed(was):
            self._open_what_is_awake(machine)
            return
        if self._driver.state(machine) == base.OFF:
            self._write(machine, was, sleep.ASLEEP, now, 'its power is off', sleep.SLEPT)
            return
        self._driver.sleep(machine)
        if self._has_changed(was):
            # It was woken meanwhile, and may count as awake by now.
            self._driver.wake(machine)
            return
        if self._driver.state(machine) == base.OFF:
            self._write(machine, was, sleep.ASLEEP, now, 'its power is off', sleep.SLEPT)
        else:
            self._give_up(machine, was, now)

    def _in_use(self, machine, now):
        """Return why a machine must not be switched off, in words; None if it may be."""
        with self._core.database.reader() as connection:
            needs = power.needed(connection, now, [each.id for each in machine.resources])
        if any(each.needed_at is not None and each.needed_at <= now for each in needs.values()):
            # A lease that was made, or changed, since the machine began to fall asleep.
            return 'a lease has it'
        return next((reason for pool, resources_of in machine.by_pool() for reason in [
            self._pool(pool).in_use(self._core.cloud, resources_of)] if reason is not None), None)

    def _close(self, machine):
        return all(self._pool(pool).close_for_sleep(self._core.cloud, resources_of)
                   for pool, resources_of in machine.by_pool())

    def _open(self, machine):
        for pool, resources_of in machine.by_pool():
            self._pool(pool).open_after_sleep(self._core.cloud, resources_of)

    def _open_what_is_awake(self, machine):
        """Open a machine that was woken by another manager while this one was closing it."""
        with self._core.database.reader() as connection:
            found = power.of(connection, [each.id for each in machine.resources])
        if not {each.state for each in found.values()} & {sleep.FALLING, sleep.ASLEEP}:
            self._open(machine)

    def _pool(self, name):
        return self._core.registry.pool(name)

    def _has_changed(self, was):
        with self._core.database.reader() as connection:
            return power.of(connection, was) != was

    def _watch_asleep(self, machine, was, now):
        if self._driver.state(machine) == base.ON:
            self._write(machine, was, sleep.WAKING, now, 'somebody switched it on')

    def _wake(self, machine, was, now):
        """Wake the resources in `was`; each is awake as soon as it works."""
        if self._driver.state(machine) == base.OFF:
            self._driver.wake(machine)
        awake = set()
        if self._driver.state(machine) == base.ON and not self._may_go_off(was, now):
            for name, there in machine.by_pool():
                awake |= self._opened(self._pool(name), [each for each in there if each.id in was])
        up = {key: each for key, each in was.items() if key in awake}
        if up:
            self._write(machine, up, sleep.AWAKE, now, 'it is up', sleep.WOKE)
            self._core.notify()
        self._give_up(machine, {key: each for key, each in was.items() if key not in awake}, now)

    def _may_go_off(self, was, now):
        """Return whether a machine fell asleep so recently that its state may be misleading.

        A machine that shuts down is on until it is off. After that, Nova believes for some time
        that its service is up.
        """
        settled = now - datetime.timedelta(seconds=self._core.conf.energy.settle_seconds)
        with self._core.database.reader() as connection:
            return power.fell_asleep(connection, was, settled)

    def _opened(self, pool, waking):
        """Open the working Resources; return the ids of those that are ready for leases."""
        works = pool.works(self._core.cloud, waking) if waking else ()
        found = [each for each in waking if each.id in works]
        if not found:
            return set()
        pool.open_after_sleep(self._core.cloud, found)
        return pool.ready(self._core.cloud, found)

    def _give_up(self, machine, was, now):
        """Stop a step that has taken longer than [energy] wake_limit_minutes."""
        limit = sleep_states.minutes(self._core.conf.energy.wake_limit_minutes)
        late = {key: each for key, each in was.items()
                if each.since is not None and now - each.since >= limit}
        # It may be off by now, so wake it like any other.
        self._write(machine, _in_state(late, sleep.FALLING), sleep.WAKING, now,
                    'it did not fall asleep in time')
        self._write(machine, _in_state(late, sleep.WAKING), sleep.FAILED, now,
                    'it did not wake up in time', sleep.FAILED_TO_WAKE)

    def _write(self, machine, was, state, now, reason, kind=None):
        """Bring the resources in `was` into a state, all of them or none.

        :param was: {resource id: its Power}; resources in that state already are left out.
        """
        was = {key: each for key, each in sorted(was.items()) if each.state != state}
        if not was or not self._write_all(was, state, now, kind):
            return
        level = log.ERROR if state == sleep.FAILED else log.INFO
        for each in machine.resources:
            if each.id in was:
                LOG.log(level, '%s %s: %s, now %s: %s%s', each.pool, each.name,
                        was[each.id].state, state, reason, (
                            '; it is out of use. Repair it, then wake it and enable it again, such '
                            'as by "climate host wake" and "climate host set --enable"'
                            if state == sleep.FAILED else ''))

    @cores.again_after_a_race
    def _write_all(self, was, state, now, kind):
        with self._core.database.writer() as connection:
            # Resources are locked before anything else.
            resources.touch(connection, list(was), now)
            if power.of(connection, was) != was:
                return False
            for key, each in was.items():
                if not power.change(connection, each, state, now):
                    # It was woken at this moment, so the others must not be written either.
                    raise errors.LostRace()
                self._note(connection, each, state, now, kind)
                if state == sleep.AWAKE:
                    maintenances.close_awake(connection, key, now)
            if state == sleep.AWAKE:
                wakeups.wake(connection, now)
        return True

    def _note(self, connection, was, state, now, kind):
        """Record a change of state for reports and for starts."""
        if kind is not None:
            # The calls of this step count, too: switching alone may take long.
            power.note(connection, was.resource_id, kind, now, (
                (self._core.clock() - was.since).total_seconds() if kind == sleep.WOKE else None))
        if state == sleep.ASLEEP:
            absences.begin(connection, was.resource_id, utilisation.ASLEEP, now)
        elif state in (sleep.AWAKE, sleep.FAILED):
            absences.end(connection, was.resource_id, utilisation.ASLEEP, now)
        if state == sleep.FAILED:
            # Starts replace a resource that is not reservable.
            resources.change(connection, was.resource_id, now, reservable=False)


def _in_state(powers, state):
    return {key: each for key, each in powers.items() if each.state == state}
