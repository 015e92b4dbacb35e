# SPDX-License-Identifier: Apache-2.0
"""The steps of users: leases made, changed, ended and deleted; servers booted and deleted."""
import uuid

import builders
from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base

from climate import errors
from climate.domain import records

minutes = builders.minutes
DEMO = 'demo'
_LATER = st.sampled_from([None, None, None, 1, 10, 10, 30])
_LONG = st.sampled_from([1, 10, 20, 20, 60])
_FLAVOR = st.sampled_from(['1', '2', '4'])
_ON_END = st.sampled_from(['snapshot', 'delete', 'suspend', 'shelve', 'migrate'])


def _sized(kind, **fields):
    return st.builds(lambda **drawn: records.ReservationRequest(kind, drawn),
                     **{key: each if isinstance(each, st.SearchStrategy) else st.just(each)
                        for key, each in fields.items()})


_HOSTS = st.builds(lambda least, more: builders.hosts(least, least + more),
                   st.integers(1, 3), st.integers(0, 1))
_ROOM = _sized('virtual:instance', vcpus=st.sampled_from([1, 16, 40]), memory_mb=1024,
               disk_gb=st.sampled_from([1, 200]), amount=st.integers(1, 4),
               affinity=st.sampled_from([None, True, False]))
_FLAVORS = _sized('flavor:instance', flavor_id=_FLAVOR, amount=st.integers(1, 3))
_TO_COME = _sized('virtual:instance', resource_id=None, flavor_id=_FLAVOR, on_end=_ON_END)
_DUMMY = st.just(records.ReservationRequest('virtual:dummy', {}))
_ASKED = st.lists(st.one_of(_HOSTS, _HOSTS, _ROOM, _ROOM, _FLAVORS, _TO_COME, _DUMMY),
                  min_size=1, max_size=3)


