# SPDX-License-Identifier: Apache-2.0
"""The steps of managers and administrators, the passing of time, and faults."""
import contextlib
import datetime

from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_enforcement
import model_points
import model_types
import model_world
from support import builders
from support import crashing

from climate import errors
from climate.cloud.simulated import images
from climate.manager.audit import comparison
from climate.manager.audit import repairs
from climate.manager.leases import target_watch
from climate.manager.leases import trust_reaper
from climate.manager.pools import refresh

_CALLS = st.sampled_from([
    'nova.add_host', 'nova.remove_host', 'nova.aggregate', 'nova.aggregates',
    'nova.create_aggregate', 'nova.delete_aggregate', 'nova.servers_on', 'nova.delete_server',
    'nova.set_aggregate_metadata', 'nova.create_flavor', 'nova.delete_flavor',
    'nova.allow_flavor', 'nova.forbid_flavor', 'nova.server', 'nova.shelve', 'nova.unshelve',
    'nova.create_image', 'nova.mark', 'nova.services', 'nova.disable_service',
    'nova.enable_service', 'nova.migrate', 'nova.migrations', 'nova.stop', 'glance.images',
    'glance.give', 'glance.delete_image',
    'placement.ensure_class', 'placement.set_slots', 'placement.delete_class',
    'keystone.create_trust', 'keystone.delete_trust', 'keystone.login', *model_types.CALLS])
_SECONDS = st.sampled_from([1, 5, 10, 10, 40, 60, 300, 600, 1200, 7200])
_POINT = st.one_of(st.integers(1, 8), st.integers(1, 25))


