# SPDX-License-Identifier: Apache-2.0
"""The sleep states of resources: read them, and order resources to fall asleep or to wake up."""
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import maintenances
from climate.db import power
from climate.db import resources
from climate.domain import sleep
from climate.manager import core as cores
from climate.manager.energy import machines
from climate.plugins import sleepable

LOG = log.getLogger(__name__)

_MINUTE = datetime.timedelta(minutes=1)


class SleepStates:
    """Reads and changes sleep states. Without a power driver, all resources count as awake."""

    def __init__(self, core):
        self._core = core

    @property
    def are_possible(self):
        """True if a power driver is configured."""
        return bool(self._core.conf.energy.driver)

    def asleep(self, resource_ids):
        """Return the ids of the resources that sleep, fall asleep or wake up."""
        if not self.are_possible or not resource_ids:
            return set()
        with self._core.database.reader() as connection:
            states = power.of(connection, resource_ids)
        return {key for key, power_now in states.items() if power_now.state in sleep.SLEEPING}

    def wake(self, resource_ids, now, mended=None):
        """Order the machines of the given resources to wake up, even during maintenance.

        :param mended: the id of a repaired resource; it wakes up even if it failed to wake before.
        :returns: False if no state had to change.
        """
        is_changed = False
        for group in self.on_machines_of(resource_ids):
            is_changed |= self.wake_machine(group, now, mended)
            with self._core.database.reader() as connection:
                maintained = maintenances.under_way(connection, group, now)
            if maintained:
                self._restart(group, max(maintained.values()), now)
        return is_changed

    def on_machines_of(self, resource_ids):
        """Return a tuple for each machine of the given resources: the ids of all on it."""
        with self._core.database.reader() as connection:
            return machines.together(self._core, connection, resource_ids)

    @cores.again_after_a_race
    def wake_machine(self, resource_ids, now, mended=None):
        """Order the sleeping resources of one machine to wake up; return False if none sleeps.

        :param resource_ids: the ids of all resources on the machine, in order.
        :param mended: the id of a repaired resource, see `wake`.
        """
        with self._core.database.writer() as connection:
            states = power.of(connection, resource_ids)
            changed = {key: before.state for key, before in states.items()
                       if (before.state in (sleep.ASLEEP, sleep.FALLING)
                           or (before.state == sleep.FAILED and key == mended))
                       and power.change(connection, before, sleep.WAKING, now)}
            if changed:
                self._core.resource_names.learn(resources.with_ids(connection, sorted(changed)))
        for key, before in changed.items():
            LOG.info('Resource %s: %s, now waking up', self._core.resource_names.of([key]), before)
        return bool(changed)

    @cores.again_after_a_race
    def put_to_sleep(self, resource_id, now, latest_start):
        """Order a resource and all others on its machine to fall asleep.

        :param latest_start: leases that start before this moment need their resources awake.
        :returns: False if the resources stay awake, because a lease has or needs one of them, or
            because one is under maintenance or not awake.
        """
        with self._core.database.writer() as connection:
            [ids] = machines.together(self._core, connection, [resource_id]) or [()]
            # Bookings lock these rows too, so a booking is either seen here or sees the new state.
            locked = resources.lock(connection, ids)
            needs = power.needed(connection, now, ids)
            states = power.of(connection, ids)
            if (not ids or len(locked) < len(ids)
                    or any(resource.held_by is not None or resource.lent_to is not None
                           for resource in locked)
                    or any(_needs(need, now, latest_start) for need in needs.values())
                    or maintenances.under_way(connection, ids, now)
                    or any(before.state != sleep.AWAKE for before in states.values())):
                return False
            for before in states.values():
                power.change(connection, before, sleep.FALLING, now)
            self._core.resource_names.learn(locked)
        LOG.info('Resources %s: awake, now falling asleep', self._core.resource_names.of(ids))
        return True

    @cores.again_after_a_race
    def _restart(self, resource_ids, before, now):
        with self._core.database.writer() as connection:
            power.restart(connection, resource_ids, before, now)

    def movable(self, resource_ids, now):
        """Return {id: Power} of the resources of a machine; None if it must not be switched now.

        A machine is not switched during the maintenance of one of its resources, because somebody
        may work on it. But if an administrator or a lease woke a resource after the maintenance had
        begun, the machine still wakes up. If maintenance delayed a step, the step gets its full
        time limit again.
        """
        with self._core.database.reader() as connection:
            states = power.of(connection, resource_ids)
            maintained = maintenances.under_way(connection, resource_ids, now)
            moving = [power_now for power_now in states.values()
                      if power_now.state in (sleep.FALLING, sleep.WAKING)]
            begun = maintenances.begun(connection, resource_ids, now) if moving else {}
        if maintained and not any(power_now.state == sleep.WAKING
                                  and power_now.since >= max(maintained.values())
                                  for power_now in moving):
            return None
        if begun and any(power_now.since < max(begun.values()) for power_now in moving):
            self._restart(resource_ids, max(begun.values()), now)
            with self._core.database.reader() as connection:
                return power.of(connection, resource_ids)
        return states

    def set_power(self, pool, resource_id, awake, now):
        """Wake a resource, or put it to sleep, by order of an administrator.

        :raises ResourceNotFound: the pool has no such resource.
        :raises ResourceInUse: the resource cannot sleep, or a lease has it or needs it soon.
        """
        can_sleep = self._can_sleep(pool)
        with self._core.database.reader() as connection:
            resource = resources.get(connection, pool, resource_id)
        if not can_sleep:
            raise errors.ResourceInUse(pool=pool, resource=resource.name, reason=(
                'resources of this pool never sleep.' if self.are_possible else
                'no power driver is configured; set [energy] driver.'))
        if awake:
            self.wake([resource_id], now, mended=resource_id)
        elif not self.put_to_sleep(resource_id, now, now + self._notice()):
            with self._core.database.reader() as connection:
                state = power.of(connection, [resource_id])[resource_id].state
            if state not in (sleep.FALLING, sleep.ASLEEP):
                raise errors.ResourceInUse(pool=pool, resource=resource.name, reason=(
                    'it stays awake: a lease has it or needs it soon, it is out of use or waking '
                    'up, or one of these holds for another resource on its machine.'))

    def shown(self, pool, pool_resources):
        """Return Resources of a pool, with their sleep states if they can sleep."""
        if not self._can_sleep(pool):
            return pool_resources
        with self._core.database.reader() as connection:
            states = power.of(connection, [resource.id for resource in pool_resources])
        return [dataclasses.replace(resource, power_state=states[resource.id].state,
                                    power_since=states[resource.id].since)
                for resource in pool_resources]

    def _can_sleep(self, pool):
        return isinstance(self._core.registry.pool(pool), sleepable.Sleepable) and self.are_possible

    def _notice(self):
        conf = self._core.conf.energy
        return minutes(conf.lead_minutes + conf.wake_minutes)


def _needs(need, now, latest_start):
    return ((need.taken_at is not None and need.taken_at <= now)
            or (need.needed_at is not None and need.needed_at < latest_start))


def minutes(count):
    """Return a number of minutes as a timedelta."""
    return _MINUTE * count
