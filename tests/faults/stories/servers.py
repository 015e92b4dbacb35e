# SPDX-License-Identifier: Apache-2.0
"""Stories of leases of servers."""
from support import builders

from climate.domain import lifecycle
from climate.manager.leases import target_watch
from stories import base
from stories import hosts


class _OfServer(base.Story):
    """A server is booted with its lease."""

    host_count = 2
    on_end = 'snapshot'

    def boot(self, manager, later):
        """Do what nova-api does with the middleware, or the part of it that is not done yet."""
        base.create(manager, builders.a_server(flavor_id='1', on_end=self.on_end),
                    later=later)
        [reservation] = base.lease(manager).reservations
        if not manager.cloud.servers():
            manager.cloud.boot('demo', 'vm', {'reservation': reservation.id}, flavor='1',
                               metadata={'climate:lease_id': base.LEASE})
        [server] = manager.cloud.servers()
        manager.client.bind_reservation(builders.a_member(), reservation.id, server.id)

    def arrange_asleep(self, manager):
        super().arrange(manager)
        self.boot(manager, later=True)
        base.wait_for(manager, lambda: Sleep.is_over(self, manager))

    def arrange_awake(self, manager):
        self.arrange_asleep(manager)
        base.start_now(manager)
        base.wait_for_start(manager)


class BootNow(_OfServer):
    name = 'boot with a lease that starts now'
    is_over = hosts.Start.is_over

    def act(self, manager):
        self.boot(manager, later=False)


class Sleep(_OfServer):
    name = 'boot with a lease that starts later'

    def act(self, manager):
        self.boot(manager, later=True)

    def is_over(self, manager):
        prepared = base.lease(manager).event('prepare_lease')
        return prepared.status in (lifecycle.EVENT_DONE, lifecycle.EVENT_ERROR)


class Wake(_OfServer):
    name = 'start of a server that sleeps'
    arrange = _OfServer.arrange_asleep
    is_over = hosts.Start.is_over

    def act(self, manager):
        base.start_now(manager)


class EndOfServer(_OfServer):
    name = 'end of a server'
    arrange = _OfServer.arrange_awake
    act = hosts.End.act
    is_over = hosts.End.is_over


class MoveAtTheEnd(EndOfServer):
    name = 'end of a server that lives on'
    on_end = 'migrate'


class ServerGone(_OfServer):
    name = 'end of a lease whose server was deleted'
    arrange = _OfServer.arrange_awake
    is_over = hosts.End.is_over

    def act(self, manager):
        for server in manager.cloud.servers():
            manager.cloud.delete_server(server.id)
        if base.lease(manager).event('check_lease') is None:
            target_watch.TargetWatch(manager.core).check_all(manager.core.clock())
