# SPDX-License-Identifier: Apache-2.0
"""Swap a broken resource of a running lease for another one, as its owner asks.

One transaction changes the allocations, orders the event that hands over the new resource and takes
back the old one, and stores the report, or the quarantine, of the old one. So a crash leaves all of
it or nothing.
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
from climate.domain import due_events
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import status_words
from climate.domain import texts
from climate.domain import unused_hours
from climate.manager.booking import booking
from climate.manager.booking import joining
from climate.manager.booking import substitutes
from climate.manager.health import blocking
from climate.manager.health import quarantines
from climate.manager.notifications import outbox

LOG = log.getLogger(__name__)

# The words in the history for a swap of what was known to be broken or about to have maintenance,
# and for one that only the owner wants. The latter are limited.
SWAPPED, REPORTED = 'swap', 'swap reported'


@dataclasses.dataclass(frozen=True)
class _Trade:
    """A planned swap.

    :ivar wishes: a Wish for each need that the resource serves.
    :ivar resting: whether the resource is about to have maintenance.
    :ivar by_admin: whether an administrator swaps it, whose word needs no confirmation.
    """

    lease: records.Lease
    reservation: records.Reservation
    resource: records.Resource
    wishes: list
    resting: bool
    by_admin: bool = False

    @property
    def what(self):
        known = self.resting or not self.resource.is_well or self._is_out_of_use
        return SWAPPED if known or self.by_admin else REPORTED

    @property
    def _is_out_of_use(self):
        # What is lent to the lease is not reservable for others, and may work well.
        return not self.resource.reservable and self.resource.lent_to is None


class Swap:
    """The use case of POST /v1/leases/{id}/swap."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)

    def swap(self, context, lease_id, resource, reservation_id=None, *, by_admin=False):
        """Swap a resource of a running lease for another one; return the Lease.

        :param resource: its name or id.
        :param reservation_id: the reservation that has it; None: the only one.
        :param by_admin: whether the caller is an administrator.
        :raises LeaseNotFound: no lease has that id, or it was deleted.
        :raises LeaseEnded: the lease is past its end.
        :raises BadTransition: the lease does not run, or Climate is working on it.
        :raises BadField: the lease does not have the resource, or several reservations do.
        :raises TooManySwaps: the project has swapped too many resources that seem to work.
        :raises NotEnough: no other resource is free; the lease stays as it is.
        """
        now = self._core.clock()
        trade = dataclasses.replace(self._trade(lease_id, resource, reservation_id, now),
                                    by_admin=by_admin)
        span = dataclasses.replace(trade.lease.interval, start=max(trade.lease.start, now))
        with self._core.database.reader() as connection:
            avoid = {trade.resource.id, *stored.not_well(connection)}
        changed = self._booking.book(
            trade.wishes, span, now,
            lambda connection, chosen: self._write(connection, context, trade, chosen, now),
            avoid=avoid, also=[trade.resource.id])
        LOG.warning('Lease %s, reservation %s: its owner swaps %s %s (%s)', lease_id,
                    trade.reservation.id, trade.resource.pool, trade.resource.name,
                    trade.resource.health_reason or trade.resource.health_state)
        self._core.notify()
        return changed

    def _trade(self, lease_id, called, reservation_id, now):
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
            _refuse_by_state(lease, now)
            mine = resources.enrolled(connection, {
                key for each in lease.open_reservations for key in each.resource_ids})
            resource, reservation = _only(lease, mine, called, reservation_id)
            windows = maintenances.of_resources(connection, [resource.id])[resource.id]
        if reservation.leased_id is not None:
            raise errors.BadTransition(
                f'Reservation {reservation.id} leases the server {reservation.leased_id}, which '
                'is on that resource: ask your operator to migrate it.', lease_id=lease.id)
        kept = set(reservation.resource_ids) - {resource.id}
        wishes = []
        for need in self._core.registry.needs_of(reservation):
            count = reservation.allocated.get(need.key, ()).count(resource.id)
            if count:
                wishes.append(joining.joining(self._core, reservation, substitutes.replacement(
                    reservation, need, (count, count), kept)))
        return _Trade(lease, reservation, resource, wishes,
                      any(each.start < lease.end for each in windows))

    def _write(self, connection, context, trade, chosen, now):
        lease, old = trade.lease, trade.resource
        current = leases.lock(connection, lease.id)
        if current.generation != lease.generation:
            raise errors.BadTransition(f'Lease {lease.id} was changed by another request at the '
                                       'same time: read it again.', lease_id=lease.id)
        if trade.what == REPORTED:
            quarantines.refuse_too_many(connection, self._core.conf, lease, now)
        promises = allocations.take_promises(connection, trade.reservation.id, now, {old.id})
        allocations.cut(connection, [trade.reservation.id], now, {old.id})
        self._booking.replace(connection, unused_hours.keeping(promises, chosen))
        reservations.change(connection, [trade.reservation.id], now, resources_changed=True)
        events.change(connection, lease.id, lease_events.updated(current, now), now)
        leases.change(connection, current, now)
        self._set_apart(connection, context, trade, now)
        new = sorted({given.resource_id for given in chosen})
        later_asks.inherit(connection, lease.id, trade.reservation.id, old.id, chosen)
        journal.note(connection, lease.id, now, context.user_id or 'climate', trade.what,
                     texts.same(f'resource {old.id} for {new}'))
        after = leases.get(connection, lease.id)
        outbox.publish(connection, after, now, 'update')
        return after

    def _set_apart(self, connection, context, trade, now):
        """Keep the old resource from the lease; from all others only if the report is confirmed."""
        old, conf = trade.resource, self._core.conf
        if trade.by_admin:
            confirmed = not (trade.resting and old.is_well)
        elif trade.what == REPORTED:
            confirmed = quarantines.report(connection, conf, trade.lease, old, context.user_id, now)
        else:
            confirmed = quarantines.confirmed(old)
        if confirmed:
            quarantines.begin(connection, conf, old,
                              f'the owner of lease {trade.lease.id} swapped it', now)
        elif not old.is_well:
            # Others may not have what the lease had of it.
            blocking.fill(connection, conf, old.id, now)


