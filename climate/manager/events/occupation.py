# SPDX-License-Identifier: Apache-2.0
"""Occupy the resources of a lease before its start or change, or substitutes for them."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import sub_leases
from climate.domain import texts
from climate.manager import ownership
from climate.manager.booking import allocated_resources
from climate.manager.booking import shortfalls
from climate.manager.booking import substitutes
from climate.manager.energy import wake_before_start
from climate.manager.health import failures
from climate.manager.pools import refresh

LOG = log.getLogger(__name__)


class Occupation:
    """Occupies the resources of claimed leases, and substitutes unavailable resources."""

    def __init__(self, core):
        self._core = core
        self._substitutes = substitutes.Substitutes(core)
        self._allocated = allocated_resources.AllocatedResources(core)
        self._wakes = wake_before_start.WakeBeforeStart(core)
        self._shortfalls = shortfalls.Shortfalls(core)
        self._refresher = refresh.Refresher(core, None)

    def for_start(self, claim):
        """Occupy the resources of all reservations, and substitute failing resources.

        :returns: (the claim with the current lease, its allocated Resources or, if some were
            substituted, None).
        :raises StillBusy: as `occupy`.
        """
        resources = self._allocated.all_of(claim.lease.reservations)
        if claim.lease.parent_id is not None:
            self._await_parent(claim.lease, resources)
            return claim, resources
        failing = failures.failing(self._core, resources)
        # A resource may only seem to fail because its stored facts are outdated.
        if failing and self._refresher.reread(
                [resource for resource in resources if resource.id in failing], claim.at):
            resources = self._allocated.all_of(claim.lease.reservations)
            failing = failures.failing(self._core, resources)
        occupied = self.occupy(claim, failing)
        return occupied, resources if occupied is claim else None

    def occupy(self, claim, failing=None):
        """Occupy the resources of all reservations; substitute unavailable resources.

        :param failing: {resource id: why nothing can be started on it now}.
        :returns: the claim with the current lease.
        :raises StillBusy: another reservation still holds a resource, and there is no substitute.
        """
        changed = False
        if claim.lease.parent_id is not None:
            self._await_parent(claim.lease, self._allocated.all_of(claim.lease.reservations))
            return claim
        for reservation in claim.lease.reservations:
            if reservation.resource_ids:
                claim.ownership.check()
                # The first try waits, because a lease that ends now may still use the resources.
                changed |= self._substitutes.ensure(claim.lease, reservation, claim.at,
                                                    patient=claim.event.waits == 0,
                                                    failing=failing)
        return self.reread(claim) if changed else claim

    def improve(self, claim, resources):
        """Substitute occupied resources that are worse than requested, if better ones are free.

        :param resources: the allocated Resources; None: they are read.
        :returns: (the claim with the current lease, its allocated Resources or None as in
            `for_start`, the ids of the reservations for which no better resources are free).
        """
        if resources is None:
            resources = self._allocated.all_of(claim.lease.reservations)
        missing, changed = set(), False
        if claim.lease.parent_id is not None:
            # Its parent gets substitutes, not the sub-lease.
            return claim, resources, frozenset()
        for reservation in claim.lease.open_reservations:
            short = self._shortfalls.of(claim.lease, reservation, resources, claim.at)
            if not short:
                continue
            claim.ownership.check()
            try:
                self._substitutes.ensure(claim.lease, reservation, claim.at, failing=short,
                                         all_of_them=True)
                changed = True
            except errors.NotEnough as error:
                LOG.warning('Lease %s, reservation %s: it starts with less than it asked for: %s',
                            claim.lease.id, reservation.id, error.message)
                missing.add(reservation.id)
        if changed:
            claim, resources = self.reread(claim), None
        return claim, resources, frozenset(missing)

    def _await_parent(self, lease, resources):
        """Wait until the parent of a sub-lease holds the hosts, and no other sub-lease uses them.

        :raises StillBusy: the parent has not started, or another sub-lease has not ended yet.
        """
        own_ids = {each.id for each in resources}
        missing = [each for each in resources if each.held_by not in lease.parent.reservation_ids]
        if missing:
            raise errors.StillBusy.plain('Climate', texts.counted(
                len(missing), f'host is not ready in lease {lease.parent.id}, which it belongs to.',
                f'hosts are not ready in lease {lease.parent.id}, which they belong to.'))
        with self._core.database.reader() as connection:
            siblings = sub_leases.of_parents(connection, [lease.parent_id]).get(
                lease.parent_id, ())
        for sibling in siblings:
            if sibling.id != lease.id and sibling.start < lease.start and (
                    not own_ids.isdisjoint(sibling.resource_ids)):
                raise errors.StillBusy.plain(
                    'Climate', f'sub-lease {sibling.id} still uses some of the hosts.')

    def wake(self, claim):
        """Wake the resources of the lease; the start waits until they are awake."""
        self._wakes.wake_ahead(_resource_ids(claim.lease), claim.at)

    def await_awake(self, claim):
        """Wake the sleeping resources of the lease.

        :raises StillBusy: a resource still sleeps.
        """
        self._wakes.await_awake(_resource_ids(claim.lease), claim.at)

    def reread(self, claim):
        """Return the claim with its reservations read again.

        :raises StillBusy: the deletion of the lease was ordered after the claim.
        """
        with self._core.database.reader() as connection:
            lease = ownership.reread(connection, claim.lease)
        return dataclasses.replace(claim, lease=lease)


def _resource_ids(lease):
    return {key for each in lease.reservations for key in each.resource_ids}
