# SPDX-License-Identifier: Apache-2.0
"""The steps of users who get an offer before they lease, and of managers that drop claims."""
import uuid

from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_clearing
import model_requests as requests
from support import builders

from climate import errors
from climate.domain import records

_SECONDS = st.sampled_from([1, 30, 120, 600])
_WANTED = st.one_of(requests.HOSTS, requests.HOSTS, requests.ROOM, requests.FLAVORS)
_MOST = 3


class Offers(model_clearing.Clearing):
    """The steps of offers, which hold resources for a project, whether it takes them or not.

    :ivar offered: {offer id: the Offer as it was told}.
    """

    def __init__(self, *parts):
        super().__init__(*parts)
        self.offered = {}

    @base.rule(side=base.SIDE, asked=st.lists(_WANTED, min_size=1, max_size=2),
               later=requests.LATER, long=requests.LONG, seconds=_SECONDS)
    def have_something_held(self, side, asked, later, long, seconds):
        start = None if later is None else self.now + builders.minutes(later)
        request = builders.a_lease(*asked, start=start,
                                   end=(start or self.now) + builders.minutes(long))
        offer = self.demand(side, lambda manager: manager.hold(request, seconds=seconds,
                                                               most=_MOST))
        if offer is not None:
            self.tally['offers'] += 1
            self.offered[offer.id] = offer

    @stateful.precondition(lambda self: self.offered)
    @base.rule(side=base.SIDE, which=base.WHICH)
    def take_an_offer(self, side, which):
        offer = self._newest(which)
        undisturbed, can_be_had = not self.world.points.armed, self._can_be_had(offer)
        lease_id = self.take(side, offer)
        if not self.told[lease_id].made:
            assert not (can_be_had and undisturbed and self.mood == base.CALM), (
                f'{offer} was refused.')
        elif undisturbed:
            self._gets_what_was_held(lease_id, offer)

    def take(self, side, offer):
        """The id of the lease that was asked for."""
        lease_id = str(uuid.uuid4())
        self.entrust(side, lease_id, records.LeaseRequest(
            'of an offer', None, None, offer_id=offer.id))
        self.tally['offers taken'] += self.told[lease_id].made
        return lease_id

    def _gets_what_was_held(self, lease_id, offer):
        had = [key for each in self.lease(lease_id).reservations for key in each.resource_ids]
        assert sorted(had) == sorted(given.resource_id for given in offer.allocations
                                     for _ in range(given.copies)), offer

    @stateful.precondition(lambda self: self.offered)
    @base.rule(side=base.SIDE, which=base.WHICH)
    def give_an_offer_back(self, side, which):
        offer = self._newest(which)
        self.ask(side, lambda client: client.delete_offer(builders.a_member(), offer.id))

    @base.rule(side=base.SIDE)
    def a_manager_lets_go_of_offers(self, side):
        def let_go(manager):
            try:
                self.tally['offers that expired'] += manager.expire()
            except errors.LostRace:
                assert self.mood != base.CALM
        self.act(side, let_go)

    def _can_be_had(self, offer):
        """True for an offer that is held, of resources that are as they were."""
        row = self.recorded.offers.get(offer.id)
        there = [self.recorded.resources[given.resource_id] for given in offer.allocations]
        return (row is not None and row.place is not None and row.held_until > self.now
                and all(each.reservable and each.withdrawn_at is None for each in there))

    def _newest(self, which):
        return self.pick(list(reversed(self.offered.values())), which)