def _refuse_by_state(lease, now):
    if lease.deleted_at is not None:
        raise errors.LeaseNotFound(lease_id=lease.id)
    if lease.end <= now or lease.state in (lifecycle.TERMINATED, lifecycle.TIMEDOUT):
        raise errors.LeaseEnded(lease_id=lease.id)
    status = status_words.word_1_0(lease.state, lease.task)
    if lease.state == lifecycle.PENDING and lease.task is None:
        raise errors.BadTransition(
            f'Lease {lease.id} has not started: Climate itself gives it another resource for a '
            'broken one, before the start or at the start.', lease_id=lease.id, status=status)
    if (lease.state != lifecycle.ACTIVE or lease.task is not None
            or due_events.deletion_ordered(lease)):
        raise errors.BadTransition(lease_id=lease.id, task='get another resource', status=status)


def _only(lease, mine, called, reservation_id):
    """Return (the Resource of that name or id, the Reservation that has it).

    :param mine: the Resources of the lease.
    :raises BadField: it has none, or several have it.
    """
    if reservation_id is not None and reservation_id not in {
            each.id for each in lease.open_reservations}:
        raise errors.BadField(field='reservation', reason=(
            f'the lease has no reservation "{reservation_id[:80]}"; it has '
            f'{", ".join(each.id for each in lease.open_reservations)}.'))
    found = [(one, each) for each in lease.open_reservations for one in mine
             if one.id in each.resource_ids and called in (one.name, str(one.id))
             and reservation_id in (None, each.id)]
    if not found:
        has = ', '.join(str(one.id) for one in mine) or 'none'
        raise errors.BadField(field='resource', reason=(
            f'the lease has no resource "{called[:80]}"; it has those with the ids {has}.'))
    if len(found) > 1:
        raise errors.BadField(field='reservation', reason=(
            'say which of its reservations is meant: '
            f'{", ".join(each.id for _, each in found)}.'))
    return found[0]