class Requests(base.Base):
    """What users do."""

    @stateful.rule(side=base.SIDE, asked=_ASKED, later=_LATER, long=_LONG,
                   twice=st.booleans())
    def create(self, side, asked, later, long, twice):
        self._create(side, asked, later, long)
        if twice:
            # A client that got no answer says it again.
            self._create(side, asked, later, long, str(list(self.told)[-1]))

    def _create(self, side, asked, later, long, lease_id=None):
        lease_id = lease_id or str(uuid.uuid4())
        told = self.told.setdefault(lease_id, base.Told())
        start = None if later is None else self.now + minutes(later)
        request = builders.a_lease(*asked, start=start,
                                   end=(start or self.now) + minutes(long))
        made = self.ask(side, lambda client: client.create_lease(
            builders.a_member(), lease_id, request))
        told.made = told.made or made is not None
        self.tally['leases'] += made is not None

    @stateful.rule(side=base.SIDE, which=base.WHICH, later=_LATER, long=_LONG, on_end=_ON_END)
    def lease_a_server_that_is_there(self, side, which, later, long, on_end):
        servers = self.world.cloud.servers(DEMO)
        if servers:
            self._create(side, [records.ReservationRequest('virtual:instance', {
                'resource_id': self.pick(servers, which).id, 'on_end': on_end})], later, long)

    @stateful.precondition(lambda self: self.live())
    @stateful.rule(side=base.SIDE, which=base.WHICH, change=st.sampled_from(
        ['name', 'end', 'end', 'start', 'start now', 'end now', 'end now', 'both']), long=_LONG)
    def change_the_dates(self, side, which, change, long):
        lease = self.pick(self.live(), which)
        end = max(self.now, lease.start) + minutes(long)
        changes = {
            'name': {'name': f'renamed {long}'}, 'end': {'end': end},
            'start': {'start': self.now + minutes(long)}, 'start now': {'start_now': True},
            'end now': {'end_now': True},
            'both': {'start': self.now + minutes(long), 'end': self.now + minutes(2 * long)},
        }[change]
        self._change(side, lease.id, changes)

    def _change(self, side, lease_id, changes):
        changed = self.ask(side, lambda client: client.update_lease(
            builders.a_member(), lease_id, records.LeaseChanges(lenient=False, **changes)))
        if changed is not None:
            self.tally['changes'] += 1
            assert changed.name == changes.get('name', changed.name)
            assert changed.end == changes.get('end', changed.end)
            assert changed.start == changes.get('start', changed.start)

    @stateful.precondition(lambda self: self.live())
    @stateful.rule(side=base.SIDE, which=base.WHICH, place=st.integers(0, 2),
                   count=st.integers(1, 4), vcpus=st.sampled_from([None, None, 1, 16]))
    def change_how_much(self, side, which, place, count, vcpus):
        lease = self.lease(self.pick(self.live(), which).id)
        reservation = self.pick(lease.reservations, place)
        request = {}
        if reservation.resource_type == 'physical:host':
            request = {'min': count, 'max': count}
        elif 'amount' in reservation.request:
            request = {'amount': count}
            if vcpus is not None and 'vcpus' in reservation.request:
                request['vcpus'] = vcpus
        if request:
            self._change(side, lease.id, {'reservations': (records.ReservationRequest(
                None, request, id=reservation.id),)})

    @stateful.precondition(lambda self: self.told)
    @stateful.rule(side=base.SIDE, which=base.WHICH, live=st.integers(0, 3))
    def delete(self, side, which, live):
        ids = [each.id for each in self.live()]
        lease_id = self.pick(ids if live and ids else list(self.told), which)
        gone = self.ask(side, lambda client: client.delete_lease(builders.a_member(), lease_id))
        if gone is not None:
            self.told[lease_id].deleted = True
            self.tally['deletes'] += 1

    @stateful.precondition(lambda self: self.live())
    @stateful.rule(which=base.WHICH, place=st.integers(0, 2), bind=st.booleans(), side=base.SIDE)
    def boot(self, which, place, bind, side):
        """A server for a lease: on its hosts, in its room, or the one that it waits for."""
        lease = self.lease(self.pick(self.live(), which).id)
        reservation = self.pick(lease.reservations, place)
        hints = {'reservation': reservation.id}
        request = reservation.request
        if 'sleeps' in request:
            if request['flavor_id'] is None:
                return
            server = self._boot(hints, request['flavor_id'], {'climate:lease_id': lease.id})
            if server and bind:
                self.ask(side, lambda client: client.bind_reservation(
                    builders.a_member(), reservation.id, server.id))
        elif reservation.resource_type == 'physical:host':
            self._boot(hints, '1')
        else:
            self._boot({}, reservation.id)

    @stateful.rule(flavor=_FLAVOR)
    def boot_an_ordinary_server(self, flavor):
        if len(self.world.cloud.servers()) < 6:
            self._boot({}, flavor)

    def _boot(self, hints, flavor, metadata=None):
        try:
            made = self.world.cloud.boot(DEMO, 'vm', hints, flavor=flavor, metadata=metadata)
        except (errors.Conflict, errors.NotFound):
            return None
        self.tally['boots'] += 1
        return made

    @stateful.precondition(lambda self: self.world.cloud.servers())
    @stateful.rule(which=base.WHICH)
    def a_server_is_deleted_by_its_user(self, which):
        self.world.cloud.delete_server(self.pick(self.world.cloud.servers(), which).id)

    @stateful.precondition(lambda self: self.mood != base.CALM and self.world.cloud.servers())
    @stateful.rule(which=base.WHICH, status=st.sampled_from(
        ['ACTIVE', 'SHUTOFF', 'PAUSED', 'SUSPENDED', 'ERROR']))
    def a_server_comes_into_another_status(self, which, status):
        server = self.pick(self.world.cloud.servers(), which)
        if server.task is None and server.host is not None:
            self.world.cloud.mark_server(server.id, status)
