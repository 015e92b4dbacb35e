# SPDX-License-Identifier: Apache-2.0
"""The periodic task that decides which resources sleep, and puts them to sleep or wakes them."""
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
from climate.manager.energy import sleep_states
from climate.manager.energy import steps
from climate.manager.energy import wake_before_start

LOG = log.getLogger(__name__)

_DAY = datetime.timedelta(days=1)
# The durations of wake-ups are stored for this time, to estimate the duration of the next one.
_KEPT = datetime.timedelta(days=30)


class PowerSaving:
    """Puts resources to sleep and wakes them.

    Only the manager that has run longest does this. Several managers at once are harmless, because
    each change of a state is a compare-and-set, and each step can be repeated.
    """

    def __init__(self, core, owner, driver):
        self._core = core
        self._owner = owner
        self._states = sleep_states.SleepStates(core)
        self._starts = wake_before_start.WakeBeforeStart(core)
        self._steps = steps.Steps(core, driver)
        self._driver = driver
        # The names of machines that cannot be woken, and of which the log has warned.
        self._unwakeable = set()

    def step(self, now):
        """Do the next step of each machine that falls asleep, sleeps or wakes, then decide.

        The decision comes last, because it asks other machines for their power, and machines that
        wake up should not wait for that.
        """
        with self._core.database.reader() as connection:
            eldest = managers.is_eldest(connection, self._owner, now)
        if not eldest:
            return
        with cores.isolated('Machines that sleep'):
            self.carry_on()
        self.decide(self._core.clock())

    def decide(self, now):
        """Order free resources to fall asleep, and spare resources to wake up.

        Events wake the resources of leases. The times of these events are corrected here.
        """
        sleepers = self._sleepers(now)
        rules = self._rules()
        self._starts.align_events({sleeper.id: sleeper.wake + rules.lead for sleeper in sleepers
                                   if sleeper.state in (sleep.ASLEEP, sleep.FALLING)
                                   and sleeper.needed_at is not None}, now)
        plan = sleep.plan(sleepers, rules, now)
        by_id = {sleeper.id: sleeper for sleeper in sleepers}
        for resource_id in plan.wake:
            if not by_id[resource_id].is_due(rules, now):
                with cores.isolated('Resource %s: waking it', resource_id):
                    self._states.wake([resource_id], now, mended=resource_id)
        falling = collections.defaultdict(list)
        for resource_id in plan.sleep:
            falling[by_id[resource_id].machine].append(by_id[resource_id])
        switchable = self._switchable(falling)
        # Asking the machines may have taken long.
        now = self._core.clock()
        for group in switchable:
            with cores.isolated('%s: putting it to sleep', group[0].machine):
                self._states.put_to_sleep(group[0].id, now, (
                    now + max(sleeper.wake for sleeper in group) + rules.lead + rules.min_asleep))

    def _switchable(self, falling):
        """Return the groups of Sleepers whose machine could be woken again.

        A machine that could not be woken must not fall asleep.

        :param falling: {name of a machine: the Sleepers on it}.
        """
        if not falling:
            return []
        with self._core.database.reader() as connection:
            to_check = machines.around(self._core, connection, [
                sleeper.id for group in falling.values() for sleeper in group])
        reasons = dict(zip((machine.name for machine in to_check), self._in_parallel(
            self._why_unwakeable, to_check), strict=True))
        unwakeable = {name for name, reason in reasons.items() if reason is not None}
        for name in sorted(unwakeable):
            log_it = LOG.debug if name in self._unwakeable else LOG.warning
            log_it('%s: it stays awake, because it could not be woken: %s', name, reasons[name])
        self._unwakeable = unwakeable
        return [group for name, group in falling.items() if name not in unwakeable]

    def _why_unwakeable(self, machine):
        """Return why a machine could not be woken again; None if it could."""
        try:
            # A driver for an older version of the contract has no method `check`.
            getattr(self._driver, 'check', self._driver.state)(machine)
        except errors.ClimateError as error:
            return error.message
        except Exception as error:  # Outer loop: one machine must not keep the others awake.
            LOG.exception('%s: its power driver failed unexpectedly', machine.name)
            return f'its power driver failed unexpectedly: {type(error).__name__}'
        return None

    def _in_parallel(self, work, items):
        """Call `work` with each item, several at a time; return its results in order."""
        count = max(1, min(self._core.conf.energy.at_once, len(items)))
        with futures.ThreadPoolExecutor(count, thread_name_prefix='power') as threads:
            return list(threads.map(work, items))

    def carry_on(self):
        """Do the next step of each machine that falls asleep, sleeps or wakes up."""
        with self._core.database.reader() as connection:
            moving = power.in_states(connection, sleep.SLEEPING)
            if not moving:
                return
            to_switch = machines.around(
                self._core, connection, [power_now.resource_id for power_now in moving])
        waking = {power_now.resource_id for power_now in moving if power_now.state == sleep.WAKING}
        # Machines that wake up come first, because a lease may wait for them.
        to_switch.sort(key=lambda machine: waking.isdisjoint(
            resource.id for resource in machine.resources))
        self._in_parallel(self._carry_on, to_switch)

    def _carry_on(self, machine):
        # The steps of other machines may have taken long.
        now = self._core.clock()
        with cores.isolated('%s: the next step of its power', machine.name):
            states = self._states.movable([resource.id for resource in machine.resources], now)
            if states is not None:
                self._steps.carry_on(machine, states, now)

    def _sleepers(self, now):
        """Return all resources that can sleep, as Sleepers."""
        pools = machines.pools(self._core)
        with self._core.database.writer() as connection:
            power.forget(connection, now - _KEPT)
        with self._core.database.reader() as connection:
            enrolled = [resource for name in pools for resource in resources.find(connection, name)]
            ids = [resource.id for resource in enrolled]
            states = power.of(connection, ids)
            needed = power.needed(connection, now, pools=pools)
            cycles = power.cycles(connection, now - _DAY)
            wake_seconds = power.wake_seconds(connection, now - _KEPT)
            maintained_ids = maintenances.under_way(connection, ids, now)
        machine_of = {
            resource.id: self._core.registry.pool(resource.pool).machine(resource.name)
            for resource in enrolled}
        # These machines are not switched now, so their resources are neither needed nor free.
        maintained = {machine_of[key] for key in maintained_ids}
        needed = {key: need for key, need in needed.items()
                  if machine_of.get(key) not in maintained}
        conf = self._core.conf.energy
        return [sleep.Sleeper(
            id=resource.id, state=states[resource.id].state,
            since=states[resource.id].since or resource.created_at,
            machine=machine_of[resource.id], group=self._group(resource),
            is_free=(machine_of[resource.id] not in maintained
                     and self._is_free(resource, needed.get(resource.id), now)),
            needed_at=needed[resource.id].needed_at if resource.id in needed else None,
            cycles=cycles[resource.id],
            wake=sleep.wake_time(
                wake_seconds.get(resource.id, ()), sleep_states.minutes(conf.wake_minutes),
                conf.wake_margin_percent / 100)) for resource in enrolled]

    def _group(self, resource):
        name = self._core.conf.energy.spare_by
        return f'{resource.pool} {resource.properties.get(name, "")}' if name else resource.pool

    @staticmethod
    def _is_free(resource, need, now):
        return (resource.reservable and resource.held_by is None and resource.lent_to is None
                and (need is None or need.taken_at > now))

    def _rules(self):
        conf = self._core.conf.energy
        return sleep.SleepRules(
            lead=sleep_states.minutes(conf.lead_minutes),
            min_awake=sleep_states.minutes(conf.min_awake_minutes),
            min_asleep=sleep_states.minutes(conf.min_asleep_minutes),
            cycles_per_day=conf.cycles_per_day, spare=conf.spare,
            spare_share=conf.spare_percent / 100)
