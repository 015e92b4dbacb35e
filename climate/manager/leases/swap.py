# SPDX-License-Identifier: Apache-2.0
"""Swap a broken resource of a running lease for another one, on request of its owner.

One transaction changes the allocations, reports the old resource or puts it into quarantine, and
orders an event. The event then adds the new resource to the lease in the cloud, and releases the
old one.
"""
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import events
from climate.db import health as stored
from climate.db import journal
from climate.db import later_asks
from climate.db import leases
from climate.db import maintenances
from climate.db import reservations
from climate.db import resources
from climate.domain import lease_actions
from climate.domain import lease_events
from climate.domain import records
from climate.domain import sub_leases
from climate.domain import texts
from climate.domain import unused_hours
from climate.manager.booking import booking
from climate.manager.booking import limit_rations
from climate.manager.booking import wish_lists
from climate.manager.health import blocking
from climate.manager.health import quarantines
from climate.manager.leases import losses
from climate.manager.limits import checking
from climate.manager.limits import subjects
from climate.manager.notifications import outbox

LOG = log.getLogger(__name__)

# The history entry for a swap of a resource that Climate knows to be out of service or about to
# have maintenance, or for a swap by an administrator.
SWAPPED = 'swap'
# The history entry for a swap of a resource that only the owner reports. Their number is limited.
REPORTED = 'swap reported'


@dataclasses.dataclass(frozen=True)
class _PlannedSwap:
    """A planned swap.

    :ivar wishes: a Wish for each need that the resource serves.
    :ivar has_maintenance: True if the resource has maintenance before the lease ends.
    :ivar by_admin: True if an administrator swaps the resource, which needs no confirmation.
    """

    lease: records.Lease
    reservation: records.Reservation
    resource: records.Resource
    wishes: list
    has_maintenance: bool
    by_admin: bool = False

    @property
    def heading(self):
        """The heading of the swap in the history."""
        resource = self.resource
        # A resource that is lent to the lease is not reservable either, but may work well.
        is_out_of_use = not resource.reservable and resource.lent_to is None
        is_known = self.has_maintenance or not resource.is_well or is_out_of_use
        return SWAPPED if is_known or self.by_admin else REPORTED


