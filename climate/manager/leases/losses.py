# SPDX-License-Identifier: Apache-2.0
"""The objects of a lease that its end or a change would delete, as the plugins report them."""
import dataclasses

from climate import errors
from climate.cloud import caching_cloud
from climate.db import leases
from climate.domain import due_events
from climate.domain import lifecycle
from climate.domain import losses
from climate.manager import lease_cloud
from climate.manager.booking import allocated_resources
from climate.plugins import base


class LeaseLosses:
    """Asks the plugins what would be lost. The cloud is only read."""

    def __init__(self, core):
        self._core = core
        self._allocated = allocated_resources.AllocatedResources(core)

    def at_end(self, lease, now, at=None):
        """Return the Losses of the end, or the deletion, of a lease.

        The sub-leases of the lease end with it, so their losses are included.

        :param at: the moment of the end; None: now.
        :raises CloudError: a service refuses to list the objects.
        :raises CloudUnreachable: a service is not available, or cannot list all objects now.
        """
        own = self._at_end(lease, now, at)
        if not lease.sub_leases or at is not None:
            return own
        with self._core.database.reader() as connection:
            sub_leases = leases.mentioned(connection, {each.id for each in lease.sub_leases})
        # The owner of the lease reads the names of its sub-leases, but not those of their servers.
        ended = [losses.Loss('sub-lease', each.id, each.name, lease.project_id, losses.ENDED)
                 for each in sub_leases]
        return losses.once(loss for found in (own, ended, *(
            self._at_end(each, now, None) for each in sub_leases)) for loss in found)

    def _at_end(self, lease, now, at):
        if due_events.has_no_objects(lease) or due_events.never_acquired(lease):
            return ()
        reservations = self._known(lease.open_reservations)
        return self._collected('lost_at_end', lease, reservations, self._allocated.possibly_used(
            lease, reservations), base.Attempt(now=now, since=now), at)

    def by_change(self, lease, target, now):
        """Return the Losses of a change of a lease.

        :param lease: the Lease before the change.
        :param target: the Lease after the change, with its new requests and allocations.
        :raises CloudError: as `at_end`.
        """
        if target.end <= now:
            return self.at_end(lease, now)
        found = self._of_resources(lease, target, now)
        if target.end < lease.end:
            found = (*found, *self.at_end(lease, now, target.end))
        return losses.once(found)

    def _of_resources(self, lease, target, now):
        """Return the Losses of the resources that a running lease loses at once."""
        before = {each.id: each for each in lease.reservations}
        running = [each for each in self._known(target.reservations)
                   if lease.state != lifecycle.PENDING and each.state in (
                       lifecycle.RESERVATION_ACTIVE, lifecycle.RESERVATION_ERROR)
                   and (each.allocated, each.request) != (
                       before[each.id].allocated, before[each.id].request)]
        if not running:
            return ()
        attempt = base.Attempt(now=now, since=now, former=self._allocated.former(running))
        return self._collected('lost_by_change', target, running, self._allocated.of(running),
                               attempt, None)

    def _known(self, reservations):
        """Return the reservations whose plugins are enabled."""
        return [each for each in reservations
                if each.resource_type in self._core.registry.plugins]

    def _collected(self, method, lease, reservations, resources, attempt, at):
        cloud = lease_cloud.ActionCloud(caching_cloud.CachingCloud(self._core.cloud), lease,
                                        attempt, registry=self._core.registry)
        found = []
        for each in reservations:
            plugin = self._core.registry.plugin(each.resource_type)
            try:
                found += getattr(plugin, method)(cloud, lease, each, resources[each.id])
            except errors.StillBusy as error:
                raise errors.CloudUnreachable(**error.kwargs) from error
        return losses.once(dataclasses.replace(loss, at=at) for loss in found)
