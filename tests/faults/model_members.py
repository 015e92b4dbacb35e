# SPDX-License-Identifier: Apache-2.0
"""The steps of members who ask for more than there is, and of those who come, swap and go."""
import uuid

from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_bounds as bounds
import model_gone
import model_records
import model_requests as requests
import model_things as things
import model_world
from support import builders

from climate.cloud.simulated import neutron
from climate.domain import health
from climate.domain import lifecycle

_CENTURY = 100 * 365 * 24 * 60
_TOO_MUCH = st.sampled_from([
    builders.hosts(10 ** 6), builders.instances(900, affinity=False),
    builders.hosts(9, criteria='["==", "$gpu", "A100"]'),
    builders.hosts(9, criteria='["==", "$hypervisor_hostname", "' + 'x' * 400 + '"]')])
_ASKED = st.lists(st.one_of(requests.HOSTS, requests.ROOM, requests.FLAVORS, _TOO_MUCH),
                  min_size=1, max_size=4)


class Members(model_gone.Gone):
    """The steps of members who try to take from others.

    :ivar blamed: ids of the resources that an administrator or monitoring has called broken.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.blamed = set()

    @base.rule(side=base.SIDE, asked=_TOO_MUCH, later=requests.LATER,
               long=st.sampled_from([20, 600, _CENTURY]))
    def ask_for_too_much(self, side, asked, later, long):
        self.create(side, [asked], later, long)

    @base.rule(side=base.SIDE, wanted=_ASKED, later=requests.LATER, swaps=st.integers(0, 3))
    def a_member_comes_swaps_and_goes(self, side, wanted, later, swaps):
        """Lease, swap and delete; in a calm run, others then have as much as before."""
        self.act(side, lambda manager: manager.run())
        quiet = self.mood == base.CALM and not self.world.points.armed
        before = model_records.read(self.world.database)
        own = {self._come(side, asked, later) for asked in wanted}
        self.act(side, lambda manager: manager.run())
        for place in range(swaps):
            self._swap_of(side, own, place)
        for lease_id in sorted(own & model_records.read(self.world.database).leases.keys()):
            self.delete_one(side, lease_id)
        self.act(side, lambda manager: manager.run())
        after = model_records.read(self.world.database)
        gone = all(after.leases[lease_id].state in lifecycle.OVER
                   for lease_id in own & after.leases.keys())
        if quiet and gone:
            self.tally['members who came and went'] += 1
            assert bounds.free_for_others(before, own, self.now) == bounds.free_for_others(
                after, own, self.now)

    def _come(self, side, asked, later):
        lease_id = str(uuid.uuid4())
        start = None if later is None else self.now + builders.minutes(later)
        self.entrust(side, lease_id, builders.a_lease(
            asked, start=start, end=(start or self.now) + builders.minutes(20)))
        return lease_id

    def _swap_of(self, side, own, place):
        recorded = model_records.read(self.world.database)
        held = sorted((each.id, recorded.reservations[each.held_by].lease_id)
                      for each in recorded.hosts() if each.held_by is not None
                      and recorded.reservations[each.held_by].lease_id in own)
        if held:
            key, lease_id = self.pick(held, place)
            self.swap(side, lease_id, key)

    @stateful.precondition(lambda self: self._running())
    @base.rule(side=base.SIDE, which=base.WHICH, place=st.integers(0, 3), by_admin=st.booleans())
    def an_owner_swaps_a_host(self, side, which, place, by_admin):
        lease = self.lease(self.pick(self._running(), which).id)
        hosts = [key for each in lease.reservations if each.resource_type == 'physical:host'
                 for key in each.resource_ids]
        if hosts:
            self.swap(side, lease.id, self.pick(hosts, place), by_admin)

    def swap(self, side, lease_id, key, by_admin=False):
        """Swap a resource of a lease, as its owner or an administrator does."""
        self.services_touched = True
        if by_admin:
            self.blamed.add(key)
        if self.ask(side, lambda client: client.swap_resource(
                builders.a_member(), lease_id, str(key), by_admin=by_admin)) is not None:
            self.tally['swaps'] += 1

    @stateful.invariant()
    def no_member_takes_anything_from_others(self):
        self.blamed |= {each.id for each in self.recorded.resources.values()
                        if each.health_state in (health.SICK, health.OUT_OF_ORDER)}
        bounds.what_is_over_keeps_nothing(self.recorded, self.now)
        bounds.no_member_quarantines(self.recorded, self.blamed)
        bounds.refusals_are_few_and_small(self.world.database, self.most_refusals)

    def others_get_everything(self, manager):
        """Lease all hosts, addresses and segments to another member, when all leases are over."""
        other, start = builders.a_member('eve', 'other'), self.now + builders.minutes(60)
        enrolled = {pool: [each for each in manager.client.list_resources(builders.an_admin(), pool)
                           if each.reservable and each.is_well]
                    for pool in ('host', 'address', 'segment')}
        asked = [builders.hosts(len(enrolled['host']))] if enrolled['host'] else []
        asked += [things.asked('virtual:floatingip', network_id=neutron.PUBLIC,
                               amount=len(enrolled['address']), required_floatingips=[])]
        asked += [things.asked('virtual:network', on_end='delete')] * len(enrolled['segment'])
        lease = manager.create(builders.a_lease(
            *asked, start=start, end=start + builders.minutes(10)), other)
        manager.client.delete_lease(other, lease.id)
        manager.run()
        self.tally['everything leased by another member'] += 1

    def judge_forecasts(self, manager):
        """Check that no refusal of this run moves a forecast by more than the pool."""
        self.tally['refusals that moved no forecast'] += (
            bounds.no_refusal_moves_a_forecast_by_more_than_the_pool(
                manager, builders.an_admin(), sorted({'host', *model_world.POOLS})))
