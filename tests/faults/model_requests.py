# SPDX-License-Identifier: Apache-2.0
"""The steps of users: leases made, changed, ended and deleted."""
import uuid

from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
from support import builders

from climate.domain import records

minutes = builders.minutes
FLAVOR = st.sampled_from(['1', '2', '4'])
ON_END = st.sampled_from(['snapshot', 'delete', 'suspend', 'shelve', 'migrate'])
ON_IMAGE_FAILURE = st.sampled_from(['default', 'keep', 'delete'])
LATER = st.sampled_from([None, None, None, 1, 10, 10, 30])
LONG = st.sampled_from([1, 10, 20, 20, 60])
_COUNT = st.integers(1, 4)


def _hosts(least, more, before_end, on_image_failure):
    return builders.hosts(least, least + more, before_end=before_end,
                          on_image_failure=on_image_failure)


def _room(vcpus, disk_gb, amount, affinity):
    return records.ReservationRequest('virtual:instance', {
        'vcpus': vcpus, 'memory_mb': 1024, 'disk_gb': disk_gb, 'amount': amount,
        'affinity': affinity})


def _room_of_a_flavor(flavor_id, amount):
    return records.ReservationRequest('flavor:instance', {
        'flavor_id': flavor_id, 'amount': amount})


def _server_to_come(flavor_id, on_end):
    return builders.a_server(flavor_id=flavor_id, on_end=on_end)


HOSTS = st.builds(_hosts, st.integers(1, 3), st.integers(0, 1),
                  st.sampled_from(['default', 'default', 'snapshot']), ON_IMAGE_FAILURE)
ROOM = st.builds(_room, st.sampled_from([1, 16, 40]), st.sampled_from([1, 200]), _COUNT,
                 st.sampled_from([None, True, False]))
FLAVORS = st.builds(_room_of_a_flavor, FLAVOR, st.integers(1, 3))
_TO_COME = st.builds(_server_to_come, FLAVOR, ON_END)
_DUMMY = st.just(records.ReservationRequest('virtual:dummy', {}))
_SEVERAL = st.lists(st.one_of(HOSTS, HOSTS, ROOM, FLAVORS, _TO_COME, _DUMMY),
                    min_size=2, max_size=3)


class Requests(base.Base):
    """The steps of users with leases."""

    @base.rule(side=base.SIDE, asked=HOSTS, later=LATER, long=LONG)
    def lease_hosts(self, side, asked, later, long):
        self.create(side, [asked], later, long)

    @base.rule(side=base.SIDE, asked=ROOM, later=LATER, long=LONG)
    def lease_room(self, side, asked, later, long):
        self.create(side, [asked], later, long)

    @base.rule(side=base.SIDE, asked=FLAVORS, later=LATER, long=LONG)
    def lease_room_of_a_flavor(self, side, asked, later, long):
        self.create(side, [asked], later, long)

    @base.rule(side=base.SIDE, asked=st.lists(_TO_COME, min_size=1, max_size=2), later=LATER,
               long=LONG)
    def lease_servers_to_come(self, side, asked, later, long):
        self.create(side, asked, later, long)

    @base.rule(side=base.SIDE, asked=_SEVERAL, later=LATER, long=LONG)
    def lease_several_things(self, side, asked, later, long):
        self.create(side, asked, later, long)

    @stateful.precondition(lambda self: self.told)
    @base.rule(side=base.SIDE, which=base.WHICH)
    def ask_once_more_for_a_lease(self, side, which):
        """Repeat a request, as a client does that got no answer."""
        lease_id = self.pick(list(self.told), which)
        self.entrust(side, lease_id, self.told[lease_id].request)

    def create(self, side, asked, later, long):
        start = None if later is None else self.now + minutes(later)
        self.entrust(side, str(uuid.uuid4()), builders.a_lease(
            *asked, start=start, end=(start or self.now) + minutes(long)))

    def entrust(self, side, lease_id, request):
        told = self.told.setdefault(lease_id, base.Told(request))
        made = self.ask(side, lambda client: client.create_lease(
            builders.a_member(), lease_id, request))
        if made is not None:
            self.tally['leases'] += not told.made
            told.made = True

    @stateful.precondition(lambda self: self.live())
    @base.rule(side=base.SIDE, which=base.WHICH, change=st.sampled_from(
        ['name', 'end', 'end', 'start', 'start now', 'end now', 'both']), long=LONG)
    def change_the_dates(self, side, which, change, long):
        lease = self.pick(self.live(), which)
        end = max(self.now, lease.start) + minutes(long)
        changes = {
            'name': {'name': f'renamed {long}'}, 'end': {'end': end},
            'start': {'start': self.now + minutes(long)}, 'start now': {'start_now': True},
            'end now': {'end_now': True},
            'both': {'start': self.now + minutes(long), 'end': self.now + minutes(2 * long)},
        }[change]
        self.change(side, lease.id, changes)

    def change(self, side, lease_id, changes):
        changed = self.ask(side, lambda client: client.update_lease(
            builders.a_member(), lease_id, records.LeaseChanges(**changes)))
        if changed is not None:
            self.tally['changes'] += 1
            for name in ('name', 'start', 'end'):
                assert getattr(changed, name) == changes.get(name, getattr(changed, name))

    @stateful.precondition(lambda self: self.live())
    @base.rule(side=base.SIDE, which=base.WHICH, place=st.integers(0, 2), count=_COUNT,
               vcpus=st.sampled_from([None, None, 1, 16]))
    def change_how_much(self, side, which, place, count, vcpus):
        lease = self.lease(self.pick(self.live(), which).id)
        reservation = self.pick(lease.reservations, place)
        request = {}
        if reservation.resource_type == 'physical:host':
            request = {'min': count, 'max': count}
        elif reservation.resource_type == 'virtual:cluster':
            request = {'node_count': count}
        elif 'amount' in reservation.request:
            request = {'amount': count}
            if vcpus is not None and reservation.resource_type == 'virtual:instance':
                request['vcpus'] = vcpus
        if request:
            self.change(side, lease.id, {'reservations': (records.ReservationRequest(
                None, request, id=reservation.id),)})

    @stateful.precondition(lambda self: self.told)
    @base.rule(side=base.SIDE, which=base.WHICH, live=st.integers(0, 5))
    def delete(self, side, which, live):
        ids = [each.id for each in self.live()]
        self.delete_one(side, self.pick(ids if live and ids else list(self.told), which))

    def delete_one(self, side, lease_id):
        # A manager that dies of it may have written it before.
        self.told[lease_id].asked_to_delete = True
        if self.ask(side, lambda client: client.delete_lease(
                builders.a_member(), lease_id)) is not None:
            self.told[lease_id].deleted = True
            self.tally['deletes'] += 1
