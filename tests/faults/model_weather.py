# SPDX-License-Identifier: Apache-2.0
"""The steps of managers, administrators, time and bad luck."""
import datetime

import builders
from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_world

from climate import errors
from climate.manager import audit
from climate.manager import refresh
from climate.manager import repairs
from climate.manager import trusts
from climate.manager import watch

_CALLS = st.sampled_from([
    'nova.add_host', 'nova.remove_host', 'nova.aggregate', 'nova.aggregates',
    'nova.create_aggregate', 'nova.delete_aggregate', 'nova.servers_on', 'nova.delete_server',
    'nova.set_aggregate_metadata', 'nova.create_flavor', 'nova.delete_flavor',
    'nova.allow_flavor', 'nova.forbid_flavor', 'nova.server', 'nova.shelve', 'nova.unshelve',
    'nova.create_image', 'nova.mark', 'glance.made', 'placement.ensure_class',
    'placement.set_slots', 'placement.delete_class', 'keystone.create_trust',
    'keystone.delete_trust', 'keystone.login'])
_SECONDS = st.sampled_from([1, 5, 10, 10, 40, 60, 300, 600, 1200, 7200])
_POINT = st.integers(1, 25)


class Weather(base.Base):
    """What happens beside the requests of users."""

    @stateful.rule(side=base.SIDE)
    def a_manager_works(self, side):
        self.act(side, lambda manager: manager.run())

    @stateful.rule(side=base.SIDE)
    def a_manager_claims(self, side):
        self.act(side, lambda manager: manager.claim())

    @stateful.precondition(lambda self: any(each.claimed for each in self.world.managers))
    @stateful.rule(side=base.SIDE)
    def a_manager_does_what_it_claimed(self, side):
        self.act(side, lambda manager: manager.finish())

    @stateful.precondition(lambda self: any(each.claimed for each in self.world.managers))
    @stateful.rule(side=base.SIDE)
    def a_manager_holds_on_to_its_claims(self, side):
        self.act(side, lambda manager: manager.clockwork.prolong(self.now))

    @stateful.rule(seconds=_SECONDS)
    def time_passes(self, seconds):
        self.world.clock.advance(datetime.timedelta(seconds=seconds))

    @stateful.rule(side=base.SIDE, works=st.booleans())
    def the_next_event_comes_due(self, side, works):
        moment = self.world.managers[side].clockwork.next_moment()
        if moment is not None:
            self.world.clock.now = max(self.now, moment)
        if works:
            self.act(side, lambda manager: manager.run())

    @stateful.rule(number=_POINT)
    def the_next_to_come_there_dies(self, number):
        def die():
            raise model_world.Crash
        self.world.points.arm(number, die, dies=True)

    @stateful.rule(side=base.SIDE)
    def a_manager_dies(self, side):
        self.tally['crashes'] += 1
        self.world.restart(side)

    @stateful.rule(number=_POINT, then=st.sampled_from(['works', 'works', 'delete', 'server']),
                   which=base.WHICH)
    def in_a_call_something_else_happens(self, number, then, which):
        def happen():
            self.tally['interleaved'] += 1
            if then == 'delete' and self.told:
                self.delete(1 - self.acting, which, 1)
            elif then == 'server' and self.world.cloud.servers():
                self.a_server_is_deleted_by_its_user(which)
            else:
                self.world.managers[1 - self.acting].run()
        self.world.points.arm(number, happen, dies=False)

    @stateful.precondition(lambda self: self.mood == base.FROZEN)
    @stateful.rule(number=_POINT, claims=st.sampled_from([1, 2, 60]))
    def in_a_call_a_manager_stands_still(self, number, claims):
        """It wakes when its claims have ended, and its call is carried out then."""
        def freeze():
            self.world.frozen = True
            self.tally['frozen'] += 1
            self.world.clock.advance(claims * model_world.CLAIM)
            self.world.managers[1 - self.acting].run()
        self.world.points.arm(number, freeze, dies=False)

    @stateful.precondition(lambda self: self.mood != base.CALM)
    @stateful.rule(number=_POINT)
    def an_answer_of_the_cloud_is_lost(self, number):
        def lose():
            self.tally['answers lost'] += 1
            raise errors.CloudUnreachable(service='Nova', reason='no answer')
        self.world.points.arm(number, lose, dies=False)

    @stateful.precondition(lambda self: self.mood != base.CALM)
    @stateful.rule(call=_CALLS, times=st.integers(1, 7))
    def a_call_of_the_cloud_fails(self, call, times):
        self.failing.add(call)
        self.world.cloud.fail(call, times, errors.CloudError(service='Nova', reason='ill'))

    @stateful.rule(side=base.SIDE, number=st.integers(1, model_world.HOSTS - model_world.ORDINARY))
    def enrol(self, side, number):
        self._of_host(side, 'enrol', f'compute-{number}')

    @stateful.rule(side=base.SIDE, number=st.integers(1, model_world.HOSTS - model_world.ORDINARY))
    def withdraw(self, side, number):
        self._of_host(side, 'withdraw', f'compute-{number}')

    def _of_host(self, side, verb, name):
        born = self.world.managers[side]
        self.ask(side, lambda client: getattr(self, f'_{verb}')(client, name))
        if self.world.managers[side] is not born or self.mood != base.CALM:
            self.unfinished.append((verb, name))

    @staticmethod
    def _enrol(client, name):
        return client.create_resource(builders.an_admin(), 'host', name, {})

    @staticmethod
    def _withdraw(client, name):
        for each in client.list_resources(builders.an_admin(), 'host'):
            if each.name == name:
                client.delete_resource(builders.an_admin(), 'host', each.id)

    @stateful.precondition(lambda self: self.mood != base.CALM)
    @stateful.rule(side=base.SIDE, which=base.WHICH, reservable=st.booleans())
    def a_host_is_taken_out_of_use(self, side, which, reservable):
        there = [each.id for each in self.accounts.resources.values()
                 if each.withdrawn_at is None]
        if there:
            self.ask(side, lambda client: client.update_resource(
                builders.an_admin(), 'host', self.pick(there, which), {}, reservable=reservable))

    @stateful.precondition(lambda self: self.mood != base.CALM)
    @stateful.rule(number=st.integers(1, model_world.HOSTS), up=st.booleans())
    def a_host_fails_or_comes_back(self, number, up):
        self.world.cloud.mark_host(f'compute-{number}', up=up)

    @stateful.rule(side=base.SIDE)
    def a_look_at_the_leased_servers(self, side):
        self._errand(side, lambda manager: watch.Watch(manager.core).look(self.now))

    @stateful.rule(side=base.SIDE)
    def an_audit_with_repairs(self, side):
        def repair(manager):
            auditor = audit.Auditor(manager.core)
            seen = {each.key for each in auditor.look()}
            self.world.clock.advance(builders.minutes(2))
            found = [each for each in auditor.look() if each.key in seen]
            self.tally['drifts'] += len(found)
            repairs.Repairs(manager.core).make(found)
        self._errand(side, repair)

    @stateful.rule(side=base.SIDE)
    def errands(self, side):
        self._errand(side, lambda manager: trusts.Reaper(manager.core).reap(self.now))
        self._errand(side, lambda manager: refresh.Refresher(manager.core, 'model').refresh(
            self.now))

    def _errand(self, side, errand):
        """As the daemon runs it: what fails is tried again later."""
        def run(manager):
            try:
                errand(manager)
            except errors.ClimateError as error:
                assert type(error) is not errors.ClimateError
                assert self.mood != base.CALM, error.message
        self.act(side, run)