class Swap:
    """The use case of POST /v1/leases/{id}/swap."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        self._losses = losses.LeaseLosses(core)

    def preview(self, context, lease_id, resource, reservation_id=None):
        """Return the Lease as after a swap, with its losses; write nothing.

        The parameters and the errors are those of `swap`. The limit of swaps is not checked.

        :raises CloudError: the cloud cannot list what the lease has on the resource.
        """
        now = self._core.clock()
        swap = self._planned(lease_id, resource, reservation_id, now)
        limits, avoided = self._limits_of(swap, now), self._avoided(swap)

        def planned(wishes, _):
            plan = self._booking.plan(wishes, _span(swap, now), now, avoided)
            limits.refuse_in_preview(self._subject(context, swap, plan, now))
            return plan
        chosen = self._within_limits(swap, limits, planned)
        before, new = swap.reservation, records.by_need(chosen, swap.reservation.id)
        after = dataclasses.replace(before, allocated={
            key: (*(each for each in ids if each != swap.resource.id), *new.get(key, ()))
            for key, ids in before.allocated.items()})
        target = dataclasses.replace(swap.lease, reservations=tuple(
            after if each.id == after.id else each for each in swap.lease.reservations))
        return dataclasses.replace(
            target, losses=self._losses.by_change(swap.lease, target, now))

    def swap(self, context, lease_id, resource, reservation_id=None, *, by_admin=False):
        """Swap a resource of a running lease for another one; return the Lease.

        :param resource: the name or id of the resource.
        :param reservation_id: the reservation that has the resource; None: the only such one.
        :param by_admin: whether the caller is an administrator.
        :raises LeaseNotFound: no lease has this id, or it was deleted.
        :raises LeaseEnded: the lease is past its end.
        :raises BadTransition: the lease does not run, or Climate is working on it.
        :raises BadField: the lease does not have the resource, or several reservations do.
        :raises TooManySwaps: the project has swapped too many resources that seem to work.
        :raises LimitExceeded: the other resource would exceed a limit of the project or the user.
        :raises NotEnough: no other resource is free; the lease stays as it is.
        """
        now = self._core.clock()
        swap = dataclasses.replace(self._planned(lease_id, resource, reservation_id, now),
                                   by_admin=by_admin)
        limits = self._limits_of(swap, now)

        def write(connection, chosen):
            limits.refuse_excess(connection, self._subject(context, swap, chosen, now))
            return self._write(connection, context, swap, chosen, now)
        avoided = self._avoided(swap)
        changed = self._within_limits(swap, limits, lambda wishes, _: self._booking.book(
            wishes, _span(swap, now), now, write, avoid=avoided, also=[swap.resource.id]))
        LOG.warning('Lease %s, reservation %s: its owner swaps %s %s (%s)', lease_id,
                    swap.reservation.id, swap.resource.pool, swap.resource.name,
                    swap.resource.health_reason or swap.resource.health_state)
        self._core.notify()
        return changed

    def _avoided(self, swap):
        """Return the ids of the resources that must not replace the one that is swapped."""
        with self._core.database.reader() as connection:
            return {swap.resource.id, *stored.not_well(connection)}

    def _planned(self, lease_id, name_or_id, reservation_id, now):
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
            lease_actions.refuse(lease, lease_actions.SWAP, now)
            leased = resources.enrolled(connection, {
                key for each in lease.open_reservations for key in each.resource_ids})
            sub_leases.refuse_open(lease, f'swap {name_or_id[:80]}', resource_ids=[
                each.id for each in leased if name_or_id in (each.name, str(each.id))])
            resource, reservation = _leased_resource(lease, leased, name_or_id, reservation_id)
            windows = maintenances.of_resources(connection, [resource.id])[resource.id]
        if reservation.leased_id is not None:
            raise errors.BadTransition(
                f'Reservation {reservation.id} leases the server {reservation.leased_id}, which '
                'is on that resource: ask your operator to migrate it.', lease_id=lease.id)
        wishes = [wish_lists.joining(self._core, reservation, wish)
                  for wish in wish_lists.replacements(self._core.registry, reservation,
                                                      {resource.id})]
        return _PlannedSwap(lease, reservation, resource, wishes,
                            any(each.start < lease.end for each in windows))

    def _limits_of(self, swap, now):
        return checking.applying(self._core, swap.lease.project_id, swap.lease.user_id, now)

    def _within_limits(self, swap, limits, book):
        """Return the result of ``limit_rations.attempt`` for a swap."""
        types = {swap.reservation.id: swap.reservation.resource_type}
        return limit_rations.attempt(self._core, limits, (swap.wishes, types), None, book)

    def _subject(self, context, swap, chosen, now):
        roles = frozenset(context.roles) if swap.lease.is_of(context) else None
        return subjects.of_swap(self._core, swap.lease, swap.reservation, swap.resource.id, chosen,
                                now, roles)

    def _write(self, connection, context, swap, chosen, now):
        lease, old = swap.lease, swap.resource
        current = leases.lock(connection, lease.id)
        if current.generation != lease.generation:
            raise errors.BadTransition(f'Lease {lease.id} was changed by another request at the '
                                       'same time: read it again.', lease_id=lease.id)
        if swap.heading == REPORTED:
            quarantines.refuse_too_many(connection, self._core.conf, lease, now)
        guarantees = allocations.take_guarantees(connection, swap.reservation.id, now, {old.id})
        allocations.cut(connection, [swap.reservation.id], now, {old.id})
        allocations.add(connection, unused_hours.with_guarantees(guarantees, chosen))
        reservations.change(connection, [swap.reservation.id], now, resources_changed=True)
        events.change(connection, lease.id, lease_events.updated(current, now), now)
        leases.change(connection, current, now)
        self._isolate(connection, context, swap, now)
        new = sorted({allocation.resource_id for allocation in chosen})
        later_asks.inherit(connection, lease.id, swap.reservation.id, old.id, chosen)
        journal.note(connection, lease.id, now, context.user_id or 'climate', swap.heading,
                     texts.same(f'resource {old.id} for {new}'))
        after = leases.get(connection, lease.id)
        outbox.publish(connection, after, now, 'update')
        return after

    def _isolate(self, connection, context, swap, now):
        """Keep the old resource from the lease; if the report is confirmed, from all leases."""
        old, conf = swap.resource, self._core.conf
        if swap.by_admin:
            confirmed = not (swap.has_maintenance and old.is_well)
        elif swap.heading == REPORTED:
            confirmed = quarantines.report(connection, conf, swap.lease, old, context.user_id, now)
        else:
            confirmed = quarantines.confirmed(old)
        if confirmed:
            quarantines.begin(connection, conf, old,
                              f'the owner of lease {swap.lease.id} swapped it', now)
        elif not old.is_well:
            # Block the time that this lease had, because the resource is out of service.
            blocking.fill(connection, conf, old.id, now)


def _span(swap, now):
    """Return the Interval for which the new resource is booked."""
    return dataclasses.replace(swap.lease.interval, start=max(swap.lease.start, now))


def _leased_resource(lease, leased, name_or_id, reservation_id):
    """Return (the Resource with a name or id, the Reservation that has it).

    :param leased: the Resources of the lease.
    :raises BadField: the lease does not have the resource, or several reservations do.
    """
    if reservation_id is not None and reservation_id not in {
            each.id for each in lease.open_reservations}:
        raise errors.BadField(field='reservation', reason=(
            f'the lease has no reservation "{reservation_id[:80]}"; it has '
            f'{", ".join(each.id for each in lease.open_reservations)}.'))
    pairs = [(resource, each) for each in lease.open_reservations for resource in leased
             if resource.id in each.resource_ids and name_or_id in (
                 resource.name, str(resource.id)) and reservation_id in (None, each.id)]
    if not pairs:
        ids = ', '.join(str(resource.id) for resource in leased) or 'none'
        raise errors.BadField(field='resource', reason=(
            f'the lease has no resource "{name_or_id[:80]}"; it has those with the ids {ids}.'))
    if len(pairs) > 1:
        raise errors.BadField(field='reservation', reason=(
            'several reservations of the lease have the resource, so name one of them: '
            f'{", ".join(each.id for _, each in pairs)}.'))
    return pairs[0]
