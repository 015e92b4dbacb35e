# SPDX-License-Identifier: Apache-2.0
"""The sleep states of resources: who sleeps, and orders to fall asleep or to wake up."""
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
    """Reads and changes sleep states. Nothing is read while no power driver is configured."""

    def __init__(self, core):
        self._core = core

    @property
    def are_possible(self):
        """True if a power driver is configured."""
        return bool(self._core.conf.energy.driver)

    def asleep(self, resource_ids):
        """Return the ids of those resources that sleep, fall asleep or wake up."""
        if not self.are_possible or not resource_ids:
            return set()
        with self._core.database.reader() as connection:
            states = power.of(connection, resource_ids)
        return {key for key, power_now in states.items() if power_now.state in sleep.SLEEPING}

    def wake(self, resource_ids, now, mended=None):
        """Order all resources on the machines of these to wake up, even during maintenance.

        :param mended: the id of a resource that wakes up even if it failed to before.
        :returns: False if all of them are awake or waking already.
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
        """Return the ids of all enrolled resources on each machine of these, as tuples."""
        with self._core.database.reader() as connection:
            return machines.together(self._core, connection, resource_ids)

    @cores.again_after_a_race
    def wake_machine(self, resource_ids, now, mended=None):
        """Order the sleeping resources of one machine to wake up; return False if none sleeps.

        :param resource_ids: the ids of all resources on the machine, in order.
        :param mended: the id of a resource that wakes up even if it failed to before.
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

        :param latest_start: a lease that starts before that moment needs them awake.
        :returns: False if they stay awake, because a lease has one of them or needs it, or one is
            being maintained.
        """
        with self._core.database.writer() as connection:
            [ids] = machines.together(self._core, connection, [resource_id]) or [()]
            # A booking locks them too, so it either sees this state or is seen here.
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
        """Return {id: Power} of the resources of a machine; None: it must not be switched now.

        During the maintenance of one of them, somebody may work on the machine. If one was woken
        after the maintenance had begun, by an administrator or for a lease, it still wakes up. A
        step that a maintenance delayed gets its whole time again.
        """
        with self._core.database.reader() as connection:
            states = power.of(connection, resource_ids)
            maintained = maintenances.under_way(connection, resource_ids, now)
            moving = [power_now for power_now in states.values()
                      if power_now.state in (sleep.FALLING, sleep.WAKING)]
            # Most machines sleep, and no maintenance delays those.
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
        :raises ResourceInUse: it cannot sleep, or a lease has it or needs it soon.
        """
        source = self._core.registry.pool(pool)
        with self._core.database.reader() as connection:
            resource = resources.get(connection, pool, resource_id)
        if not self.are_possible or not isinstance(source, sleepable.Sleepable):
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
                    'up, or that is true of another resource on its machine.'))

    def shown(self, pool, found):
        """Return Resources of a pool with the state of their power, if they can sleep."""
        if not self.are_possible or not isinstance(self._core.registry.pool(pool),
                                                   sleepable.Sleepable):
            return found
        with self._core.database.reader() as connection:
            states = power.of(connection, [resource.id for resource in found])
        return [dataclasses.replace(resource, power_state=states[resource.id].state,
                                    power_since=states[resource.id].since) for resource in found]

    def _notice(self):
        conf = self._core.conf.energy
        return minutes(conf.lead_minutes + conf.wake_minutes)


def _needs(need, now, latest_start):
    return ((need.taken_at is not None and need.taken_at <= now)
            or (need.needed_at is not None and need.needed_at < latest_start))


def minutes(count):
    """Return a number of minutes as a timedelta."""
    return _MINUTE * count
