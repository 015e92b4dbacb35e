# SPDX-License-Identifier: Apache-2.0
"""The steps about hosts that fail, sleep, or have maintenance, and the daemons that see to them."""
import datetime

from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_host_truths as truths
import model_idle
import model_power
import model_records
import model_world
from support import builders

from climate.domain import maintenance_windows
from climate.domain import sleep
from climate.manager.energy import power_saving
from climate.manager.health import blocking
from climate.manager.health import checks
from climate.manager.leases import health_moves
from climate.manager.maintenance import windows

#: The hosts that may be enrolled.
_POOLED = st.integers(1, model_world.POOLED)
_MINUTE = datetime.timedelta(minutes=1)
# At the end of a run, what can be woken is awake after this.
_PATIENCE = 20 * _MINUTE
# What is settled then is looked after so seldom.
_SELDOM = 30 * _MINUTE
_ROUNDS = 90
_MOST = 3


class Hosts(model_idle.Idle):
    """The steps about hosts.

    :ivar bmcs: what switches them.
    :ivar enabled_by_hand: names of hosts that an administrator enabled while Climate may have
        closed them.
    :ivar tended: daemons looked after hosts in this run, so they do it to its end.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        world = self.world
        self.bmcs = model_power.Bmcs(world.conf, world.cloud, world.database, world.points,
                                     world.clock)
        self.enabled_by_hand = set()
        self.tended = False
        self._ill_luck_ended = None
        self._seen = truths.look(world.database, world.cloud)
        self._known = self.recorded

    @base.rule(side=base.SIDE, times=st.integers(1, 4), works=st.booleans())
    def daemons_look_after_hosts(self, side, times, works):
        """Run the tasks of health, moves, maintenance and energy once a minute."""
        for _ in range(times):
            self.world.clock.advance(_MINUTE)
            self.tend(side)
            if works:
                self.act(side, lambda manager: manager.run())

    @base.rule(side=base.SIDE)
    def a_daemon_looks_after_hosts_once(self, side):
        self.tend(side)

    def tend(self, side):
        """Run the periodic tasks of one manager for hosts once."""
        # Starts may fail of what is sick, and wait for what sleeps.
        self.tended = self.services_touched = True
        for task in (self._health, self._maintenance, self._energy):
            self._errand(side, task)

    def _health(self, manager):
        quiet = not self.world.points.armed
        checks.HealthChecks(manager.core, 'model').check(self.now)
        health_moves.HealthMoves(manager.core).move_soon(self.now)
        if quiet and not self.world.points.armed:
            told = truths.told_of_sick_hosts(self.world.database, health_moves.NOTIFICATION)
            recorded = model_records.read(self.world.database)
            truths.those_on_sick_hosts_know(recorded, told, self.now,
                                            blocking.ahead(manager.core.conf))

    def _maintenance(self, manager):
        windows.Windows(manager.core, 'model').carry_on(self.now)

    def _energy(self, manager):
        power_saving.PowerSaving(manager.core, 'model', self.bmcs).step(self.now)

    @base.rule(number=_POOLED, fault=st.sampled_from([*model_power.FAULTS, None, None]))
    def a_bmc_fails_or_is_mended(self, number, fault):
        self.bmcs.faults[f'compute-{number}'] = fault

    @base.rule(fault=st.sampled_from([*model_power.FAULTS, None, None]))
    def the_bmc_of_the_storage_fails_or_is_mended(self, fault):
        self.bmcs.faults['storage'] = fault

    @stateful.precondition(lambda self: self._enrolled())
    @base.rule(side=base.SIDE, which=base.WHICH, awake=st.booleans())
    def an_administrator_switches_a_host(self, side, which, awake):
        self.services_touched = self.tended = True
        self._ask_of(side, which, lambda client, key: client.set_power(
            builders.an_admin(), 'host', key, awake))

    @stateful.precondition(lambda self: self._enrolled())
    @base.rule(side=base.SIDE, which=base.WHICH, reason=st.sampled_from(['a fan', 'a disk', '']))
    def an_operator_takes_a_host_out_of_order(self, side, which, reason):
        self.services_touched = True
        self._ask_of(side, which, lambda client, key: client.set_out_of_order(
            builders.an_admin(), 'host', key, reason))

    def _ask_of(self, side, which, deed):
        name = self.pick(self._enrolled(), which)
        [key] = [each.id for each in self.recorded.hosts()
                 if each.name == name and each.withdrawn_at is None]
        self.ask(side, lambda client: deed(client, key))

    @stateful.precondition(lambda self: self._enrolled())
    @base.rule(number=_POOLED, by_hand=st.booleans())
    def somebody_switches_a_host_by_hand(self, number, by_hand):
        self.services_touched = True
        self.world.cloud.mark_host(f'compute-{number}', up=by_hand)

    @base.rule(number=_POOLED)
    def an_administrator_disables_a_host(self, number):
        self.disable(f'compute-{number}')

    @stateful.precondition(lambda self: self._enrolled() and len(self._seen.open_windows()) < _MOST)
    @base.rule(side=base.SIDE, which=base.WHICH, later=st.sampled_from([0, 0, 5, 30]),
               long=st.sampled_from([5, 20, 60]),
               running=st.sampled_from(maintenance_windows.MODES), notice=st.sampled_from([0, 10]),
               both=st.booleans())
    def a_maintenance_is_planned(self, side, which, later, long, running, notice, both):
        self.services_touched = self.tended = True
        start = self.now + later * _MINUTE
        names = {self.pick(self._enrolled(), which + more) for more in range(1 + both)}
        self.ask(side, lambda client: client.create_maintenance(
            builders.an_admin(), maintenance_windows.MaintenanceRequest(
                'host', start, start + long * _MINUTE, 'new firmware',
                resources=tuple(sorted(names)), running=running, notice_minutes=notice)))

    @stateful.precondition(lambda self: self._seen.open_windows())
    @base.rule(side=base.SIDE, which=base.WHICH)
    def a_maintenance_is_deleted(self, side, which):
        self.delete_maintenance(side, self.pick(sorted(
            {each.maintenance_id for each in self._seen.open_windows()}), which))

    def delete_maintenance(self, side, key):
        self.ask(side, lambda client: client.delete_maintenance(builders.an_admin(), key))

    @stateful.invariant()
    def hosts_are_as_they_should_be(self):
        before, self._known = self._known, self.recorded
        seen_before, self._seen = self._seen, truths.look(self.world.database, self.world.cloud)
        if self.world.frozen:
            return
        assert not self.bmcs.wrong, self.bmcs.wrong
        self.tally['asleep'] += sum(
            each == sleep.ASLEEP for each in self._seen.power.values()) > 0
        self.tally['storage down'] += not all(
            each.up for each in self._seen.storage.values())
        truths.check(self.recorded, before, self._seen, seen_before, self.enabled_by_hand)

    def mend_hosts(self):
        """Repair all BMCs, and all hosts that do not sleep; no host is out of order then."""
        self.bmcs.faults.clear()
        self._ill_luck_ended = self.now
        seen = truths.look(self.world.database, self.world.cloud)
        asleep = {each.name for each in self.recorded.hosts()
                  if seen.power.get(each.id) in (sleep.ASLEEP, sleep.FALLING)}
        for name in self.world.cloud.host_names():
            if name not in asleep:
                self.world.cloud.mark_host(name, up=True)
        client = self.world.managers[0].client
        for each in client.list_resources(builders.an_admin(), 'host'):
            client.set_out_of_order(builders.an_admin(), 'host', each.id, '')

    def live_until(self, manager, moment):
        """Advance the time to a moment; the tasks for hosts run meanwhile."""
        if not self.tended:
            manager.run_until(moment)
            return
        often = self.now + _PATIENCE
        while self.now < moment:
            pause = _MINUTE if self.now < often else _SELDOM
            manager.run_until(min(moment, self.now + pause))
            self.tend(0)
            self._nobody_waits()
        manager.run()

    def _nobody_waits(self):
        assert not self.bmcs.wrong or self.world.frozen, self.bmcs.wrong
        recorded = model_records.read(self.world.database)
        seen = truths.look(self.world.database, self.world.cloud)
        if not self.world.frozen:
            truths.what_runs_is_awake(recorded, seen)
        truths.nobody_waits_for_a_sleeper(
            recorded, seen, self.now, self._ill_luck_ended, _PATIENCE)

    def wake_all_hosts(self, manager):
        """Wake all hosts, as before the driver is switched off, and end all maintenance."""
        if not self.tended:
            return
        self.world.conf.set_override('spare_percent', 100, group='energy')
        for each in manager.client.list_maintenances(builders.an_admin()):
            manager.client.delete_maintenance(builders.an_admin(), each.id)
        for _ in range(_ROUNDS):
            self.world.clock.advance(_MINUTE)
            self.tend(0)
            manager.run()
            seen = truths.look(self.world.database, self.world.cloud)
            there = [each for pool in ('host', 'backend')
                     for each in manager.client.list_resources(builders.an_admin(), pool)]
            failed = [each for each in there if seen.power.get(each.id) == sleep.FAILED]
            for each in failed:
                manager.client.set_power(builders.an_admin(), each.pool, each.id, True)
                manager.client.update_resource(builders.an_admin(), each.pool, each.id, {},
                                               reservable=True)
            awake = all(seen.power.get(each.id, sleep.AWAKE) == sleep.AWAKE for each in there)
            # Nobody else disables storage, so it is well again, and nothing keeps leases off it.
            well = all(each.is_well for each in there if each.pool == 'backend')
            if awake and well and not seen.open_windows():
                return
        raise AssertionError(f'Somebody sleeps, or is sick, for ever: {seen}')
