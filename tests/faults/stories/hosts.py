# SPDX-License-Identifier: Apache-2.0
"""Stories of leases of hosts, and of the hosts themselves."""
from support import builders

from climate import errors
from climate.domain import lifecycle
from stories import base


class Start(base.Story):
    name = 'start'

    def act(self, manager):
        base.create(manager, builders.hosts(2))

    def is_over(self, manager):
        return base.has_started(manager)


class StartOfTwo(Start):
    name = 'start of two reservations'

    def act(self, manager):
        base.create(manager, builders.hosts(1), builders.hosts(1))


class Step(base.Story):
    """A lease of 9 hours that goes on in steps of 10 hours gets one step when it has started."""

    name = 'step'
    host_count = 1

    def act(self, manager):
        base.create(manager, builders.hosts(1), while_free_seconds=10 * 3600)

    def is_over(self, manager):
        lease = base.lease(manager)
        length = round((lease.end - lease.start) / builders.hours(1))
        assert length in (9, 9 + 10)
        return lease.state == lifecycle.ACTIVE and length > 9


class OfActive(base.Story):
    """A lease of two hosts runs, with a server on each."""

    def arrange(self, manager):
        super().arrange(manager)
        Start.act(self, manager)
        base.wait_for_start(manager)
        [reservation] = base.lease(manager).reservations
        for name in ('one', 'two'):
            manager.cloud.boot('demo', name, {'reservation': reservation.id})


class End(OfActive):
    name = 'end'

    def act(self, manager):
        base.end_now(manager)

    def is_over(self, manager):
        return base.is_done(manager, 'drop_trust')


class Delete(OfActive):
    name = 'delete'
    is_over = End.is_over

    def act(self, manager):
        lease = base.lease(manager)
        if lease.deleted_at is None and lease.event('delete_lease') is None:
            manager.client.delete_lease(builders.a_member(), base.LEASE)


class Grow(OfActive):
    name = 'grow'

    def act(self, manager):
        base.change_reservation(manager, min=3, max=3)

    def is_over(self, manager):
        updated = base.lease(manager).event('update_lease')
        return updated is not None and updated.status not in (
            lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS)


class Shrink(Grow):
    name = 'shrink'

    def act(self, manager):
        base.change_reservation(manager, min=1, max=1)


class Swap(OfActive):
    name = 'swap of a host'
    is_over = Grow.is_over

    def act(self, manager):
        [reservation] = base.lease(manager).reservations
        if 1 in reservation.resource_ids:
            manager.client.swap_resource(builders.a_member(), base.LEASE, '1')


class Enrol(base.Story):
    name = 'enrol'
    host_count = 1

    def act(self, manager):
        try:
            manager.client.create_resource(builders.an_admin(), 'host', 'compute-2',
                                           {'rack': '7'})
        except errors.ResourceKnown:
            return

    def is_over(self, manager):
        return len(manager.client.list_resources(builders.an_admin(), 'host')) == 2


class Withdraw(base.Story):
    name = 'withdraw'
    host_count = 2

    def act(self, manager):
        for host in manager.client.list_resources(builders.an_admin(), 'host'):
            if host.name == 'compute-2':
                manager.client.delete_resource(builders.an_admin(), 'host', host.id)

    def is_over(self, manager):
        return len(manager.client.list_resources(builders.an_admin(), 'host')) == 1