class Weather(model_enforcement.Enforcement):
    """The steps of managers and administrators, the passing of time, and faults."""

    @base.rule(side=base.SIDE)
    def a_manager_works(self, side):
        self.act(side, lambda manager: manager.run())

    @base.rule(side=base.SIDE)
    def a_manager_claims(self, side):
        self.act(side, lambda manager: manager.claim())

    @stateful.precondition(lambda self: any(each.claimed for each in self.world.managers))
    @base.rule(side=base.SIDE)
    def a_manager_does_what_it_claimed(self, side):
        self.act(side, lambda manager: manager.finish())

    @stateful.precondition(lambda self: any(each.claimed for each in self.world.managers))
    @base.rule(side=base.SIDE)
    def a_manager_holds_on_to_its_claims(self, side):
        def hold(manager):
            with contextlib.suppress(errors.LostRace):
                manager.event_loop.prolong()
        self.act(side, hold)

    @base.rule(seconds=_SECONDS)
    def time_passes(self, seconds):
        self.world.clock.advance(datetime.timedelta(seconds=seconds))

    @base.rule(side=base.SIDE, works=st.integers(0, 3))
    def the_next_event_comes_due(self, side, works):
        moment = self.world.managers[side].event_loop.next_moment()
        if moment is not None:
            self.world.clock.now = max(self.now, moment)
        if works:
            self.act(side, lambda manager: manager.run())

    @base.rule(side=base.SIDE, count=st.integers(1, 20))
    def a_manager_works_for_minutes(self, side, count):
        until = self.now + builders.minutes(count)
        self.act(side, lambda manager: manager.run_until(until))

    @base.rule(number=_POINT)
    def the_next_to_come_there_dies(self, number):
        def die(_calling):
            raise crashing.Crash
        self.world.points.arm(number, die, model_points.DIES)

    @base.rule(side=base.SIDE)
    def a_manager_dies(self, side):
        self.tally['crashes'] += 1
        self.world.restart(side)

    @base.rule(number=_POINT, then=st.sampled_from(
        ['works', 'works', 'delete', 'server', 'book', 'book', 'wait', 'change', 'host',
         'disable', 'offer', 'expire', 'boot', 'exempt', 'bill', 'tend']),
        which=base.WHICH)
    def meanwhile_something_else_happens(self, number, then, which):
        """Through the other manager, in a call of the cloud or between two transactions."""
        def happen(_calling):
            self.tally['interleaved'] += 1
            other, live = 1 - self.acting, self.live()
            if then == 'book':
                self.create(other, [builders.hosts(1 + which % 3)], (None, 10)[which % 2], 20)
            elif then == 'wait':
                self.seek(other, builders.hosts(1 + which % 3), {
                    'type': 'wait', 'not_after': 10, 'priority': 5 * (which % 2)}, 20)
            elif then == 'offer' and self.offered:
                self.take(other, self._newest(which))
            elif then == 'expire':
                self.act(other, lambda manager: manager.expire())
            elif then == 'disable':
                self.disable(model_world.LENT[which % 2])
            elif then == 'delete' and live:
                self.delete_one(other, self.pick(live, which).id)
            elif then == 'change' and live:
                self.change(other, self.pick(live, which).id, (
                    {'end_now': True}, {'end': self.now + builders.minutes(30)})[which % 2])
            elif then == 'host' and self._enrolled():
                (self.withdraw_one, self.use)[which % 2](other, self.pick(self._enrolled(), which))
            elif then == 'boot' and self._host_reservations():
                self._boot_on_hosts(self.pick(self._host_reservations(), which))
            elif then == 'exempt' and live:
                self.exempt_one(other, self.pick(live, which).id, True)
            elif then == 'bill':
                self.bill(other)
            elif then == 'tend':
                self.tend(other)
            elif then == 'server' and self.world.cloud.servers():
                self.delete_server(which)
            else:
                self.act(other, lambda manager: manager.run())
        self.world.points.arm(number, happen, model_points.HAPPENS)

    @stateful.precondition(lambda self: self.mood == base.FROZEN)
    @base.rule(number=_POINT, claims=st.sampled_from([1, 2, 60]))
    def a_manager_stands_still(self, number, claims):
        """Freeze a manager until its claims have ended; it then makes the call that was next."""
        def freeze(calling):
            self.world.frozen = self.world.frozen or calling
            self.tally['frozen'] += 1
            self.world.clock.advance(claims * model_world.CLAIM)
            self.act(1 - self.acting, lambda manager: manager.run())
        self.world.points.arm(number, freeze, model_points.HAPPENS)

    @base.rule(number=_POINT)
    def a_transaction_is_broken_off(self, number):
        """Break a transaction off, as databases do to end a deadlock."""
        def break_off(_calling):
            self.tally['deadlocks'] += 1
            raise errors.LostRace()
        self.world.points.arm(number, break_off, model_points.DEADLOCKS)

    @stateful.precondition(lambda self: self.mood != base.CALM)
    @base.rule(number=_POINT)
    def an_answer_of_the_cloud_is_lost(self, number):
        def lose(_calling):
            self.tally['answers lost'] += 1
            raise errors.CloudUnreachable(service='Nova', reason='no answer')
        self.world.points.arm(number, lose, model_points.LOSES)

    @stateful.precondition(lambda self: self.mood != base.CALM)
    @base.rule(call=_CALLS, times=st.integers(1, 7))
    def a_call_of_the_cloud_fails(self, call, times):
        self.failing.add(call)
        self.world.cloud.fail(call, times, errors.CloudError(service='Nova', reason='ill'))

    @stateful.precondition(lambda self: self.mood != base.CALM and self._to_be_imaged())
    @base.rule(which=base.WHICH, fault=st.sampled_from(images.FAULTS))
    def the_images_of_a_server_fail(self, which, fault):
        self.spoil_images(self.pick(self._to_be_imaged(), which), fault)

    def _to_be_imaged(self):
        there = {each.id for each in self.world.cloud.servers()}
        return sorted(there & self.booted_for.keys())

    @stateful.precondition(lambda self: self.spoiled)
    @base.rule()
    def images_are_made_again(self):
        self.mend_images()

    @stateful.precondition(lambda self: self.mood != base.CALM)
    @base.rule(number=st.integers(0, model_world.HOSTS))
    def a_cell_does_not_answer(self, number):
        """Silence the cell of one host; with 0, all cells answer again."""
        self.world.cloud.silence_cell(*([f'compute-{number}'] if number else []))

    @stateful.precondition(lambda self: self.mood != base.CALM)
    @base.rule()
    def the_user_is_deleted_from_keystone(self):
        self.world.cloud.delete_trustor('demo')

    @stateful.precondition(lambda self: self.mood != base.CALM)
    @base.rule(number=st.integers(1, model_world.HOSTS), up=st.booleans())
    def a_host_fails_or_comes_back(self, number, up):
        self.world.cloud.mark_host(f'compute-{number}', up=up)

    @base.rule(side=base.SIDE)
    def a_look_at_the_leased_servers(self, side):
        self._errand(side, lambda manager: target_watch.TargetWatch(
            manager.core).check_all(self.now))

    @base.rule(side=base.SIDE)
    def an_audit_with_repairs(self, side):
        def repair(manager):
            auditor = comparison.Auditor(manager.core)
            seen = {each.key for each in auditor.compare()}
            self.world.clock.advance(builders.minutes(2))
            found = [each for each in auditor.compare() if each.key in seen]
            self.tally['drifts'] += len(found)
            repairs.Repairs(manager.core, unknown=True).make(found)
        self._errand(side, repair)

    @base.rule(side=base.SIDE)
    def errands(self, side):
        self._errand(side, lambda manager: trust_reaper.TrustReaper(manager.core).reap(self.now))
        self._errand(side, lambda manager: refresh.Refresher(manager.core, 'model').refresh(
            self.now))
