# SPDX-License-Identifier: Apache-2.0
"""The base class of plugins that lease instance capacity."""
import abc

from climate.plugins import base
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import capacity_end
from climate.plugins.compute import host_pool
from climate.plugins.compute import reclaim
from climate.plugins.compute import use


class CapacityPlugin(base.ResourcePlugin):
    """Leases instance capacity, in sizes that a subclass defines."""

    measures_use = True
    reclaims = True
    ends_servers = True

    def needs_owner(self, request):
        return capacity.needs_owner(request)

    def creates_early(self, request):
        return capacity.creates_early(request)

    def create_early(self, cloud, lease, reservation, before=None):
        return capacity.create_early(cloud, reservation, before)

    def delete_early(self, cloud, reservation_id, binding=None):
        capacity.delete_early(cloud, reservation_id, binding)

    def was_started(self, reservation):
        return capacity.was_started(reservation)

    def stages(self, request):
        return True

    def stage(self, cloud, lease, reservation, resources):
        return capacity.stage(self.conf, cloud, lease, reservation,
                              *self.sizes_and_specs(reservation))

    def start(self, cloud, lease, reservation, resources):
        return capacity.start(self.conf, cloud, lease, reservation, resources[host_pool.NEED],
                              *self.sizes_and_specs(reservation))

    def end(self, cloud, lease, reservation, resources):
        capacity_end.end(self.conf, cloud, lease, reservation, resources)

    def use(self, cloud, parts):
        return use.of_capacity(cloud, parts)

    def close(self, cloud, lease, reservation):
        # Without the private flavor nobody can boot onto the capacity.
        cloud.as_service().flavors.forbid(reservation.id, lease.project_id)

    def reopen(self, cloud, lease, reservation, resources):
        cloud.as_service().flavors.allow(reservation.id, lease.project_id)

    def occupied(self, cloud, lease, reservation, resources):
        return reclaim.occupied_capacity(cloud, reservation, resources[host_pool.NEED])

    def observe(self, cloud):
        return capacity_audit.observe(self.conf, cloud)

    def traces(self, observed):
        return capacity_audit.traces(self.conf, observed, self.resource_type)

    def lacks(self, observed, lease, reservation, resources):
        return capacity_audit.lacks(self.conf, observed, lease, reservation,
                                    resources[host_pool.NEED])

    def complete(self, cloud, lease, reservation, resources):
        return capacity.complete(self.conf, cloud, lease, reservation, resources[host_pool.NEED],
                                 *self.sizes_and_specs(reservation))

    def clear(self, cloud, made_for, resources):
        capacity_end.clear(self.conf, cloud, made_for, [host_pool.NEED])

    @abc.abstractmethod
    def sizes_and_specs(self, reservation):
        """Return (sizes, extra specs) of the private flavor, as ``capacity.start`` takes them."""
