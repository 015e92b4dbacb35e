# SPDX-License-Identifier: Apache-2.0
"""The occupation of a lease's resources before its start or change, with substitutes."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.manager.booking import allocated_resources
from climate.manager.booking import shortfalls
from climate.manager.booking import substitutes
from climate.manager.energy import wake_before_start
from climate.manager.health import failures
from climate.manager.pools import refresh

LOG = log.getLogger(__name__)


class Occupation:
    """Occupies the resources of claimed leases, and substitutes those that are not available."""

    def __init__(self, core):
        self._core = core
        self._substitutes = substitutes.Substitutes(core)
        self._allocated = allocated_resources.AllocatedResources(core)
        self._wakes = wake_before_start.WakeBeforeStart(core)
        self._shortfalls = shortfalls.Shortfalls(core)
        self._refresher = refresh.Refresher(core, None)

    def for_start(self, claim):
        """Occupy the resources of all reservations that can be used in the cloud.

        :returns: (the claim with the current lease, its allocated Resources; None instead of them
            if some were substituted).
        :raises StillBusy: as `occupy`.
        """
        known = self._allocated.all_of(claim.lease.reservations)
        # One that sleeps is not failing: the start wakes it.
        failing = failures.failing(self._core, known)
        # A service may have got another name just now.
        if failing and self._refresher.reread(
                [each for each in known if each.id in failing], claim.at):
            known = self._allocated.all_of(claim.lease.reservations)
            failing = failures.failing(self._core, known)
        occupied = self.occupy(claim, failing)
        return occupied, known if occupied is claim else None

    def occupy(self, claim, failing=None):
        """Occupy the resources of all reservations; substitute those that are not available.

        :param failing: {resource id: why nothing can be started on it now}.
        :returns: the claim with the current lease.
        :raises StillBusy: another reservation still holds a resource, and no other is free.
        """
        changed = False
        for reservation in claim.lease.reservations:
            if reservation.resource_ids:
                claim.ownership.check()
                # A lease that ends at this moment is still releasing its resources.
                changed |= self._substitutes.ensure(claim.lease, reservation, claim.at,
                                                    patient=claim.event.waits == 0,
                                                    failing=failing)
        return self._reread(claim) if changed else claim

    def improve(self, claim, known):
        """Substitute occupied resources that give less than was requested, if others give it.

        :param known: the allocated Resources; None: they are read.
        :returns: (the claim with the current lease, its allocated Resources or None, the ids of
            the reservations that keep such resources, because there are no better ones).
        """
        known = self._allocated.all_of(claim.lease.reservations) if known is None else known
        missing, changed = set(), False
        for reservation in claim.lease.open_reservations:
            short = self._shortfalls.of(claim.lease, reservation, known, claim.at)
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
            claim, known = self._reread(claim), None
        return claim, known, frozenset(missing)

    def wake(self, claim):
        """Wake the resources of the lease; the start waits until they are awake."""
        self._wakes.wake_ahead(_resource_ids(claim.lease), claim.at)

    def await_awake(self, claim):
        """Wake the resources of the lease that sleep.

        :raises StillBusy: some of them sleep.
        """
        self._wakes.await_awake(_resource_ids(claim.lease), claim.at)

    def _reread(self, claim):
        with self._core.database.reader() as connection:
            lease = substitutes.reread(connection, claim.lease)
        return dataclasses.replace(claim, lease=lease)


def _resource_ids(lease):
    return {key for each in lease.reservations for key in each.resource_ids}
