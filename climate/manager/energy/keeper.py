# SPDX-License-Identifier: Apache-2.0
"""Decides periodically which resources sleep, and switches them."""
from concurrent import futures
import datetime
import functools

from oslo_log import log

from climate import errors
from climate.db import managers
from climate.db import power
from climate.db import resources
from climate.domain import sleep
from climate.manager.energy import sleepers
from climate.manager.energy import steps
from climate.manager.energy import wakes
from climate.plugins import sleepable

LOG = log.getLogger(__name__)

# If a manager has not been seen for this long, the next one goes on.
_ALIVE = datetime.timedelta(seconds=60)
_DAY = datetime.timedelta(days=1)
# How long wake-ups are remembered, of which the time of the next one is learnt.
_KEPT = datetime.timedelta(days=30)


class Keeper:
    """Puts resources to sleep and wakes them.

    Only the manager that has run longest does it. Several at once are harmless: each change of a
    state is a compare-and-set, and every step may be repeated.
    """

    def __init__(self, core, owner, driver):
        self._core = core
        self._owner = owner
        self._sleepers = sleepers.Sleepers(core)
        self._wakes = wakes.Wakes(core)
        self._steps = steps.Steps(core, driver)

    def step(self, now):
        """Decide once, and do the next step of each resource that does not just stay awake."""
        with self._core.database.reader() as connection:
            eldest = managers.longest_running(connection, now - _ALIVE)
        if eldest not in (None, self._owner):
            return
        self.decide(now)
        self.carry_on(now)

    def decide(self, now):
        """Write down which resources fall asleep, and which wake up as spare ones.

        What a lease needs is woken by its event, at the moment that is set here.
        """
        found = self._look(now)
        rules = self._rules()
        self._wakes.align({each.id: each.wake + rules.lead for each in found
                           if each.state in (sleep.ASLEEP, sleep.FALLING)
                           and each.needed_at is not None}, now)
        plan = sleep.plan(found, rules, now)
        known = {each.id: each for each in found}
        for resource_id in plan.wake:
            if not known[resource_id].is_due(rules, now):
                self._sleepers.wake(resource_id, now)
        for resource_id in plan.sleep:
            self._sleepers.put_to_sleep(resource_id, now, (
                now + known[resource_id].wake + rules.lead + rules.min_asleep))

    def carry_on(self, now):
        """Do the next step of each resource that falls asleep, sleeps or wakes up."""
        with self._core.database.reader() as connection:
            moving = power.in_states(connection, sleep.SLEEPING)
            known = {each.id: each for each in resources.enrolled(
                connection, [each.resource_id for each in moving])} if moving else {}
        moving = [each for each in moving if each.resource_id in known]
        if not moving:
            return
        # What wakes up is first, because a lease may wait for it.
        moving.sort(key=lambda each: each.state != sleep.WAKING)
        count = min(self._core.conf.energy.at_once, len(moving))
        with futures.ThreadPoolExecutor(count, thread_name_prefix='power') as threads:
            for _ in threads.map(functools.partial(self._carry_on, known, now), moving):
                pass

    def _carry_on(self, known, now, was):
        resource = known[was.resource_id]
        try:
            self._steps.carry_on(resource, was, now)
        except errors.ClimateError as error:
            LOG.warning('%s %s: its power is looked at again later: %s', resource.pool,
                        resource.name, error.message)
        except Exception:  # The door of one resource: the others must not wait for it.
            LOG.exception('%s %s: a step failed unexpectedly; it is tried again', resource.pool,
                          resource.name)

    def _look(self, now):
        """Return all resources that can sleep, as Sleepers."""
        pools = [name for name, pool in self._core.registry.pools.items()
                 if isinstance(pool, sleepable.Sleepable)]
        with self._core.database.writer() as connection:
            power.forget(connection, now - _KEPT)
        with self._core.database.reader() as connection:
            found = [each for name in sorted(pools) for each in resources.find(connection, name)]
            states = power.of(connection, [each.id for each in found])
            needed = power.needed(connection, now, pools=pools)
            cycles = power.cycles(connection, now - _DAY)
            took = power.wake_seconds(connection, now - _KEPT)
        conf = self._core.conf.energy
        return [sleep.Sleeper(
            id=each.id, state=states[each.id].state,
            since=states[each.id].since or each.created_at, group=self._group(each),
            is_free=self._is_free(each, needed.get(each.id), now),
            needed_at=needed[each.id].needed_at if each.id in needed else None,
            cycles=cycles[each.id],
            wake=sleep.wake_time(took.get(each.id, ()), sleepers.minutes(conf.wake_minutes),
                                 conf.wake_margin_percent / 100)) for each in found]

    def _group(self, resource):
        name = self._core.conf.energy.spare_by
        return f'{resource.pool} {resource.properties.get(name, "")}' if name else resource.pool

    @staticmethod
    def _is_free(resource, need, now):
        return (resource.reservable and resource.held_by is None and resource.lent_to is None
                and (need is None or need.taken_at > now))

    def _rules(self):
        conf = self._core.conf.energy
        return sleep.Rules(
            lead=sleepers.minutes(conf.lead_minutes),
            min_awake=sleepers.minutes(conf.min_awake_minutes),
            min_asleep=sleepers.minutes(conf.min_asleep_minutes),
            cycles_per_day=conf.cycles_per_day, spare=conf.spare,
            spare_share=conf.spare_percent / 100)
