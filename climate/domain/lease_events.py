# SPDX-License-Identifier: Apache-2.0
"""Decide the events of a lease when it is created, acquired, changed or over.

``db/events.py`` writes them.
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

# A lease that starts sooner than this is not staged.
_TOO_SHORT = datetime.timedelta(seconds=10)
# The share of the time before a start in which it is staged.
_EARLY_SHARE = 0.8

# The kind of an event, and the moment at which it is to happen.
Planned = tuple[str, datetime.datetime]

#: The maximum number of notifications that a lease's owner asked for and that are not sent yet.
MOST_NOTICES = 100
# The events that only notify before a lease ends.
_NOTICES = (event_kinds.BEFORE_END, event_kinds.NOTIFY)


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
        """Return whether an event of that kind that is done already is moved."""
        return any(event.kind == kind and event.status == lifecycle.EVENT_DONE
                   for event, _ in self.move)


@dataclasses.dataclass(frozen=True)
class Acquired:
    """A lease that has just acquired its resources.

    :ivar lease: the lease with its dates.
    :ivar add: its events.
    :ivar late: the moments of notices that are left out, because they are before the start.
    """

    lease: records.Lease
    add: tuple[Planned, ...]
    late: tuple[datetime.datetime, ...]


@dataclasses.dataclass(frozen=True)
class Preparations:
    """The preparations of a lease before its start.

    :ivar prepares: whether its targets are prepared, at once.
    :ivar stages: the longest time before the start at which objects for it are created; None: none
        are.
    :ivar wakes: how long before the start its resources are woken; None: they never sleep.
    """

    prepares: bool = False
    stages: datetime.timedelta | None = None
    wakes: datetime.timedelta | None = None


def of_new(lease: records.Lease, notify_at: Iterable[datetime.datetime], preparations: Preparations,
           now: datetime.datetime) -> tuple[Planned, ...]:
    """Return the events of a lease that gets its resources in its request.

    :param notify_at: the moments of the notifications that the owner asks for.
    """
    planned = [(event_kinds.START, lease.start), (event_kinds.END, lease.end)]
    if lease.before_end is not None:
        planned.append((event_kinds.BEFORE_END, lease.before_end))
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


def _woken_at(lease: records.Lease, ahead: datetime.timedelta | None,
              now: datetime.datetime) -> datetime.datetime | None:
    """Return when the resources of a lease are woken; None: the start does it if they sleep."""
    if ahead is None or lease.start <= now:
        return None
    return max(now, lease.start - ahead)


def _staged_at(lease: records.Lease, longest: datetime.timedelta | None,
               now: datetime.datetime) -> datetime.datetime | None:
    """Return when the objects for the start of a lease are created; None: at the start itself.

    Leases that start at the same moment are spread over the time before it. The last fifth of that
    time is left to failed tries.
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
    near = None
    if lease.before_end is not None:
        # It keeps its distance from the end.
        near = span.end - (lease.end - lease.before_end)
    wanted = lease.acquisition.notify_at if lease.acquisition is not None else ()
    late = tuple(sorted(at for at in (*wanted, near) if at is not None and at < span.start))
    lease = dataclasses.replace(lease, start=span.start, end=span.end,
                                before_end=None if near in late else near)
    notify_at = [at for at in wanted if at not in late]
    return Acquired(lease, of_new(lease, notify_at, preparations, now), late)


def after_change(before: records.Lease, after: records.Lease,
                 notify_at: Iterable[datetime.datetime], requests_change: bool,
                 preparations: Preparations, now: datetime.datetime) -> EventChanges:
    """Return the changes of the events of a lease that its owner changes.

    :param before: the lease before the change, with its events.
    :param notify_at: the moments of additional notifications.
    :param requests_change: whether the request of a reservation changes.
    :param preparations: those of the lease as it is after the change.
    """
    add: list[Planned] = []
    move: list[tuple[records.Event, datetime.datetime]] = []
    for kind, was, at in ((event_kinds.START, before.start, after.start),
                          (event_kinds.END, before.end, after.end)):
        event = before.event(kind)
        if at != was and event is not None:
            move.append((event, at))
    over = after.end <= now
    if not over and after.before_end is not None and after.before_end != before.before_end:
        near = before.event(event_kinds.BEFORE_END)
        if near is None:
            add.append((event_kinds.BEFORE_END, after.before_end))
        else:
            move.append((near, after.before_end))
    for changes in (notified(before, notify_at),
                    updated(before, now) if requests_change and before.state == lifecycle.ACTIVE
                    else EventChanges()):
        add += changes.add
        move += changes.move
    staged = before.event(event_kinds.STAGE)
    staged_at = _staged_at(after, preparations.stages, now)
    if before.state == lifecycle.PENDING and staged_at is not None:
        if staged is None:
            add.append((event_kinds.STAGE, staged_at))
        elif staged.status == lifecycle.EVENT_IN_PROGRESS:
            # A second one would undo what it creates. The start notices that it does not fit.
            pass
        elif requests_change or (staged.status != lifecycle.EVENT_DONE
                                 and after.start != before.start):
            move.append((staged, staged_at))
    woken_at = _woken_at(after, preparations.wakes, now)
    if before.state == lifecycle.PENDING and woken_at is not None and (
            requests_change or after.start != before.start):
        changed = woken(before.event(event_kinds.WAKE), woken_at)
        add += changed.add
        move += changed.move
    return EventChanges(tuple(add), tuple(move), _NOTICES if over else ())


