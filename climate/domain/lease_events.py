# SPDX-License-Identifier: Apache-2.0
"""Decide the events of a lease when it is created, acquired, changed or over.

The functions return changes of events, and ``db/events.py`` writes them.
"""
from collections.abc import Iterable
import dataclasses
import datetime
import zlib

from climate import errors
from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import interval
from climate.domain import lifecycle
from climate.domain import records

# If a lease starts within this time, no objects are created ahead of the start.
_TOO_SHORT = datetime.timedelta(seconds=10)
# The share of the time before a start in which objects are created ahead.
_EARLY_SHARE = 0.8

# The kind of an event, and its moment.
Planned = tuple[str, datetime.datetime]

#: The maximum number of unsent notifications that the owner of a lease requested.
MOST_NOTICES = 100
# The events that are useless if the lease ends at once.
_NOTICES = (event_kinds.BEFORE_END, event_kinds.NOTIFY, event_kinds.EXTEND)


@dataclasses.dataclass(frozen=True)
class EventChanges:
    """The changes of the events of a lease.

    :ivar add: new events.
    :ivar move: pairs of an Event and its new moment; a done event happens again.
    :ivar close: the kinds whose open events are closed.
    """

    add: tuple[Planned, ...] = ()
    move: tuple[tuple[records.Event, datetime.datetime], ...] = ()
    close: tuple[str, ...] = ()

    def moves_again(self, kind: str) -> bool:
        """Return whether a done event of this kind is moved, so that it happens again."""
        return any(event.kind == kind and event.status == lifecycle.EVENT_DONE
                   for event, _ in self.move)


@dataclasses.dataclass(frozen=True)
class Acquired:
    """A lease that has just acquired its resources.

    :ivar lease: the lease with its dates.
    :ivar add: the new events.
    :ivar late: the moments of notifications that are left out because they are before the start.
    """

    lease: records.Lease
    add: tuple[Planned, ...]
    late: tuple[datetime.datetime, ...]


@dataclasses.dataclass(frozen=True)
class Preparations:
    """The preparations of a lease before its start.

    :ivar prepares: whether the targets are prepared as soon as the lease has its resources.
    :ivar stages: how long before the start objects may be created ahead; None: no objects are.
    :ivar wakes: how long before the start the resources are woken; None: they never sleep.
    """

    prepares: bool = False
    stages: datetime.timedelta | None = None
    wakes: datetime.timedelta | None = None


def of_new(lease: records.Lease, notify_at: Iterable[datetime.datetime], preparations: Preparations,
           now: datetime.datetime) -> tuple[Planned, ...]:
    """Return the events of a lease that has its resources.

    :param notify_at: the moments of the notifications that the owner requests.
    """
    planned = [(event_kinds.START, lease.start), (event_kinds.END, lease.end)]
    if lease.before_end is not None:
        planned.append((event_kinds.BEFORE_END, lease.before_end))
    extended_at = _extended_at(lease)
    if extended_at is not None:
        planned.append((event_kinds.EXTEND, extended_at))
    planned += [(event_kinds.NOTIFY, at) for at in sorted(set(notify_at))]
    if preparations.prepares:
        planned.append((event_kinds.PREPARE, now))
    staged_at = _staged_at(lease, preparations.stages, now)
    if staged_at is not None:
        planned.append((event_kinds.STAGE, staged_at))
    woken_at = _woken_at(lease, preparations.wakes, now)
    if woken_at is not None:
        planned.append((event_kinds.WAKE, woken_at))
    return tuple(planned)


def _extended_at(lease: records.Lease) -> datetime.datetime | None:
    """Return when a lease is extended by a step: one step before its end; None: it is not."""
    if lease.while_free_seconds is None:
        return None
    return max(lease.start, lease.end - datetime.timedelta(seconds=lease.while_free_seconds))


def _woken_at(lease: records.Lease, ahead: datetime.timedelta | None,
              now: datetime.datetime) -> datetime.datetime | None:
    """Return when the resources of a lease are woken; None: its start wakes them."""
    if ahead is None or lease.start <= now:
        return None
    return max(now, lease.start - ahead)


