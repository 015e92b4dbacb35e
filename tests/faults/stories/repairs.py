# SPDX-License-Identifier: Apache-2.0
"""Stories of hosts that fail or are maintained, and of a lease that failed."""
from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.domain import maintenance_windows
from climate.manager.health import blocking
from climate.manager.leases import health_moves
from climate.manager.maintenance import windows
from stories import base


class HealAhead(base.Story):
    name = 'another host before the start'
    host_count = 2
    calls_cloud = False

    def arrange(self, manager):
        super().arrange(manager)
        base.create(manager, builders.hosts(1), later=True)

    def act(self, manager):
        [host] = [host for host in manager.client.list_resources(builders.an_admin(), 'host')
                  if host.id == 1]
        if host.is_well:
            manager.client.set_out_of_order(builders.an_admin(), 'host', 1, 'a fan is broken')
        # What a manager does periodically.
        now = manager.core.clock()
        blocking.prolong(manager.core, now)
        health_moves.HealthMoves(manager.core).move_soon(now)
        blocking.prolong(manager.core, now)

    def is_over(self, manager):
        return base.lease(manager).reservations[0].resource_ids == (2,)


class Maintain(HealAhead):
    name = 'maintenance'
    calls_cloud = True

    def act(self, manager):
        now = manager.core.clock()
        if not manager.client.list_maintenances(builders.an_admin()):
            request = maintenance_windows.MaintenanceRequest(
                'host', now, now + builders.hours(30), 'new firmware', resources=('1',))
            manager.client.create_maintenance(builders.an_admin(), request)
        self.carry_on(manager)

    @staticmethod
    def carry_on(manager):
        windows.Windows(manager.core, 'this manager').carry_on(manager.core.clock())

    def is_over(self, manager):
        [found] = manager.client.list_maintenances(builders.an_admin())
        if found.windows[0].state != maintenance_windows.RUNNING:
            self.carry_on(manager)
            return False
        [closed] = manager.cloud.as_service().computes.of_hosts(['compute-1'])
        return not closed.enabled and super().is_over(manager)


class EndOfMaintenance(Maintain):
    name = 'end of maintenance'

    def arrange(self, manager):
        super().arrange(manager)
        Maintain.act(self, manager)
        base.wait_for(manager, lambda: Maintain.is_over(self, manager))

    def act(self, manager):
        for found in manager.client.list_maintenances(builders.an_admin()):
            if not found.closing:
                manager.client.delete_maintenance(builders.an_admin(), found.id)
        self.carry_on(manager)

    def is_over(self, manager):
        if manager.client.list_maintenances(builders.an_admin()):
            self.carry_on(manager)
            return False
        [opened] = manager.cloud.as_service().computes.of_hosts(['compute-1'])
        return opened.enabled


class Heal(base.Story):
    name = 'start after all'
    host_count = 1

    def arrange(self, manager):
        super().arrange(manager)
        # Only in the cloud of this process; it works again in the next one.
        manager.cloud.fail('nova.create_aggregate', 99, errors.CloudError(
            service='Nova', reason='no'))
        base.create(manager, builders.hosts(1))
        base.wait_for(manager, lambda: base.lease(manager).state == lifecycle.ERROR)

    def act(self, manager):
        # A host that comes into use lets the manager retry the leases that need one.
        [host] = manager.client.list_resources(builders.an_admin(), 'host')
        manager.client.update_resource(builders.an_admin(), 'host', host.id, {}, True)

    def is_over(self, manager):
        return base.lease(manager).state == lifecycle.ACTIVE
