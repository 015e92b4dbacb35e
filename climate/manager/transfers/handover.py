# SPDX-License-Identifier: Apache-2.0
"""The writes by which a lease loses resources to the receiver of a transfer.

They run in the transaction that writes the lease of the receiver.
"""
import dataclasses

from oslo_utils import uuidutils

from climate.db import allocations
from climate.db import events
from climate.db import leases
from climate.db import reservations
from climate.db import series_occurrences
from climate.db import use_samples
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import shares
from climate.manager import preparations
from climate.manager.leases import lease_end
from climate.manager.notifications import outbox
from climate.manager.shares import withdrawals


def end_future(connection, lease, now):
    """Delete a locked lease that has not begun, without a charge for a late cancellation."""
    lease_end.release(connection, lease, now)
    lease_end.delete(connection, lease, now)


def end_running(connection, lease, now):
    """End a locked lease that runs, and leave its objects in the cloud to the receiver.

    The ids of its reservations become free for the reservations of the receiver, because the
    aggregates and the servers have these ids. The old lease keeps its past under new ids.
    """
    for share in lease.shares:
        if share.withdrawn_at is None:
            withdrawals.withdraw(connection, lease, share, now, shares.WITHDRAWN)
    lease_end.release(connection, lease, now)
    new_ids = {each.id: uuidutils.generate_uuid() for each in lease.open_reservations}
    reservations.rename(connection, new_ids)
    use_samples.rename(connection, new_ids)
    reservations.change(connection, list(new_ids.values()), now,
                        state=lifecycle.RESERVATION_DELETED, binding={})
    events.close(connection, lease.id, now, event_kinds.CLOSED_WHEN_OVER)
    leases.change(connection, lease, now, state=lifecycle.TERMINATED, end=now, ended_at=now,
                  idle_since=None, reclaim_at=None)
    after = leases.get(connection, lease.id)
    lease_end.order_trust_dropped(connection, after, now)
    outbox.publish(connection, after, now, f'event.{event_kinds.END}')


def shrink(core, connection, lease, part, now):
    """Take hosts off a locked lease that has not begun.

    :param part: the ``taking.Part`` that the receiver gets.
    """
    reservation = dataclasses.replace(part.reservation, request=part.stays)
    target = dataclasses.replace(lease, reservations=(reservation,))
    allocations.cut(connection, [reservation.id], now, part.resource_ids)
    reservations.change(connection, [reservation.id], now, request=part.stays)
    events.change(connection, lease.id, lease_events.after_change(
        lease, target, (), True, preparations.of(core, target.open_reservations), now), now)
    leases.change(connection, lease, now)
    if lease.series_id is not None:
        series_occurrences.mark_changed(connection, target)
    outbox.publish(connection, leases.get(connection, lease.id), now, 'update')
