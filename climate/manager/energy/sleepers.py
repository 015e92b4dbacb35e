# SPDX-License-Identifier: Apache-2.0
"""What a start and an administrator need to know of resources that sleep."""
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import maintenances
from climate.db import power
from climate.db import resources
from climate.domain import nouns
from climate.domain import sleep
from climate.manager import core as cores
from climate.manager.energy import machines
from climate.plugins import sleepable

LOG = log.getLogger(__name__)

_MINUTE = datetime.timedelta(minutes=1)


class Sleepers:
    """The resources that sleep. Nothing is asked while no power driver is configured."""

    def __init__(self, core):
        self._core = core

    @property
    def are_possible(self):
        """Whether resources can sleep at all."""
        return bool(self._core.conf.energy.driver)

    def among(self, resource_ids):
        """Return the ids of those that sleep, or are about to, but can be woken."""
        if not self.are_possible or not resource_ids:
            return set()
        with self._core.database.reader() as connection:
            found = power.of(connection, resource_ids)
        return {key for key, each in found.items() if each.state in sleep.SLEEPING}

    def await_awake(self, resource_ids, now):
        """Let the resources of a start wake up, even if they are being maintained.

        A lease that starts during maintenance could not be moved out of its way. A resource that
        does not wake up in time is taken out of use, and the start replaces it.

        :raises StillBusy: one sleeps still.
        """
        asleep = self.among(resource_ids)
        if not asleep:
            return
        for group in self._together(asleep):
            self.wake_machine(group, now)
            self._insist(group, now)
        told = nouns.counted(len(asleep), 'of its resources wakes up.',
                             'of its resources wake up.')
        raise errors.StillBusy(service='Climate', has_own_limit=True, reason=told,
                               owner_reason=told)

    def wake_ahead(self, resource_ids, now):
        """Note that what sleeps of these must wake up, if nothing there is being maintained."""
        for group in self._together(self.among(resource_ids)):
            with self._core.database.reader() as connection:
                maintained = maintenances.under_way(connection, group, now)
            if not maintained:
                self.wake_machine(group, now)

    def wake(self, resource_id, now):
        """Note that a resource and all others on its machine must wake up, whatever happens there.

        :returns: False if it is awake or waking already.
        """
        groups = self._together([resource_id])
        woken = [self.wake_machine(each, now, resource_id) for each in groups]
        for each in groups:
            self._insist(each, now)
        return any(woken)

    def _together(self, resource_ids):
        """Return the ids of all enrolled resources on the machine of each of these."""
        with self._core.database.reader() as connection:
            return machines.together(self._core, connection, resource_ids)

    @cores.again_after_a_race
    def wake_machine(self, resource_ids, now, mended=None):
        """Note that those of these resources that sleep must wake up; return False if none does.

        :param resource_ids: the ids of all resources on one machine, in order.
        :param mended: the id of one that wakes up even if it failed to before.
        """
        with self._core.database.writer() as connection:
            states = power.of(connection, resource_ids)
            changed = {key: each.state for key, each in states.items()
                       if (each.state in (sleep.ASLEEP, sleep.FALLING)
                           or (each.state == sleep.FAILED and key == mended))
                       and power.change(connection, each, sleep.WAKING, now)}
            if changed:
                self._core.resource_names.learn(resources.with_ids(connection, sorted(changed)))
        for key, before in changed.items():
            LOG.info('Resource %s: %s, now waking up', self._core.resource_names.of([key]), before)
        return bool(changed)

    @cores.again_after_a_race
    def put_to_sleep(self, resource_id, now, latest_start):
        """Note that a resource and all others on its machine fall asleep.

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
                    or any(each.held_by is not None or each.lent_to is not None for each in locked)
                    or any(_needs(each, now, latest_start) for each in needs.values())
                    or maintenances.under_way(connection, ids, now)
                    or any(each.state != sleep.AWAKE for each in states.values())):
                return False
            for each in states.values():
                power.change(connection, each, sleep.FALLING, now)
            self._core.resource_names.learn(locked)
        LOG.info('Resources %s: awake, now falling asleep', self._core.resource_names.of(ids))
        return True

    def _insist(self, resource_ids, now):
        """Let a machine that wakes up go on, though a maintenance holds it up."""
        with self._core.database.reader() as connection:
            maintained = maintenances.under_way(connection, resource_ids, now)
        if maintained:
            self._restart(resource_ids, max(maintained.values()), now)

    @cores.again_after_a_race
    def _restart(self, resource_ids, before, now):
        with self._core.database.writer() as connection:
            power.restart(connection, resource_ids, before, now)

    def movable(self, resource_ids, now):
        """Return {id: Power} of all resources on a machine; None: it must not be switched now.

        It must not while somebody may work on it, because one of them is being maintained. What was
        woken after that had begun was woken by hand or for a lease, and goes on. What a maintenance
        held up has as much time as if it had begun after it.
        """
        with self._core.database.reader() as connection:
            states = power.of(connection, resource_ids)
            maintained = maintenances.under_way(connection, resource_ids, now)
            moving = [each for each in states.values()
                      if each.state in (sleep.FALLING, sleep.WAKING)]
            # What sleeps is asked for most often, and no maintenance holds it up.
            begun = maintenances.begun(connection, resource_ids, now) if moving else {}
        if maintained and not any(each.state == sleep.WAKING
                                  and each.since >= max(maintained.values()) for each in moving):
            return None
        if begun and any(each.since < max(begun.values()) for each in moving):
            self._restart(resource_ids, max(begun.values()), now)
            with self._core.database.reader() as connection:
                return power.of(connection, resource_ids)
        return states

    def set_power(self, pool, resource_id, awake, now):
        """Wake a resource, or put it to sleep, because an administrator says so.

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
            self.wake(resource_id, now)
        elif not self.put_to_sleep(resource_id, now, now + self._notice()):
            self._refuse_unless_asleep(resource)

    def shown(self, pool, found):
        """Return Resources of a pool with the state of their power, if they can sleep."""
        if not self.are_possible or not isinstance(self._core.registry.pool(pool),
                                                   sleepable.Sleepable):
            return found
        with self._core.database.reader() as connection:
            states = power.of(connection, [each.id for each in found])
        return [dataclasses.replace(each, power_state=states[each.id].state,
                                    power_since=states[each.id].since) for each in found]

    def power(self, resource_id):
        """Return the Power of a resource."""
        with self._core.database.reader() as connection:
            return power.of(connection, [resource_id])[resource_id]

    def _notice(self):
        conf = self._core.conf.energy
        return minutes(conf.lead_minutes + conf.wake_minutes)

    def _refuse_unless_asleep(self, resource):
        if self.power(resource.id).state not in (sleep.FALLING, sleep.ASLEEP):
            raise errors.ResourceInUse(pool=resource.pool, resource=resource.name, reason=(
                'it stays awake: a lease has it or needs it soon, or it is out of use or waking '
                'up, or that is so of something else on its machine.'))


def _needs(need, now, latest_start):
    return ((need.taken_at is not None and need.taken_at <= now)
            or (need.needed_at is not None and need.needed_at < latest_start))


def minutes(count):
    """Return a span of so many minutes."""
    return _MINUTE * count
