# SPDX-License-Identifier: Apache-2.0
"""The steps of administrators who enrol hosts, take them out of use and withdraw them."""
from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_poison
import model_world
from support import builders


class Enrolment(model_poison.Poison):
    """The steps of administrators who enrol hosts, take them out of use and withdraw them."""

    @base.rule(side=base.SIDE, which=base.WHICH)
    def enrol(self, side, which):
        names = [f'compute-{number + 1}' for number in range(model_world.POOLED)]
        free = [name for name in names if name not in self._enrolled()]
        self._of_host(side, 'enrol', self.pick(free or names, which))

    @stateful.precondition(lambda self: self._enrolled())
    @base.rule(side=base.SIDE, which=base.WHICH)
    def withdraw(self, side, which):
        self.withdraw_one(side, self.pick(self._enrolled(), which))

    def withdraw_one(self, side, name):
        self._of_host(side, 'withdraw', name)

    def _enrolled(self):
        return [each.name for each in self.recorded.hosts()
                if each.withdrawn_at is None and each.lent_to is None]

    def _of_host(self, side, verb, name):
        born, disturbed = self.world.managers[side], self.world.points.armed
        self.ask(side, lambda client: getattr(self, f'_{verb}')(client, name), of_the_cloud=True)
        if self.world.managers[side] is not born or disturbed or self.mood != base.CALM:
            self.unfinished.append((verb, name))

    @staticmethod
    def _enrol(client, name):
        return client.create_resource(builders.an_admin(), 'host', name, {})

    @staticmethod
    def _withdraw(client, name):
        for each in client.list_resources(builders.an_admin(), 'host'):
            if each.name == name:
                client.delete_resource(builders.an_admin(), 'host', each.id)

    @stateful.precondition(lambda self: self.mood != base.CALM and self._enrolled())
    @base.rule(side=base.SIDE, which=base.WHICH, reservable=st.booleans())
    def a_host_is_taken_out_of_use(self, side, which, reservable):
        self.use(side, self.pick(self._enrolled(), which), reservable)

    def use(self, side, name, reservable=True):
        [there] = [each.id for each in self.recorded.hosts()
                   if each.name == name and each.withdrawn_at is None]
        self.ask(side, lambda client: client.update_resource(
            builders.an_admin(), 'host', there, {}, reservable=reservable), of_the_cloud=True)
