# SPDX-License-Identifier: Apache-2.0
"""Decides periodically which resources sleep, and switches them."""
import collections
from concurrent import futures
import datetime

from oslo_log import log

from climate import errors
from climate.db import maintenances
from climate.db import managers
from climate.db import power
from climate.db import resources
from climate.domain import sleep
from climate.manager import core as cores
from climate.manager.energy import machines
from climate.manager.energy import sleepers
from climate.manager.energy import steps
from climate.manager.energy import wakes

LOG = log.getLogger(__name__)

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
        self._driver = driver
        # The names of the machines that cannot be woken, as the log says already.
        self._silent = set()

    def step(self, now):
        """Do the next step of each machine that falls asleep, sleeps or wakes, then decide once.

        What wakes up does not wait for a decision, which asks other machines for their power.
        """
        with self._core.database.reader() as connection:
            eldest = managers.is_eldest(connection, self._owner, now)
        if not eldest:
            return
        with cores.isolated('Machines that sleep'):
            self.carry_on()
        self.decide(self._core.clock())

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
                with cores.isolated('Resource %s: waking it', resource_id):
                    self._sleepers.wake(resource_id, now)
        falling = collections.defaultdict(list)
        for resource_id in plan.sleep:
            falling[known[resource_id].machine].append(known[resource_id])
        able = self._switchable(falling)
        # Machines were asked, which may have taken long.
        now = self._core.clock()
        for together in able:
            with cores.isolated('%s: putting it to sleep', together[0].machine):
                self._sleepers.put_to_sleep(together[0].id, now, (
                    now + max(each.wake for each in together) + rules.lead + rules.min_asleep))

    def _switchable(self, falling):
        """Return those of the groups of Sleepers whose machine can be woken again.

        What cannot be woken again must not fall asleep.

        :param falling: {name of a machine: the Sleepers on it}.
        """
        if not falling:
            return []
        with self._core.database.reader() as connection:
            found = machines.around(self._core, connection, [
                each.id for together in falling.values() for each in together])
        errors_of = dict(zip((each.name for each in found), self._in_turns(
            self._why_silent, found), strict=True))
        for name in sorted(each for each, error in errors_of.items() if error is not None):
            log_it = LOG.debug if name in self._silent else LOG.warning
            log_it('%s: it stays awake, because it could not be woken: %s', name, errors_of[name])
        self._silent = {name for name, error in errors_of.items() if error is not None}
        return [together for name, together in falling.items() if errors_of.get(name) is None]

    def _why_silent(self, machine):
        """Return why a machine could not be woken again, in words; None if it could."""
        try:
            # A driver may be older than this method of the contract.
            getattr(self._driver, 'check', self._driver.state)(machine)
        except errors.ClimateError as error:
            return error.message
        except Exception as error:  # Outer loop: one machine must not keep the others awake.
            LOG.exception('%s: its power driver failed unexpectedly', machine.name)
            return f'its power driver failed unexpectedly: {type(error).__name__}'
        return None

    def _in_turns(self, work, items):
        """Call `work` with each item, several at a time; return what it returns, in order."""
        count = max(1, min(self._core.conf.energy.at_once, len(items)))
        with futures.ThreadPoolExecutor(count, thread_name_prefix='power') as threads:
            return list(threads.map(work, items))

    def carry_on(self):
        """Do the next step of each machine that falls asleep, sleeps or wakes up."""
        with self._core.database.reader() as connection:
            moving = power.in_states(connection, sleep.SLEEPING)
            if not moving:
                return
            found = machines.around(self._core, connection, [each.resource_id for each in moving])
        waking = {each.resource_id for each in moving if each.state == sleep.WAKING}
        # What wakes up is first, because a lease may wait for it.
        found.sort(key=lambda each: waking.isdisjoint(one.id for one in each.resources))
        self._in_turns(self._carry_on, found)

    def _carry_on(self, machine):
        # Other machines may have come first, and taken long.
        now = self._core.clock()
        try:
            states = self._sleepers.movable([each.id for each in machine.resources], now)
            if states is not None:
                self._steps.carry_on(machine, states, now)
        except errors.ClimateError as error:
            LOG.warning('%s: its power is looked at again later: %s', machine.name, error.message)
        except Exception:  # The door of one machine: the others must not wait for it.
            LOG.exception('%s: a step failed unexpectedly; it is tried again', machine.name)

    def _look(self, now):
        """Return all resources that can sleep, as Sleepers."""
        pools = machines.pools(self._core)
        with self._core.database.writer() as connection:
            power.forget(connection, now - _KEPT)
        with self._core.database.reader() as connection:
            found = [each for name in pools for each in resources.find(connection, name)]
            states = power.of(connection, [each.id for each in found])
            needed = power.needed(connection, now, pools=pools)
            cycles = power.cycles(connection, now - _DAY)
            took = power.wake_seconds(connection, now - _KEPT)
            maintained = maintenances.under_way(connection, [each.id for each in found], now)
        machine_of = {each.id: machines.name_of(self._core, each.pool, each.name)
                      for each in found}
        # Their machines are not switched now, so what is on them counts as neither needed nor free.
        held = {machine_of[key] for key in maintained}
        needed = {key: each for key, each in needed.items() if machine_of.get(key) not in held}
        conf = self._core.conf.energy
        return [sleep.Sleeper(
            id=each.id, state=states[each.id].state,
            since=states[each.id].since or each.created_at,
            machine=machine_of[each.id], group=self._group(each),
            is_free=(machine_of[each.id] not in held
                     and self._is_free(each, needed.get(each.id), now)),
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
