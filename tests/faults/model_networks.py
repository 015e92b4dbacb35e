# SPDX-License-Identifier: Apache-2.0
"""The steps of users inside leased networks, and of administrators who take segments."""
from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_things
import model_world

from climate import errors
from climate.plugins.network import network_creation
from climate.plugins.network import reservation_marks

_OWNERS = ('demo', 'demo', 'friends')


class Networks(model_things.Types):
    """The steps of users inside leased networks, and of administrators who take segments.

    :ivar taken_segments: the ids of the networks that administrators made on enrolled segments.
    """

    def __init__(self, *parts):
        super().__init__(*parts)
        self.taken_segments = set()
        self._ports = 0

    @property
    def _hands(self):
        return self.world.cloud.network

    @stateful.precondition(lambda self: self._leased_networks())
    @base.rule(which=base.WHICH, owner=st.sampled_from(_OWNERS), of_a_server=st.booleans())
    def a_port_is_put_into_a_leased_network(self, which, owner, of_a_server):
        network, servers = self._network(which), self._own_servers()
        if self._may_stay(network):
            self._ports += 1
            server_id = servers[0].id if of_a_server and servers else ''
            self._hands.add_port(network.id, f'10.42.1.{self._ports}', owner,
                                 'compute:nova' if server_id else '', server_id)
            self.tally['ports put into networks'] += 1

    @stateful.precondition(lambda self: self._leased_networks())
    @base.rule(which=base.WHICH)
    def a_users_router_is_connected_to_a_leased_network(self, which):
        network = self._network(which)
        if self._may_stay(network) and not any(
                each.owner == network_creation.INTERFACE for each in self._hands.ports(network.id)):
            router = self._hands.add_router('demo')
            self._hands.connect(router.id, network.id, f'10.60.{len(network.subnet_ids)}.0/24')
            self.own[router.id] = 'routers'

    @stateful.precondition(lambda self: self._leased_networks())
    @base.rule(which=base.WHICH, deletes=st.booleans())
    def a_user_empties_or_unmarks_a_leased_network(self, which, deletes):
        network = self._network(which)
        if deletes:
            self._empty(network)
        elif self._was_handed_over(network):
            self._hands.unmark(network.id)

    @stateful.precondition(lambda self: self.mood != base.CALM and not self.taken_segments)
    @base.rule(which=base.WHICH)
    def an_administrator_takes_a_segment(self, which):
        physical, kind, number = self.pick(model_world.POOLS['segment'][0], which).split(':')
        try:
            made = self._hands.take_segment((physical, kind, int(number)))
        except errors.ResourceInUse:
            return
        self.own[made.id] = 'networks'
        self.taken_segments.add(made.id)

    @stateful.precondition(lambda self: self.taken_segments)
    @base.rule()
    def administrators_give_segments_back(self):
        self.give_segments_back()

    def give_segments_back(self):
        for each in sorted(self.taken_segments & self.own.keys()):
            self._delete(each)
        self.taken_segments.clear()

    def empty_leased_networks(self):
        """Delete all that users have in leased networks."""
        for each in self._leased_networks():
            self._empty(each)

    def _empty(self, network):
        for each in self._hands.ports(network.id):
            if each.owner != network_creation.INTERFACE or each.device_id in self.own:
                self._hands.delete_port(each.id)

    def _leased_networks(self):
        return [each for each in self._hands.networks() if each.id not in self.own]

    def _network(self, which):
        return self.pick(self._leased_networks(), which)

    def _reservation(self, network):
        """Return the row of the reservation of a network; None: its marks are gone."""
        return next(map(self.recorded.reservations.get, reservation_marks.of(network)), None)

    def _may_stay(self, network):
        """True where nobody has to take away what is put into a network, or somebody may."""
        reservation = self._reservation(network)
        return self.mood != base.CALM or (
            reservation is not None and reservation.request['on_end'] == 'delete')

    def _was_handed_over(self, network):
        """True where the binding names it: until then the marks must tell whose it is."""
        reservation = self._reservation(network)
        return reservation is not None and reservation.state == 'active'
