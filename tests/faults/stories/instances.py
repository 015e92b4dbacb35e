# SPDX-License-Identifier: Apache-2.0
"""Stories of leases of instances, and of leases that are staged before their start."""
from support import builders

from climate.db import events
from climate.domain import lifecycle
from stories import base
from stories import hosts

TWO_INSTANCES = builders.instances(2, affinity=False)


class StartOfInstances(hosts.Start):
    name = 'start of instances'
    host_count = 2

    def act(self, manager):
        base.create(manager, TWO_INSTANCES)


class Stage(base.Story):
    name = 'stage of instances'
    host_count = 2
    reservation = TWO_INSTANCES

    def arrange(self, manager):
        super().arrange(manager)
        base.create(manager, self.reservation, later=True)

    def arrange_staged(self, manager):
        Stage.arrange(self, manager)
        Stage.act(self, manager)
        base.wait_for(manager, lambda: Stage.is_over(self, manager))

    def act(self, manager):
        staged = base.lease(manager).event('stage_lease')
        if staged.status == lifecycle.EVENT_UNDONE and staged.claim_no == 0:
            # Make the event due now.
            with manager.database.writer() as connection:
                events.move(connection, staged, manager.core.clock(), manager.core.clock())
            manager.core.notify()

    def is_over(self, manager):
        return base.is_done(manager, 'stage_lease')


class StageOfHosts(Stage):
    name = 'stage of hosts'
    reservation = builders.hosts(2)


class StartOfStaged(Stage):
    name = 'start of staged instances'
    arrange = Stage.arrange_staged
    is_over = hosts.Start.is_over

    def act(self, manager):
        base.start_now(manager)


class StartOfStagedHosts(StartOfStaged):
    name = 'start of staged hosts'
    reservation = builders.hosts(2)


class DeleteOfStaged(Stage):
    name = 'delete of staged instances'
    arrange = Stage.arrange_staged
    act = hosts.Delete.act
    is_over = hosts.End.is_over


class DeleteOfStagedHosts(DeleteOfStaged):
    name = 'delete of staged hosts'
    reservation = builders.hosts(2)


class ChangeOfAffinity(hosts.Start):
    name = 'change of an affinity'
    host_count = 2

    def arrange(self, manager):
        super().arrange(manager)
        base.create(manager, TWO_INSTANCES, later=True)

    def act(self, manager):
        base.change_reservation(manager, affinity=True)
        base.start_now(manager)


class _OfInstances(base.Story):
    """Two instances run on a lease of two, one on each of two hosts."""

    host_count = 2

    def arrange(self, manager):
        super().arrange(manager)
        StartOfInstances.act(self, manager)
        base.wait_for_start(manager)
        [reservation] = base.lease(manager).reservations
        for name in ('one', 'two'):
            manager.cloud.boot('demo', name, flavor=reservation.id)


class EndOfInstances(_OfInstances):
    name = 'end of instances'
    act = hosts.End.act
    is_over = hosts.End.is_over


class ShrinkOfInstances(_OfInstances):
    name = 'shrink of instances'
    is_over = hosts.Grow.is_over

    def act(self, manager):
        base.change_reservation(manager, amount=1)
