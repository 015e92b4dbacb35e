# SPDX-License-Identifier: Apache-2.0
"""Occupy the resources of a reservation, with substitutes for those that cannot be had."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.db import resources
from climate.domain import fit
from climate.manager import booking
from climate.manager import claims

LOG = log.getLogger(__name__)


class Substitutes:
    """A promise that is due is kept with the resources promised, or with others as good."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)

    def ensure(self, lease, reservation, now, patient=False):
        """Let a reservation occupy resources, as many as were promised to it.

        Only whole resources are occupied; one that is shared must have been given back by
        whoever had all of it. A whole resource that another reservation still holds, or that is
        out of order, is replaced by one that is free until the end of the lease.

        :param patient: wait for a resource that is still held instead of replacing it.
        :raises StillBusy: a resource is still held, and there is no substitute.
        :raises NotEnough: a resource is out of order, and there is no substitute.
        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        with self._core.database.writer() as connection:
            promised = allocations.of_reservations(connection, [reservation.id])
            whole = [given.resource_id for given in promised if given.whole]
            parts = resources.with_ids(connection, {
                given.resource_id for given in promised if not given.whole})
            holders = resources.hold(connection, whole, reservation.id) if whole else {}
            known = {each.id: each for each in resources.with_ids(connection, whole)}
            claims.refuse_overtaken(connection, lease)
        _refuse_held(parts, reservation)
        broken = {key for key, each in known.items() if not each.reservable} - set(holders)
        if not holders and not broken:
            return
        names = ', '.join(f'{known[key].name} by reservation {holder}'
                          for key, holder in sorted(holders.items()))
        if holders and patient:
            raise errors.StillBusy(service='Climate', reason=f'still held are {names}.')
        try:
            self._replace(lease, reservation, set(holders) | broken, now)
        except errors.NotEnough as error:
            if not holders:
                raise
            raise errors.StillBusy(service='Climate', reason=(
                f'still held are {names}, and no other is free.')) from error

    def _replace(self, lease, reservation, lost, now):
        plugin = self._core.registry.plugin(reservation.resource_type)
        kept = tuple(key for key in reservation.resource_ids if key not in lost)
        span = dataclasses.replace(lease.interval, start=max(lease.start, now))
        wishes = []
        for need in plugin.needs(reservation.request):
            if need.demand.amount is fit.WHOLE:
                demand = dataclasses.replace(need.demand, at_least=len(lost), at_most=len(lost))
                wishes.append(booking.Wish(reservation.id, dataclasses.replace(
                    need, demand=demand)))

        def write(connection, chosen):
            claims.refuse_overtaken(connection, lease)
            allocations.delete(connection, [reservation.id], lost)
            self._booking.replace(connection, chosen, now)
            resources.release(connection, reservation.id, lost)
            new = [given.resource_id for given in chosen]
            if resources.hold(connection, new, reservation.id):
                raise errors.LostRace()
            reservations.change(connection, [reservation.id], now, resources_changed=True)
            journal.note(connection, lease.id, now, 'climate', 'substitute',
                         f'resources {sorted(lost)} replaced by {sorted(new)}')
            return new
        planned = self._booking.plan(wishes, span, now, avoid=set(kept) | lost)
        new = self._booking.book(wishes, span, now, write, planned=planned,
                                 avoid=set(kept) | lost)
        LOG.warning('Lease %s, reservation %s: resources %s could not be had, %s instead',
                    lease.id, reservation.id, sorted(lost), sorted(new))


def _refuse_held(parts, reservation):
    # No substitute is looked for: whoever has all of it is giving it back just now.
    held = [f'{each.name} by reservation {each.held_by}' for each in parts
            if each.held_by not in (None, reservation.id)]
    if held:
        raise errors.StillBusy(service='Climate', reason=f'still held are {", ".join(held)}.')


def reread(connection, lease):
    """The lease with its reservations as they are now; its claim stays."""
    current = leases.get(connection, lease.id)
    return dataclasses.replace(lease, reservations=current.reservations)