def notified(lease: records.Lease, notify_at: Iterable[datetime.datetime]) -> EventChanges:
    """Return the changes that send additional notifications, at most one at each moment.

    Beyond the maximum they replace the oldest ones that were sent.

    :raises BadField: the lease would have too many that are not sent yet.
    """
    known = sorted((event for event in lease.events if event.kind == event_kinds.NOTIFY),
                   key=lambda event: event.at)
    sent = [event for event in known if event.status == lifecycle.EVENT_DONE]
    waiting = {event.at for event in known if event not in sent}
    new = sorted(set(notify_at) - waiting)
    left = len(known) - len(sent)
    if new and left + len(new) > MOST_NOTICES:
        raise errors.BadField(field='events', reason=(
            f'a lease has at most {MOST_NOTICES} that are not sent yet. It has {left}, and '
            f'{len(new)} more are asked for: leave some out, or add them later.'))
    again = max(0, len(known) + len(new) - MOST_NOTICES)
    return EventChanges(add=tuple((event_kinds.NOTIFY, at) for at in new[again:]),
                        move=tuple(zip(sent, new[:again], strict=False)))


def updated(lease: records.Lease, now: datetime.datetime) -> EventChanges:
    """Return the changes by which a running lease is changed in the cloud now.

    The event of an earlier change that is done happens again, so that a lease that is changed very
    often has one.
    """
    known = lease.event(event_kinds.UPDATE)
    if known is not None and known.status == lifecycle.EVENT_DONE:
        return EventChanges(move=((known, now),))
    return EventChanges(add=((event_kinds.UPDATE, now),))


def woken(known: records.Event | None, at: datetime.datetime) -> EventChanges:
    """Return the changes by which the resources of a lease are woken at a moment.

    An event that is done happens again, because they may have fallen asleep after it. One that is
    in progress stays.

    :param known: the lease's event that wakes them; None: it has none.
    """
    if known is None:
        return EventChanges(add=((event_kinds.WAKE, at),))
    if known.status == lifecycle.EVENT_IN_PROGRESS or (
            known.status == lifecycle.EVENT_UNDONE and known.at == at):
        return EventChanges()
    return EventChanges(move=((known, at),))


def ordered(lease: records.Lease, kind: str, now: datetime.datetime) -> EventChanges:
    """Return the changes by which an event happens now, unless one is open or in progress.

    An event that was given up, and would be tried again later, happens now.
    """
    known = lease.event(kind)
    if known is None:
        return EventChanges(add=((kind, now),))
    if known.status in (lifecycle.EVENT_DONE, lifecycle.EVENT_ERROR) or (
            due_events.is_given_up(lease, known)):
        return EventChanges(move=((known, now),))
    return EventChanges()


def reclaimed(lease: records.Lease, at: datetime.datetime | None) -> EventChanges:
    """Return the changes by which a lease is reclaimed at a moment; None: never."""
    known = lease.event(event_kinds.RECLAIM)
    if at is None:
        return EventChanges(close=(event_kinds.RECLAIM,))
    if known is None:
        return EventChanges(add=((event_kinds.RECLAIM, at),))
    return EventChanges(move=((known, at),))


def healed(lease: records.Lease, pause: datetime.timedelta | None,
           now: datetime.datetime) -> EventChanges:
    """Return the changes by which a start or change that was given up is tried again.

    There are none for a lease that is past its end.

    :param pause: the time until the next try; None: it is not tried again.
    """
    if pause is None or lease.end <= now:
        return EventChanges()
    known = lease.event(event_kinds.HEAL)
    if known is not None:
        return EventChanges(move=((known, now + pause),))
    return EventChanges(add=((event_kinds.HEAL, now + pause),))


def trust_dropped(lease: records.Lease, now: datetime.datetime) -> tuple[Planned, ...]:
    """Return the event that drops the trust of an ended lease; empty if there is nothing to do."""
    if lease.trust_id is None or lease.event(event_kinds.DROP_TRUST) is not None:
        return ()
    return ((event_kinds.DROP_TRUST, now),)


def ended_early(lease: records.Lease, now: datetime.datetime) -> EventChanges:
    """Return the changes of the events of a lease that ends now, because no reservation is left.

    There are none if it ends at this moment anyway, or is being ended.
    """
    if lease.state == lifecycle.ACQUIRING:
        return EventChanges(close=(event_kinds.ACQUIRE,))
    end = lease.event(event_kinds.END)
    if end is None or end.status != lifecycle.EVENT_UNDONE or end.at <= now:
        return EventChanges()
    return EventChanges(move=((end, now),))
