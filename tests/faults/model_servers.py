# SPDX-License-Identifier: Apache-2.0
"""The steps of users with servers: booted for leases or not, leased, deleted, gone wrong."""
from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_requests as requests
import model_world
from support import builders

from climate import errors
from climate.cloud.simulated import images
from climate.domain import event_kinds
from climate.domain import lifecycle

DEMO = 'demo'
#: The project with which leased hosts are shared.
FRIENDS = 'friends'
_MOST = 8
_FOR_SERVERS = ('physical:host', 'virtual:instance', 'flavor:instance')


class Servers(requests.Requests):
    """The steps of users with servers."""

    @stateful.precondition(lambda self: self.live())
    @base.rule(which=base.WHICH, place=st.integers(0, 2), bind=st.booleans(), side=base.SIDE)
    def boot_for_a_lease(self, which, place, bind, side):
        """Boot on its hosts, in its capacity, or as the server that it waits for."""
        lease = self.lease(self.pick(self.live(), which).id)
        reservation = self.pick(lease.reservations, place)
        request = reservation.request
        if reservation.resource_type not in _FOR_SERVERS:
            return
        if 'sleeps' in request:
            if request['flavor_id'] is not None:
                self._boot_to_be_leased(lease, reservation, bind, side)
            return
        has_capacity = self._has_room(lease, reservation)
        if reservation.resource_type == 'physical:host':
            server = self._boot_on_hosts(reservation)
        else:
            server = self._boot({}, reservation.id)
        assert server or not has_capacity, f'{reservation} has no capacity for a server.'
        if server:
            self.booted_for[server.id] = reservation.id

    def _boot_on_hosts(self, reservation, project=DEMO):
        server = self._boot({'reservation': reservation.id}, '1', project=project)
        if server:
            self.booted_for[server.id] = reservation.id
        return server

    @base.rule(side=base.SIDE, count=st.integers(1, 2), on_failure=requests.ON_IMAGE_FAILURE,
               long=requests.LONG, beside=st.sampled_from(
                   [None, FRIENDS, FRIENDS, *images.FAULTS]))
    def lease_hosts_for_servers_that_need_images(self, side, count, on_failure, long, beside):
        """A lease that asks for images, and its servers.

        :param beside: FRIENDS: one of another project is there too; a fault: so the images of one
            fail, unless all is calm.
        """
        known = set(self.told)
        self.create(side, [builders.hosts(count, before_end='snapshot',
                                          on_image_failure=on_failure)], None, long)
        self.act(side, lambda manager: manager.run())
        for lease_id in [each for each in self.told if each not in known]:
            lease = self.lease(lease_id)
            if lease is None or lease.state != lifecycle.ACTIVE:
                continue
            [reservation] = lease.reservations
            servers = [self._boot_on_hosts(reservation) for _ in range(count)]
            if beside == FRIENDS:
                self._share(reservation)
            elif beside and self.mood != base.CALM and servers[0]:
                self.spoil_images(servers[0].id, beside)

    @stateful.precondition(lambda self: self._host_reservations())
    @base.rule(which=base.WHICH)
    def leased_hosts_are_shared(self, which):
        self._share(self.pick(self._host_reservations(), which))

    def _host_reservations(self):
        """The reservations of hosts that have some in the cloud."""
        there = {each.name for each in self.world.cloud.aggregates() if each.zone}
        return [each for each in self.recorded.reservations.values()
                if each.id in there and each.state == lifecycle.RESERVATION_ACTIVE]

    def _share(self, reservation):
        self.world.cloud.share_aggregate(reservation.id, FRIENDS)
        if self._boot_on_hosts(reservation, FRIENDS):
            self.tally['servers of friends'] += 1

    def _boot_to_be_leased(self, lease, reservation, bind, side):
        server = self._boot({'reservation': reservation.id}, reservation.request['flavor_id'],
                            {'climate:lease_id': lease.id})
        if server:
            self.came.add(server.id)
        if server and bind:
            self.ask(side, lambda client: client.bind_reservation(
                builders.a_member(), reservation.id, server.id))

    def _has_room(self, lease, reservation):
        """True where another server surely has a place: nothing failed, and nothing is due."""
        due = {each.kind for each in self.recorded.open_events(lease.id)}
        amount = reservation.request.get('amount', _MOST)
        mine = [each for each in self.world.cloud.servers()
                if self.booted_for.get(each.id) == reservation.id]
        return (self.mood == base.CALM and not self.disabled and not self.tampered
                and not due & {event_kinds.UPDATE, event_kinds.DELETE, event_kinds.RECLAIM}
                and lease.state == lifecycle.ACTIVE and lease.end > self.now
                and reservation.state == lifecycle.RESERVATION_ACTIVE and len(mine) < amount)

    @stateful.precondition(lambda self: len(self.world.cloud.servers()) < _MOST)
    @base.rule(flavor=requests.FLAVOR, anywhere=st.integers(0, 2))
    def boot_an_ordinary_server(self, flavor, anywhere):
        # Hosts with servers of the waiting project are not cleared, so some servers boot elsewhere.
        self._boot({}, flavor, host=None if not anywhere else f'compute-{model_world.HOSTS}')

    def _boot(self, hints, flavor, metadata=None, host=None, project=DEMO):
        try:
            made = self.world.cloud.boot(project, 'vm', hints, flavor=flavor, metadata=metadata,
                                         host=host)
        except (errors.Conflict, errors.NotFound):
            return None
        self.tally['boots'] += 1
        return made

    @stateful.precondition(lambda self: self._own_servers())
    @base.rule(side=base.SIDE, which=base.WHICH, later=requests.LATER, long=requests.LONG,
               on_end=requests.ON_END)
    def lease_a_server_that_is_there(self, side, which, later, long, on_end):
        server = self.pick(self._own_servers(), which)
        self.create(side, [builders.a_server(server, on_end=on_end)], later, long)

    def _own_servers(self):
        return self.world.cloud.servers(DEMO)

    @stateful.precondition(lambda self: self.world.cloud.servers())
    @base.rule(which=base.WHICH)
    def a_server_is_deleted_by_its_user(self, which):
        self.delete_server(which)

    def delete_server(self, which):
        self.forget_server(self.pick(self.world.cloud.servers(), which).id)

    def forget_server(self, server_id):
        self.strangers.discard(server_id)
        self.deleted_by_users.add(server_id)
        self.world.cloud.delete_server(server_id)

    @stateful.precondition(lambda self: self.mood != base.CALM and self._own_servers())
    @base.rule(which=base.WHICH, status=st.sampled_from(
        ['ACTIVE', 'SHUTOFF', 'PAUSED', 'SUSPENDED', 'ERROR']))
    def a_server_comes_into_another_status(self, which, status):
        server = self.pick(self._own_servers(), which)
        if server.task is None and server.host is not None:
            self.world.cloud.mark_server(server.id, status)
