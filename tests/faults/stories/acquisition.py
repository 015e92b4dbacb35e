# SPDX-License-Identifier: Apache-2.0
"""Stories of leases that wait for resources, and of hosts that are cleared for a lease."""
from support import builders

from climate.domain import lifecycle
from climate.domain import records
from stories import base
from stories import hosts


class _BesideAnother(base.Story):
    """Another lease has all hosts until it is ended; the lease is acquired after that."""

    acquire = records.AcquireRequest('wait')

    def arrange(self, manager):
        super().arrange(manager)
        base.create(manager, builders.hosts(4), lease_id=base.OTHER)
        base.wait_for(manager, lambda: base.lease(
            manager, base.OTHER).state == lifecycle.ACTIVE)

    def act(self, manager):
        base.create(manager, builders.hosts(2), acquire=self.acquire)
        base.end_now(manager, base.OTHER)

    def is_over(self, manager):
        return base.has_started(manager) and base.is_done(manager, 'drop_trust', base.OTHER)


class Retries(_BesideAnother):
    name = 'acquisition with retries'
    acquire = records.AcquireRequest('retries')


class Wait(_BesideAnother):
    name = 'acquisition in the queue'


class DeleteOfWaiting(_BesideAnother):
    name = 'delete of a lease that waits'

    def arrange(self, manager):
        super().arrange(manager)
        base.create(manager, builders.hosts(2), acquire=self.acquire)
        base.wait_for(manager, lambda: base.lease(manager).event('acquire_lease').claim_no > 0)

    def act(self, manager):
        hosts.Delete.act(self, manager)
        base.end_now(manager, base.OTHER)

    def is_over(self, manager):
        return all(base.is_done(manager, 'drop_trust', lease_id)
                   for lease_id in (base.LEASE, base.OTHER))


class HostClearing(hosts.Start):
    """A lent host has a server of another project."""

    name = 'best effort'

    def arrange(self, manager):
        nova = manager.cloud.as_service().nova
        nova.add_hosts(nova.ensure_aggregate(base.LENT), ['compute-1'])
        manager.cloud.boot('other', 'theirs', host='compute-1', flavor='2')

    def act(self, manager):
        base.create(manager, builders.hosts(1), acquire=records.AcquireRequest('best-effort'))


class EndOfClearing(HostClearing):
    name = 'end of a best effort'
    act = hosts.End.act

    def arrange(self, manager):
        super().arrange(manager)
        HostClearing.act(self, manager)
        base.wait_for_start(manager)

    def is_over(self, manager):
        return base.is_done(manager, 'drop_trust') and base.is_done(manager, 'give_back')


class DeleteOfClearing(HostClearing):
    name = 'delete of a best effort that goes on'
    act = hosts.Delete.act
    is_over = hosts.End.is_over

    def arrange(self, manager):
        super().arrange(manager)
        # The compute service is disabled, and no server can leave its host.
        manager.cloud.spoil_moves(*manager.cloud.host_names())
        HostClearing.act(self, manager)
        base.wait_for(manager, lambda: 'hosts can be acquired now' in base.lease(manager).reason)