def _staged_at(lease: records.Lease, longest: datetime.timedelta | None,
               now: datetime.datetime) -> datetime.datetime | None:
    """Return when objects for the start of a lease are created ahead; None: they are not.

    The moments for leases with the same start are spread over the time before it. The last fifth of
    that time is kept for retries.
    """
    if longest is None or lease.start - now < _TOO_SHORT:
        return None
    begin = max(now, lease.start - longest)
    share = zlib.crc32(lease.id.encode()) / 2 ** 32
    return begin + share * _EARLY_SHARE * (lease.start - begin)


def of_acquiring(now: datetime.datetime) -> tuple[Planned, ...]:
    """Return the events of a lease while it is being acquired."""
    return ((event_kinds.ACQUIRE, now),)


def of_acquired(lease: records.Lease, span: interval.Interval, preparations: Preparations,
                now: datetime.datetime) -> Acquired:
    """Return the lease that has acquired its resources for `span`, and its new events."""
    before_end = None
    if lease.before_end is not None:
        # The event keeps its distance from the end.
        before_end = span.end - (lease.end - lease.before_end)
    notify_at = lease.acquisition.notify_at if lease.acquisition is not None else ()
    late = tuple(sorted(at for at in (*notify_at, before_end)
                        if at is not None and at < span.start))
    lease = dataclasses.replace(lease, start=span.start, end=span.end,
                                before_end=None if before_end in late else before_end)
    return Acquired(lease, of_new(lease, [at for at in notify_at if at not in late],
                                  preparations, now), late)


def after_change(before: records.Lease, after: records.Lease,
                 notify_at: Iterable[datetime.datetime], requests_change: bool,
                 preparations: Preparations, now: datetime.datetime) -> EventChanges:
    """Return the changes of the events of a lease that its owner changes.

    :param before: the lease before the change, with its events.
    :param notify_at: the moments of additional notifications.
    :param requests_change: whether the request of a reservation changes.
    :param preparations: the preparations of the changed lease.
    """
    over = after.end <= now
    changes = [EventChanges(move=tuple(
        (event, at) for kind, was, at in ((event_kinds.START, before.start, after.start),
                                          (event_kinds.END, before.end, after.end))
        if at != was and (event := before.event(kind)) is not None))]
    if not over and after.before_end is not None and after.before_end != before.before_end:
        changes.append(_at(before.event(event_kinds.BEFORE_END), event_kinds.BEFORE_END,
                           after.before_end))
    changes.append(_extended(before, after))
    changes.append(notified(before, notify_at))
    if requests_change and before.state == lifecycle.ACTIVE:
        changes.append(updated(before, now))
    staged_at = _staged_at(after, preparations.stages, now)
    if before.state == lifecycle.PENDING and staged_at is not None:
        changes.append(_staged(before, staged_at, requests_change, after.start != before.start))
    woken_at = _woken_at(after, preparations.wakes, now)
    if before.state == lifecycle.PENDING and woken_at is not None and (
            requests_change or after.start != before.start):
        changes.append(woken(before.event(event_kinds.WAKE), woken_at))
    return EventChanges(tuple(planned for each in changes for planned in each.add),
                        tuple(moved for each in changes for moved in each.move),
                        tuple(kind for each in changes for kind in each.close)
                        + (_NOTICES if over else ()))


def _at(event: records.Event | None, kind: str, at: datetime.datetime) -> EventChanges:
    """Return the changes by which an event happens at a moment; None: add the event."""
    if event is None:
        return EventChanges(add=((kind, at),))
    return EventChanges(move=((event, at),))


def _extended(before: records.Lease, after: records.Lease) -> EventChanges:
    """Return the changes by which a changed lease is extended in steps, or not any more."""
    event, at = before.event(event_kinds.EXTEND), _extended_at(after)
    if at is None:
        return EventChanges(close=(event_kinds.EXTEND,) if event is not None else ())
    if before.while_free_seconds is not None and at == _extended_at(before):
        return EventChanges()
    return _at(event, event_kinds.EXTEND, at)


def _staged(lease: records.Lease, at: datetime.datetime, requests_change: bool,
            start_changes: bool) -> EventChanges:
    """Return the changes by which objects for the start of a changed lease are created ahead."""
    event = lease.event(event_kinds.STAGE)
    # An event in progress stays: a second one would undo its work. The start notices if the objects
    # do not fit the changed request.
    if event is None or (event.status != lifecycle.EVENT_IN_PROGRESS and (
            requests_change or (event.status != lifecycle.EVENT_DONE and start_changes))):
        return _at(event, event_kinds.STAGE, at)
    return EventChanges()


