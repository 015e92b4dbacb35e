# SPDX-License-Identifier: Apache-2.0
"""Write a planned change of a lease: its allocations, reservations, events and history."""
import collections

from climate import errors
from climate.db import allocations
from climate.db import events
from climate.db import journal
from climate.db import later_asks
from climate.db import leases
from climate.db import reservations
from climate.db import series_occurrences
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import short_notice
from climate.domain import sub_leases
from climate.domain import texts
from climate.domain import unused_hours
from climate.manager import preparations
from climate.manager.billing import late_cancels
from climate.manager.billing import lease_prices
from climate.manager.health import blocking
from climate.manager.leases import change_plan
from climate.manager.leases import sub_lease_end
from climate.manager.notifications import outbox
from climate.manager.queue import given_back
from climate.manager.queue import wakeups
from climate.manager.sub_leases import division


def write(core, connection, change, chosen):
    """Write a LeaseChange and return the changed Lease.

    :param chosen: the Allocations for the Wishes of the change.
    :raises BadTransition: another request changed the lease since it was read.
    """
    lease, target, now = change.lease, change.target, change.now
    current = leases.lock(connection, lease.id)
    if current.generation != lease.generation:
        raise errors.BadTransition(f'Lease {lease.id} was changed by another request at '
                                   'the same time: read it again.', lease_id=lease.id)
    division.lock_family(connection, current)
    if not change.running:
        # A pending lease releases its resources here; a running one releases them by an event,
        # which wakes the queue.
        wakeups.wake(connection, now)
    late_cancels.write_change(connection, change, chosen)
    had = allocations.of_reservations(connection, sorted(
        change.changed)) if change.changes.gives_back else ()
    _write_allocations(connection, change, current, chosen)
    kept = {(each.reservation_id, each.resource_id) for each in chosen}
    given_back.keep(connection, core.conf, [
        each for each in had if (each.reservation_id, each.resource_id) not in kept], now)
    _write_events(core, connection, current, change)
    asked = {'asked_at': now} if lease_prices.asks_again(lease, target, chosen) else {}
    leases.change(connection, current, now, name=target.name, start=target.start, end=target.end,
                  before_end=target.before_end, request_bytes=target.request_bytes,
                  trust_id=target.trust_id, extended_count=target.extended_count,
                  while_free_seconds=target.while_free_seconds, **asked,
                  **change_plan.exemption(current, change.changes))
    later_asks.add(connection, lease.id, _later_requests(connection, change, chosen))
    write_exemption(connection, change.context, current, change.changes, now)
    journal.note_limited(connection, lease.id, now, change.context.user_id or 'climate',
                         'extend' if change.in_steps else
                         'return' if change.changes.gives_back else 'update',
                         texts.same(str(target.interval)))
    if lease.series_id is not None and not (change.changes.of_series or change.in_steps):
        series_occurrences.mark_changed(connection, target)
    division.settle(connection, current, now)
    after = leases.get(connection, lease.id)
    outbox.publish(connection, after, now, 'update')
    return after


def _later_requests(connection, change, chosen):
    """Return the LaterRequests that a change adds to its lease."""
    if change.in_steps:
        known = later_asks.of_lease(connection, change.lease.id)
        return short_notice.of_step(known, change.lease.end, change.now)
    return short_notice.of_change(change.lease, change.target, chosen, change.now)


def write_exemption(connection, context, lease, changes, now):
    """Record whether a lease is exempt from idle checks; if so, cancel its reclaim event.

    :param lease: the Lease before the LeaseChanges `changes`.
    """
    if not change_plan.exemption(lease, changes):
        return
    if changes.idle_exempt:
        events.change(connection, lease.id, lease_events.reclaimed(lease, None), now)
    journal.note_limited(connection, lease.id, now, context.user_id or 'climate',
                         'exempt from idle' if changes.idle_exempt else 'not exempt from idle')


def _write_allocations(connection, change, current, chosen):
    """Write the allocations and the requests of a changed lease.

    :param current: the locked Lease before the change.
    """
    lease, target, now = change.lease, change.target, change.now
    if current.sub_leases and target.end > now:
        sub_leases.refuse_open(current, 'end then', after=target.end)
        blocking.clear(connection, {each.resource_id for each in chosen})
        division.move_end(connection, current, target, chosen, now)
        return
    sub_lease_end.end_in(connection, current, now)
    if lease.parent_id is not None and target.end > lease.end:
        division.extend(connection, current, target.end, now)
    for reservation in target.reservations:
        _write_reservation(connection, change, reservation, chosen)


def _write_reservation(connection, change, reservation, chosen):
    """Write one reservation of the changed lease, and its allocations.

    :param chosen: the Allocations for the Wishes of all reservations.
    """
    now = change.now
    if reservation.id in change.changed:
        [before] = [each for each in change.lease.reservations if each.id == reservation.id]
        binding = {} if reservation.binding == before.binding else {
            'binding': dict(reservation.binding)}
        reservations.change(connection, [reservation.id], now, request=dict(reservation.request),
                            secrets=reservation.secrets, **binding)
    own = [each for each in chosen if each.reservation_id == reservation.id]
    if reservation.id not in {wish.reservation_id for wish in change.wishes}:
        _write_times(connection, change, reservation)
    elif not change.running:
        allocations.replace(connection, [reservation.id], own)
    else:
        # The lease may keep sick resources, whose blocks would overlap its allocations.
        blocking.clear(connection, {each.resource_id for each in own})
        for need in sorted({*reservation.allocated, *(each.need for each in own)}):
            _rewrite(connection, change, reservation, need,
                     [each for each in own if each.need == need])


def _rewrite(connection, change, reservation, need, chosen):
    """Write the Allocations of a running reservation for one need.

    Allocations on the same resources only get the new end. The other old allocations are cut.
    """
    now, by_owner = change.now, change.by_owner
    before = collections.Counter(reservation.allocated.get(need, ()))
    kept = {each.resource_id for each in chosen if before[each.resource_id] == each.copies}
    lost = set(before) - kept
    guarantees = allocations.guarantees(connection, reservation.id, now, lost, need,
                                        by_owner=by_owner)
    allocations.cut(connection, [reservation.id], now, lost, need, by_owner)
    allocations.change(connection, [reservation.id], kept, need, by_owner, end=change.target.end)
    allocations.add(connection, unused_hours.with_guarantees(guarantees, [
        each for each in chosen if each.resource_id not in kept]))


def _write_times(connection, change, reservation):
    """Write the new start and end of the allocations of a reservation that is not booked again."""
    before, after = change.lease, change.target
    if after.end <= change.now:
        allocations.cut(connection, [reservation.id], change.now,
                        by_owner=change.by_owner and before.parent_id is None)
        return
    values = {name: getattr(after, name) for name in ('end', 'start')
              if getattr(after, name) != getattr(before, name)}
    if values:
        allocations.change(connection, [reservation.id], reservation.resource_ids,
                           by_owner=(change.by_owner and change.running
                                     and before.parent_id is None), **values)


def _write_events(core, connection, lease, change):
    """Write the changes of the lease's events.

    :param lease: the Lease as it is in this transaction.
    """
    target = change.target
    planned = lease_events.after_change(
        lease, target, change.changes.notify_at, bool(change.changed),
        preparations.of(core, target.open_reservations), change.now)
    events.change(connection, lease.id, planned, change.now)
    if planned.moves_again(event_kinds.BEFORE_END):
        outbox.publish(connection, target, change.now, 'event.before_end_lease.stop')
