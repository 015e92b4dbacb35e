# SPDX-License-Identifier: Apache-2.0
"""Write into the database what was taken back of an idle lease."""
import dataclasses

from climate.db import allocations
from climate.db import events
from climate.db import leases
from climate.db import reservations
from climate.domain import agenda
from climate.domain import interval
from climate.domain import lease_events
from climate.domain import lease_times
from climate.domain import records
from climate.manager.idle import rules
from climate.manager.notifications import outbox


class NotWanted(Exception):
    """The lease may not be taken back any more; nothing was written."""


def write(connection, core, lease_id, taking, now):
    """Write a Taking of a lease that the caller has locked under its claim.

    :raises NotWanted: the lease was exempted, is over, or is to be deleted, since it was read.
    """
    lease = leases.get(connection, lease_id)
    if (rules.is_exempt(core.conf, lease) or lease.reclaim_at is None or lease.end <= now
            or agenda.deletion_ordered(lease)):
        raise NotWanted()
    if taking.ends:
        _end(connection, lease, now)
    else:
        _shrink(connection, core.registry, lease, taking, now)
    outbox.publish(connection, leases.get(connection, lease_id), now, 'reclaim')


def _end(connection, lease, now):
    """Let a lease end now, as its owner can."""
    before_end = lease_times.before_end_of_changes(
        records.LeaseChanges(end_now=True), lease, interval.Interval(lease.start, now))
    wanted = dataclasses.replace(lease, end=now, before_end=before_end)
    events.change(connection, lease.id, lease_events.after_change(
        lease, wanted, (), False, lease_events.Preparations(), now), now)
    allocations.cut(connection, [each.id for each in lease.reservations], now)
    leases.change(connection, lease, now, end=now, before_end=before_end, reclaim_at=None)


def _shrink(connection, registry, lease, taking, now):
    for each in lease.reservations:
        ids = taking.resource_ids.get(each.id, ())
        if not ids:
            continue
        left = len(set(each.resource_ids)) - len(ids)
        allocations.cut(connection, [each.id], now, ids)
        reservations.change(connection, [each.id], now, request=registry.plugin(
            each.resource_type).lessened(each.request, left))
    leases.change(connection, lease, now, reclaim_at=None)
