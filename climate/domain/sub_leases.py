# SPDX-License-Identifier: Apache-2.0
"""Sub-leases: leases that have a part of the hosts of another lease, inside its time.

A sub-lease takes its time from the allocations of its parent. So each host has one allocation at
every moment, and the rule against double booking needs no special case.
"""
from collections.abc import Collection
from collections.abc import Iterable
import dataclasses
import datetime
from typing import Any

from climate import errors

Moment = datetime.datetime
#: A span of time that may be empty: (start, end).
Span = tuple[Moment, Moment]

#: The key in the binding of a sub-lease's reservation for the reservation of its parent that has
#: the same hosts. Responses leave this key out.
PARENT = 'parent_reservation'

#: A new sub-lease: the heading in the history, and the event type after "lease.".
SUB_LEASED = 'sub_leased'


@dataclasses.dataclass(frozen=True)
class SubLease:
    """A sub-lease that is not over, in its parent.

    :ivar resource_ids: the hosts that it has.
    """

    id: str
    name: str
    project_id: str
    start: Moment
    end: Moment
    state: str
    reservation_id: str
    resource_ids: tuple[int, ...] = ()
    project_name: str | None = None


@dataclasses.dataclass(frozen=True)
class Parent:
    """The lease of whose hosts a sub-lease has a part.

    :ivar reservation_ids: the ids of all its reservations.
    """

    id: str
    name: str
    project_id: str
    start: Moment
    end: Moment
    reservation_ids: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Return the ids by which a scheduler hint can name the parent."""
        return frozenset((self.id, *self.reservation_ids))


@dataclasses.dataclass(frozen=True)
class SubLeaseRequest:
    """A request for a sub-lease.

    :ivar project: the id or the name of the receiving project.
    :ivar count: the number of hosts; None: `resources` names them.
    :ivar start: None: the start of the parent, or now if it has started.
    :ivar end: None: the end of the parent.
    """

    project: str
    name: str
    count: int | None = None
    resources: tuple[str, ...] = ()
    start: Moment | None = None
    end: Moment | None = None
    dry_run: bool = False


@dataclasses.dataclass(frozen=True)
class FreeHost:
    """A host of a lease that is free for a sub-lease.

    :ivar in_use: whether the project of the lease has servers on it now; None: not known.
    """

    resource_id: int
    name: str
    reservation_id: str
    in_use: bool | None = None


def rests(whole: Span, taken: Iterable[Span]) -> list[Span]:
    """Return the parts of a span that remains outside the spans `taken`, in order.

    If its beginning is taken, an empty span remains there. So its owner keeps an allocation that
    has begun, which shows at its end that the resource must be released.
    """
    start, end = whole
    found, at = [], start
    for begun, ended in sorted(taken):
        if begun > at:
            found.append((at, min(begun, end)))
        at = max(at, ended)
        if at >= end:
            break
    if at < end:
        found.append((at, end))
    return found if found and found[0][0] == start else [(start, start), *found]


def covers(spans: Iterable[Span], wanted: Span) -> bool:
    """Return whether one of the spans contains `wanted` completely."""
    return any(start <= wanted[0] and wanted[1] <= end for start, end in spans)


def span_of(request: SubLeaseRequest, parent: Any, now: Moment) -> Span:
    """Return the (start, end) of a requested sub-lease.

    :raises BadField: the span is not inside the time that the parent still has.
    """
    start = max(parent.start, now) if request.start is None else request.start
    end = parent.end if request.end is None else request.end
    if start < now:
        raise errors.BadField(field='start', reason=(
            'the moment has passed: give a future one, or leave it out to start at once.'))
    if end <= start:
        raise errors.BadField(field='end', reason='it must be later than the start.')
    for field, moment in (('start', start), ('end', end)):
        if not parent.start <= moment <= parent.end:
            raise errors.BadField(field=field, reason=(
                f'{moment:%Y-%m-%d %H:%M} UTC is outside the lease, which lasts from '
                f'{parent.start:%Y-%m-%d %H:%M} to {parent.end:%Y-%m-%d %H:%M} UTC.'))
    return start, end


def named(sub_leases: Collection[SubLease]) -> str:
    """Return sub-leases in words, for messages."""
    return ', '.join(f'"{each.name}" ({each.id}) of project {each.project_id} until '
                     f'{each.end:%Y-%m-%d %H:%M} UTC' for each in sub_leases)


def refuse_open(lease: Any, what: str, *, after: Moment | None = None,
                resource_ids: Collection[int] | None = None) -> None:
    """Refuse a change of a lease that would take hosts or time from its sub-leases.

    :param what: what the lease cannot do, such as "be changed so".
    :param after: only sub-leases that last longer count; None: all.
    :param resource_ids: only sub-leases that have one of these hosts count; None: all.
    :raises SubLeasesOpen: the error names the sub-leases.
    """
    in_way = [each for each in lease.sub_leases if (after is None or each.end > after) and (
        resource_ids is None or not set(resource_ids).isdisjoint(each.resource_ids))]
    if in_way:
        raise errors.SubLeasesOpen(lease_id=lease.id, task=what, sub_leases=named(in_way),
                                   ids=[each.id for each in in_way])
