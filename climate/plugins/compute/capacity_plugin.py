# SPDX-License-Identifier: Apache-2.0
"""The base class of plugins that lease instance capacity with one private flavor."""
import abc

from climate.domain import records
from climate.domain import shares
from climate.plugins import base
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import capacity_end
from climate.plugins.compute import guest_servers
from climate.plugins.compute import host_pool
from climate.plugins.compute import reclaim
from climate.plugins.compute import server_losses
from climate.plugins.compute import use

_POLICIES = {True: 'affinity', False: 'anti-affinity'}


class CapacityPlugin(base.ResourcePlugin):
    """Leases instance capacity. A subclass defines the sizes and the extra specs."""

    measures_use = True
    reclaims = True
    ends_servers = True
    has_guests = True
    transferable = True

    @abc.abstractmethod
    def sizes_and_specs(self, reservation):
        """Return (sizes, extra specs) of the private flavor, for ``capacity.Capacity.grant``."""

    def acts_as_owner(self, request):
        # If the server group is gone, `start` recreates it in the owner's project.
        return self.creates_early(request)

    def creates_early(self, request):
        return _POLICIES.get(request.get('affinity')) is not None

    def create_early(self, cloud, lease, reservation, before=None):
        """Create the server group, which clients name when they boot; return the binding."""
        policy = _POLICIES[reservation.request['affinity']]
        if (before is not None and before.binding.get('server_group_id') is not None
                and before.request['affinity'] == reservation.request['affinity']):
            return dict(before.binding)
        # Do not look for a group of that name: only a new group has no other users.
        return {'server_group_id': cloud.as_user().flavors.create_group(
            capacity.name_of(reservation.id), policy)}

    def delete_early(self, cloud, reservation_id, binding=None):
        flavors = cloud.as_service().flavors
        if binding is None:
            flavors.delete_groups(capacity.name_of(reservation_id))
        elif binding.get('server_group_id') is not None:
            flavors.delete_group(binding['server_group_id'])

    def was_started(self, reservation):
        return reservation.binding.get('aggregate_id') is not None

    def stages(self, request):
        return True

    def stage(self, cloud, lease, reservation, resources):
        """Create the objects of `start`, but leave the aggregate empty and the flavor closed."""
        services = cloud.as_service()
        staged, group_id = self._staged(cloud, lease, reservation)
        aggregate = services.nova.ensure_aggregate(reservation.id, metadata=staged['metadata'])
        services.placement.ensure_class(capacity.class_name(reservation.id))
        services.flavors.ensure(reservation.id, capacity.name_of(reservation.id), staged['sizes'],
                                staged['extra_specs'], exactly=True)
        group = {} if group_id is None else {'server_group_id': group_id}
        return {**reservation.binding, **group,
                records.STAGED: {'aggregate_id': aggregate.id, **staged}}

    def start(self, cloud, lease, reservation, resources):
        own_capacity = capacity.Capacity(self.conf, cloud, lease, reservation, resources)
        staged = reservation.binding.get(records.STAGED)
        if cloud.attempt.is_first and staged is not None:
            required, _ = self._staged(cloud, lease, reservation)
            if staged == {**required, 'aggregate_id': staged['aggregate_id']}:
                return self._open(own_capacity, staged['aggregate_id'])
        aggregate, binding = self._grant(own_capacity)
        # Before the first start no server uses a slot, because nobody may use the flavor yet.
        if self.was_started(reservation) or own_capacity.lost_hosts(aggregate):
            own_capacity.reclaim(aggregate)
        own_capacity.allow(resources)
        if binding['server_group_id'] is not None and not self.was_started(reservation):
            # There may be another server group from an interrupted change of the affinity.
            cloud.as_service().flavors.delete_groups(
                capacity.name_of(reservation.id), but=binding['server_group_id'])
        return binding

    def complete(self, cloud, lease, reservation, resources):
        own_capacity = capacity.Capacity(self.conf, cloud, lease, reservation, resources)
        _, binding = self._grant(own_capacity)
        own_capacity.allow(resources)
        return binding

    def end(self, cloud, lease, reservation, resources):
        capacity_end.end(self.conf, cloud, lease, reservation, resources)

    def lost_at_end(self, cloud, lease, reservation, resources):
        return server_losses.of_servers(
            capacity_end.servers(cloud.as_service(), reservation, resources))

    def lost_by_change(self, cloud, lease, reservation, resources):
        return server_losses.of_servers(capacity.Capacity(
            self.conf, cloud, lease, reservation, resources).surplus())

    def share(self, cloud, lease, reservation, resources):
        flavors = cloud.as_service().flavors
        for key in resources:
            flavor_id = capacity.flavor_id(reservation.id, key)
            for project_id in sorted(shares.former_guests(lease.shares)):
                flavors.forbid(flavor_id, project_id)
            for project_id in sorted(shares.guests(lease.shares)):
                flavors.allow(flavor_id, project_id)

    def guest_servers(self, cloud, lease, reservation, resources, project_id):
        return server_losses.of_servers(self._of_guest(cloud, reservation, resources, project_id))

    def clear_guest(self, cloud, lease, reservation, resources, project_id, deletes):
        guest_servers.clear(cloud, lease, reservation, self._of_guest(
            cloud, reservation, resources, project_id), deletes)

    @staticmethod
    def _of_guest(cloud, reservation, resources, project_id):
        """Return the Servers of another project in the slots of a reservation."""
        return guest_servers.of_project(
            capacity_end.servers(cloud.as_service(), reservation, resources), project_id)

    def use(self, cloud, parts):
        return use.of_capacity(cloud, parts)

    def close(self, cloud, lease, reservation):
        # Without the private flavor nobody can boot servers in the slots.
        for project_id in capacity.users(lease):
            cloud.as_service().flavors.forbid(reservation.id, project_id)

    def reopen(self, cloud, lease, reservation, resources):
        for project_id in capacity.users(lease):
            cloud.as_service().flavors.allow(reservation.id, project_id)

    def occupied(self, cloud, lease, reservation, resources):
        return reclaim.occupied_capacity(cloud, reservation, resources[host_pool.NEED])

    def observe(self, cloud):
        return capacity_audit.observe(self.conf, cloud)

    def traces(self, observed):
        return capacity_audit.traces(self.conf, observed, self.resource_type)

    def lacks(self, observed, lease, reservation, resources):
        return capacity_audit.lacks(self.conf, observed, lease, reservation, resources)

    def clear(self, cloud, made_for, resources):
        capacity_end.clear(self.conf, cloud, made_for)

    @classmethod
    def fields(cls, reservation):
        bound = {name: value for name, value in reservation.binding.items()
                 if name != records.STAGED}
        return {**reservation.request, 'flavor_id': reservation.id, 'aggregate_id': None,
                'server_group_id': None, **bound}

    def _staged(self, cloud, lease, reservation):
        """Return ({field of the staged objects in the binding: value}, server group id)."""
        sizes, specs = self.sizes_and_specs(reservation)
        group_id = self._group(cloud, reservation)
        return {'sizes': sizes,
                'extra_specs': {**specs, **_affinity(group_id), **capacity.ties(reservation.id)},
                'metadata': {**capacity.marks(self.conf, lease, reservation.id),
                             'affinity_id': group_id}}, group_id

    def _open(self, own_capacity, aggregate_id):
        """Give the project access to the staged objects; return the binding."""
        services, reservation = own_capacity.cloud.as_service(), own_capacity.reservation
        services.nova.add_hosts(
            services.nova.empty_aggregate(aggregate_id, reservation.id),
            sorted(capacity.service_hosts(own_capacity.resources)), alone=True)
        own_capacity.set_slots(host_pool.NEED)
        own_capacity.allow(own_capacity.resources)
        return {'flavor_id': reservation.id, 'aggregate_id': aggregate_id,
                'server_group_id': reservation.binding.get('server_group_id')}

    def _grant(self, own_capacity):
        """Create all missing objects; return (the aggregate before this call, the binding)."""
        reservation = own_capacity.reservation
        sizes, specs = self.sizes_and_specs(reservation)
        group_id = self._group(own_capacity.cloud, reservation)
        aggregate = own_capacity.grant(
            {host_pool.NEED: (sizes, {**specs, **_affinity(group_id)})}, group_id,
            exactly=not self.was_started(reservation))
        return aggregate, {'flavor_id': reservation.id, 'aggregate_id': aggregate.id,
                           'server_group_id': group_id}

    @staticmethod
    def _group(cloud, reservation):
        """Return the id of the server group, which is recreated if it is missing.

        None if the request has no affinity.
        """
        policy = _POLICIES.get(reservation.request.get('affinity'))
        if policy is None:
            return None
        group_id = reservation.binding.get('server_group_id')
        if group_id is not None and cloud.as_service().flavors.has_group(group_id):
            return group_id
        return cloud.as_user().flavors.ensure_group(capacity.name_of(reservation.id), policy)


def _affinity(group_id):
    return {} if group_id is None else {'affinity_id': group_id}