def notified(lease: records.Lease, notify_at: Iterable[datetime.datetime]) -> EventChanges:
    """Return the changes that send additional notifications, at most one at each moment.

    If the lease then has more than MOST_NOTICES events, events of sent notifications are reused,
    the oldest first.

    :raises BadField: the lease would have too many unsent notifications.
    """
    events = sorted((event for event in lease.events if event.kind == event_kinds.NOTIFY),
                    key=lambda event: event.at)
    sent = [event for event in events if event.status == lifecycle.EVENT_DONE]
    unsent = len(events) - len(sent)
    new = sorted(set(notify_at) - {event.at for event in events if event not in sent})
    if new and unsent + len(new) > MOST_NOTICES:
        raise errors.BadField(field='events', reason=(
            f'a lease has at most {MOST_NOTICES} notifications that are not sent yet. It has '
            f'{unsent}, and {len(new)} more are requested: leave some out, or add them later.'))
    reused = max(0, len(events) + len(new) - MOST_NOTICES)
    return EventChanges(add=tuple((event_kinds.NOTIFY, at) for at in new[reused:]),
                        move=tuple(zip(sent, new[:reused], strict=False)))


def updated(lease: records.Lease, now: datetime.datetime) -> EventChanges:
    """Return the changes by which a running lease is changed in the cloud now.

    A done event of an earlier change is reused, so that the number of events does not grow.
    """
    event = lease.event(event_kinds.UPDATE)
    if event is not None and event.status != lifecycle.EVENT_DONE:
        event = None
    return _at(event, event_kinds.UPDATE, now)


def woken(event: records.Event | None, at: datetime.datetime) -> EventChanges:
    """Return the changes by which the resources of a lease are woken at a moment.

    A done event happens again, because the resources may have fallen asleep after it. An event in
    progress stays.

    :param event: the event of the lease that wakes its resources; None: it has none.
    """
    if event is not None and (event.status == lifecycle.EVENT_IN_PROGRESS or (
            event.status == lifecycle.EVENT_UNDONE and event.at == at)):
        return EventChanges()
    return _at(event, event_kinds.WAKE, at)


def ordered(lease: records.Lease, kind: str, now: datetime.datetime) -> EventChanges:
    """Return the changes by which an event of a kind happens now.

    There are none if such an event is open or in progress. A failed event that waits for its next
    try happens now.
    """
    event = lease.event(kind)
    if event is None or event.status in (lifecycle.EVENT_DONE, lifecycle.EVENT_ERROR) or (
            due_events.awaits_retry(lease, event)):
        return _at(event, kind, now)
    return EventChanges()


def reclaimed(lease: records.Lease, at: datetime.datetime | None) -> EventChanges:
    """Return the changes by which a lease is reclaimed at a moment; None: never."""
    if at is None:
        return EventChanges(close=(event_kinds.RECLAIM,))
    return _at(lease.event(event_kinds.RECLAIM), event_kinds.RECLAIM, at)


def healed(lease: records.Lease, pause: datetime.timedelta | None,
           now: datetime.datetime) -> EventChanges:
    """Return the changes by which a failed start or change is tried again; none after the end.

    :param pause: the time until the next try; None: there is none.
    """
    if pause is None or lease.end <= now:
        return EventChanges()
    return _at(lease.event(event_kinds.HEAL), event_kinds.HEAL, now + pause)


def trust_dropped(lease: records.Lease, now: datetime.datetime) -> tuple[Planned, ...]:
    """Return the event that deletes the trust of an ended lease; empty if none is needed."""
    if lease.trust_id is None or lease.event(event_kinds.DROP_TRUST) is not None:
        return ()
    return ((event_kinds.DROP_TRUST, now),)


def ended_early(lease: records.Lease, now: datetime.datetime) -> EventChanges:
    """Return the changes by which a lease ends now, before its planned end.

    There are none if its end is due or in progress already.
    """
    if lease.state == lifecycle.ACQUIRING:
        return EventChanges(close=(event_kinds.ACQUIRE,))
    end = lease.event(event_kinds.END)
    if end is None or end.status != lifecycle.EVENT_UNDONE or end.at <= now:
        return EventChanges()
    return EventChanges(move=((end, now),))
