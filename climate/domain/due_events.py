# SPDX-License-Identifier: Apache-2.0
"""The events of a lease: their order, and whether they are due, moot, given up or retried.

An event is moot if it has nothing to do in the present state of its lease.
"""
from collections.abc import Iterable
from collections.abc import Sequence
import datetime

from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records


def in_order(due: Iterable[records.Event]) -> list[records.Event]:
    """Sort events by moment, then by kind (ends before starts), then by lease and id."""
    return sorted(due, key=lambda event: (
        event.at, event_kinds.RANK[event.kind], event.lease_id, event.id))


def next_of_each_lease(due: Sequence[records.Event]) -> list[records.Event]:
    """Return the first event of each lease, in order."""
    seen = set()
    firsts = []
    for event in in_order(due):
        if event.lease_id not in seen:
            seen.add(event.lease_id)
            firsts.append(event)
    return firsts


def ended_before_start(lease: records.Lease, now: datetime.datetime) -> bool:
    """Return whether a lease has reached its end and was not started."""
    return lease.state == lifecycle.PENDING and lease.end <= now


def still_due(lease: records.Lease, event: records.Event,
              now: datetime.datetime) -> records.Event | None:
    """Return the event as it is in the locked lease, or None if it is not due any more.

    Since the event was read, it may have moved, or another event of the lease may have begun.
    """
    if any(other.status == lifecycle.EVENT_IN_PROGRESS and other.claimed_until is not None
           and other.claimed_until > now for other in lease.events):
        return None
    return next((current for current in lease.events
                 if current.id == event.id and current.claim_no == event.claim_no
                 and current.status == event.status and current.due_at <= now), None)


def never_tried(lease: records.Lease) -> bool:
    """Return whether nothing was ever tried in the cloud for a lease.

    An event that was claimed counts as tried, because a crash may have interrupted it.
    """
    return lease.state in (lifecycle.PENDING, lifecycle.ACQUIRING) and all(
        event.claim_no == 0 for event in lease.events
        if event_kinds.of(event.kind).creates_first)


def deletion_ordered(lease: records.Lease) -> bool:
    """Return whether the deletion of a lease was ordered or is done."""
    ordered = lease.event(event_kinds.DELETE)
    return lease.deleted_at is not None or (
        ordered is not None and ordered.status != lifecycle.EVENT_DONE)


def is_being_deleted(lease: records.Lease) -> bool:
    """Return whether the deletion of a lease was ordered, is not done and was not given up."""
    ordered = lease.event(event_kinds.DELETE)
    return ordered is not None and _is_ahead(ordered) and not awaits_retry(lease, ordered)


def awaits_retry(lease: records.Lease, event: records.Event) -> bool:
    """Return whether an event failed and will be tried again, and its lease is in error."""
    return (lease.state == lifecycle.ERROR and lease.task is None and event.attempts > 0
            and event.status == lifecycle.EVENT_UNDONE)


def acquisition_given_up(lease: records.Lease) -> bool:
    """Return whether the acquisition of a lease was given up.

    A lease whose deletion was ordered does not count, because host clearing for it may go on.
    """
    return (never_acquired(lease) and lease.event(event_kinds.DELETE) is None
            and lease.state in (lifecycle.ERROR, lifecycle.TIMEDOUT))


def has_no_objects(lease: records.Lease) -> bool:
    """Return whether no objects of a lease were created in the cloud, or all were removed."""
    return lease.task is None and (
        lease.state in lifecycle.OVER or not lease.reservations
        or acquisition_given_up(lease) or never_tried(lease))


def never_acquired(lease: records.Lease) -> bool:
    """Return whether the acquisition of a lease goes on, or was given up."""
    return lease.acquisition is not None and lease.event(event_kinds.START) is None


def has_retry(lease: records.Lease) -> bool:
    """Return whether a lease has an event, open or done, that retries a failed start or change."""
    return lease.event(event_kinds.HEAL) is not None


def change_given_up(lease: records.Lease) -> bool:
    """Return whether the last try of a change of a running lease failed."""
    update = lease.event(event_kinds.UPDATE)
    return update is not None and update.status == lifecycle.EVENT_ERROR


def failed_event(lease: records.Lease) -> records.Event | None:
    """Return the failed event that is tried again: a change, or else the start."""
    return lease.event(event_kinds.UPDATE if change_given_up(lease) else event_kinds.START)


def will_be_retried(lease: records.Lease) -> bool:
    """Return whether a failed start or change of a lease will be tried again."""
    return _is_ahead(lease.event(event_kinds.HEAL))


def _is_ahead(event: records.Event | None) -> bool:
    """Return whether an event exists and is neither done nor given up."""
    return event is not None and event.status in (
        lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS)


def is_moot(lease: records.Lease, event: records.Event) -> bool:
    """Return whether an event has nothing to do in the present state of its lease."""
    kind = event_kinds.of(event.kind)
    if kind.only_notifies and event.at > min(lease.end, lease.ended_at or lease.end):
        # The lease was shortened after its owner chose the moment of the notification.
        return True
    if kind.until is event_kinds.Until.OVER and deletion_ordered(lease):
        return True
    if kind.until is not event_kinds.Until.ALWAYS and lease.deleted_at is not None:
        return True
    if lease.task is not None and lease.task == kind.moot_during:
        return True
    return lease.state not in kind.states
