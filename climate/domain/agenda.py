# SPDX-License-Identifier: Apache-2.0
"""Which events a lease needs, in which order those that are due come, and which are moot."""
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import datetime

from climate.domain import lifecycle
from climate.domain import pauses
from climate.domain import records

START = 'start_lease'
BEFORE_END = 'before_end_lease'
END = 'end_lease'
NOTIFY = 'notify'
PREPARE = 'prepare_lease'
CHECK = 'check_lease'
UPDATE = 'update_lease'
DELETE = 'delete_lease'
DROP_TRUST = 'drop_trust'
GIVE_BACK = 'give_back'
ACQUIRE = 'acquire_lease'
HEAL = 'heal_lease'

# What users see of the agenda; the others are Climate's own errands.
SHOWN = (START, BEFORE_END, END, NOTIFY)
# Of those errands, the ones that the history of a lease is silent about: they say nothing of it.
UNTOLD = (DROP_TRUST, CHECK)

# The task that an event does to its lease; an event without one changes nothing of the lease.
TASK_OF = {START: 'start', HEAL: 'start', UPDATE: 'update', END: 'end', DELETE: 'delete'}

# At one moment whatever gives back comes before whatever takes, and a lease of an hour starts
# before it is told that its end is near.
RANK = {DELETE: 0, END: 1, CHECK: 2, UPDATE: 3, PREPARE: 4, START: 5, HEAL: 6, ACQUIRE: 7,
        BEFORE_END: 8, NOTIFY: 9, DROP_TRUST: 10, GIVE_BACK: 11}
# Before these nothing of a lease is in the cloud.
_FIRST_STEPS = (ACQUIRE, PREPARE, START)
# These are not begun any more on a lease that is to be deleted.
_NOT_BESIDE_DELETION = (ACQUIRE, PREPARE, START, HEAL, UPDATE, CHECK, BEFORE_END)


@dataclasses.dataclass(frozen=True)
class Pause:
    """How long to wait after a failure: `first` seconds, doubled each time up to `longest`."""

    first_seconds: float
    longest_seconds: float
    attempts: int

    def after(self, attempts: int) -> datetime.timedelta | None:
        """The pause after so many failed attempts; None when it is time to give up."""
        if attempts > self.attempts:
            return None
        return datetime.timedelta(seconds=pauses.doubled(
            self.first_seconds, self.longest_seconds, attempts))


def before_end_of(start: datetime.datetime, end: datetime.datetime,
                  minutes: int) -> datetime.datetime | None:
    """When a lease is told that its end is near: `minutes` before, never before it starts.

    None when `minutes` is 0: nobody is told.
    """
    if minutes == 0:
        return None
    return max(start, end - datetime.timedelta(minutes=minutes))


def moments_of(lease: records.Lease) -> list[tuple[str, datetime.datetime]]:
    """The (kind, moment) pairs of the events that every lease has."""
    moments = [(START, lease.start), (END, lease.end)]
    if lease.before_end is not None:
        moments.append((BEFORE_END, lease.before_end))
    return moments


def in_order(due: Iterable[records.Event]) -> list[records.Event]:
    """The events by their moment; at one moment ends before starts; a tie goes by lease and id."""
    return sorted(due, key=lambda event: (event.at, RANK[event.kind], event.lease_id, event.id))


def next_of_each_lease(due: Sequence[records.Event]) -> list[records.Event]:
    """In order, the first event of each lease."""
    seen = set()
    firsts = []
    for event in in_order(due):
        if event.lease_id not in seen:
            seen.add(event.lease_id)
            firsts.append(event)
    return firsts


def passed_by(lease: records.Lease, now: datetime.datetime) -> bool:
    """True for a lease whose whole span went by before anybody could start it."""
    return lease.state == lifecycle.PENDING and lease.end <= now


def still_due(lease: records.Lease, event: records.Event,
              now: datetime.datetime) -> records.Event | None:
    """The event as it is in the locked lease, or None where it is not to be carried out now.

    Since it was read as due it may have moved, and another event of the lease may have begun.
    """
    if any(each.status == lifecycle.EVENT_IN_PROGRESS and each.claimed_until is not None
           and each.claimed_until > now for each in lease.events):
        return None
    return next((each for each in lease.events
                 if each.id == event.id and each.claim_no == event.claim_no
                 and each.status == event.status and each.due_at <= now), None)


def untouched(lease: records.Lease) -> bool:
    """True for a lease of which nothing was ever tried in the cloud.

    Something that was claimed may have been cut short by a crash.
    """
    return lease.state in (lifecycle.PENDING, lifecycle.ACQUIRING) and all(
        event.claim_no == 0 for event in lease.events if event.kind in _FIRST_STEPS)


def deletion_ordered(lease: records.Lease) -> bool:
    """True for a lease that is to be deleted, or is gone."""
    ordered = lease.event(DELETE)
    return lease.deleted_at is not None or (
        ordered is not None and ordered.status != lifecycle.EVENT_DONE)


def given_up(lease: records.Lease) -> bool:
    """True for a lease whose resources were looked for in vain; it has nothing.

    One that was deleted meanwhile may still have hosts that are being cleared.
    """
    return (never_acquired(lease) and lease.event(DELETE) is None
            and lease.state in (lifecycle.ERROR, lifecycle.TIMEDOUT))


def never_acquired(lease: records.Lease) -> bool:
    """True for a lease whose resources are looked for, or were in vain."""
    return lease.acquisition is not None and lease.event(START) is None


def is_moot(lease: records.Lease, event: records.Event) -> bool:
    """True where the lease is past what the event would do."""
    task = TASK_OF.get(event.kind)
    if event.kind in _NOT_BESIDE_DELETION and deletion_ordered(lease):
        return True
    if event.kind in (BEFORE_END, NOTIFY):
        return lease.deleted_at is not None
    if event.kind == PREPARE and (lease.state != lifecycle.PENDING
                                  or lease.task == TASK_OF[START]):
        # While it starts, what sleeps is being woken.
        return True
    if event.kind == CHECK and lease.state == lifecycle.TERMINATED:
        return True
    if event.kind == ACQUIRE:
        return lease.state != lifecycle.ACQUIRING or lease.deleted_at is not None
    if event.kind == START and lease.state == lifecycle.ERROR:
        # It was given up; from then on another event tries it again.
        return True
    return task is not None and (lease.deleted_at is not None or (
        lease.state not in lifecycle.TASKS[task].begins_in))
