# SPDX-License-Identifier: Apache-2.0
"""An installation with leases that run and leases that are over, to be put out of order."""
from support import builders

from climate.cmd import audit
from climate.domain import lifecycle

ROOM = builders.instances(2, affinity=False, memory_mb=1024)


class Case:
    """The installation, with methods that cause drift in it.

    :ivar host: a running lease of one host with a server on it.
    :ivar room: a running lease of capacity for two instances, one of which exists.
    :ivar over: a lease of two hosts that has ended.
    """

    def __init__(self, manager):
        self.manager = manager
        self.nova = manager.cloud.as_service().nova
        self.services = manager.cloud.as_service()
        manager.enrol(6)
        self.over = self.lease(builders.hosts(2))
        self.over_room = self.lease(ROOM)
        self.end(self.over)
        self.end(self.over_room)
        manager.run()
        self.host, self.room = self.lease(builders.hosts(1)), self.lease(ROOM)
        manager.cloud.boot('demo', 'on the host', {'reservation': self.id_of(self.host)})
        manager.cloud.boot('demo', 'within the capacity', flavor=self.id_of(self.room))

    def lease(self, *reservations, **more):
        lease = self.manager.book(*reservations, **more)
        self.manager.run()
        lease = self.manager.lease(lease)
        assert lease.state == lifecycle.ACTIVE, lease.reason
        return lease

    def end(self, lease):
        """Ask for the end of a lease, a minute from now."""
        self.manager.clock.advance(builders.minutes(1))
        self.manager.change(lease, end_now=True)

    @staticmethod
    def id_of(lease):
        [reservation] = lease.reservations
        return reservation.id

    def hosts_of(self, lease):
        return list(self.nova.aggregate(self.id_of(lease)).hosts)

    def aggregate(self, name, hosts=(), zone=None, metadata=None):
        found = self.nova.ensure_aggregate(name, zone, metadata)
        self.nova.add_hosts(found, hosts)
        return found

    def pooled(self):
        return list(self.nova.aggregate('freepool').hosts)

    def out_of_pool(self, hosts):
        self.nova.remove_hosts(self.nova.aggregate('freepool'), hosts)

    def picture(self):
        """All there is in the cloud, to be compared."""
        return (self.manager.cloud.leftovers(), self.manager.cloud.servers(),
                self.nova.aggregates(), self.services.keystone.trusts(),
                self.services.placement.children('climate_'), self.services.computes.every())

    def audit(self, fix=False, unknown=False):
        """The exit status; the second look comes as late as it should."""
        return audit.examine(self.manager.core, fix, lambda seconds: (
            self.manager.clock.advance(builders.minutes(seconds / 60))), unknown)
