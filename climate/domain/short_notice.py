# SPDX-License-Identifier: Apache-2.0
"""The notice of each part of a lease: the time from its request to its beginning.

The resources at the start of a lease are requested with the lease. Later its owner may request
further resources and more time.
"""
import collections
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import itertools

from climate.domain import lifecycle
from climate.domain import records

# The notice of time by which Climate extends a lease in steps: its owner pays no surcharge for it.
_LONG_BEFORE = datetime.timedelta(days=36500)


@dataclasses.dataclass(frozen=True)
class LaterRequest:
    """A part of a lease that its owner requested while the lease ran.

    Without `reservation_id`, the part is more time: all resources of the lease from `since` on.
    Otherwise the part is further copies on a resource: all but the first `above`, from `since` on.
    With `in_steps`, Climate added the time, in steps that the owner had chosen before.
    """

    asked_at: datetime.datetime
    since: datetime.datetime
    reservation_id: str | None = None
    resource_id: int | None = None
    above: int = 0
    in_steps: bool = False

    @property
    def is_more_time(self) -> bool:
        return self.reservation_id is None

    @property
    def notice(self) -> datetime.timedelta:
        return _LONG_BEFORE if self.in_steps else self.since - self.asked_at


@dataclasses.dataclass(frozen=True)
class NoticePart:
    """Copies of a resource, in a part of their time, that have the same notice.

    :ivar notice: None: the notice of the lease.
    """

    copies: int
    start: datetime.datetime
    end: datetime.datetime
    notice: datetime.timedelta | None = None


def of_change(before: records.Lease, after: records.Lease,
              allocations: Sequence[records.Allocation],
              now: datetime.datetime) -> tuple[LaterRequest, ...]:
    """Return the parts that the owner of a lease adds by a change; none before its start.

    :param allocations: the allocations that the changed reservations get.
    """
    if before.state == lifecycle.PENDING:
        return ()
    requests = [LaterRequest(now, before.end)] if after.end > before.end else []
    had = {reservation.id: reservation.resource_ids for reservation in before.reservations}
    for (reservation_id, resource_id), copies in _copies(allocations).items():
        above = had.get(reservation_id, ()).count(resource_id)
        if copies > above:
            requests.append(LaterRequest(now, now, reservation_id, resource_id, above))
    return tuple(requests)


def of_step(known: Sequence[LaterRequest], end: datetime.datetime,
            now: datetime.datetime) -> tuple[LaterRequest, ...]:
    """Return the part that a step adds to a lease; none if the last step began it.

    :param known: the LaterRequests of the lease, in the order in which they were made.
    :param end: the end of the lease before the step.
    """
    if known and known[-1].in_steps and known[-1].since <= end:
        return ()
    return (LaterRequest(now, end, in_steps=True),)


def with_added(known: Sequence[LaterRequest],
               added: Sequence[LaterRequest]) -> tuple[LaterRequest, ...]:
    """Return all LaterRequests, without those for time that was returned and requested again."""
    again = min((request.since for request in added if request.is_more_time), default=None)
    return (*(request for request in known
              if again is None or not request.is_more_time or request.since < again), *added)


def parts(later: Sequence[LaterRequest], whole: NoticePart, reservation_id: str,
          resource_id: int | None) -> Iterator[NoticePart]:
    """Yield the parts of an allocation with the same notice, sorted by copies and then by time.

    :param whole: all copies of the allocation.
    """
    more_copies = sorted((request for request in later if request.since <= whole.start and (
        request.reservation_id, request.resource_id) == (reservation_id, resource_id)),
        key=lambda request: (request.since, request.asked_at))
    longer = _longer(later)
    levels = sorted({0, *(request.above for request in more_copies if request.above < whole.copies),
                     whole.copies})
    for low, high in itertools.pairwise(levels):
        request = next((request for request in reversed(more_copies) if request.above <= low), None)
        yield from _in_time(longer, dataclasses.replace(whole, copies=high - low), request)


def _longer(later: Sequence[LaterRequest]) -> list[tuple[LaterRequest, datetime.timedelta]]:
    """Return pairs (LaterRequest, its notice) of the requests for more time, sorted by time.

    All parts of one change have the notice of the earliest part. Otherwise a lease that is enlarged
    and prolonged by one change would cost less than a new lease.
    """
    notices: dict[datetime.datetime, datetime.timedelta] = {}
    for request in later:
        notices[request.asked_at] = min(
            request.notice, notices.get(request.asked_at, request.notice))
    return [(request, notices[request.asked_at])
            for request in sorted(later, key=lambda request: request.since) if request.is_more_time]


def _in_time(longer: Sequence[tuple[LaterRequest, datetime.timedelta]], whole: NoticePart,
             request: LaterRequest | None) -> Iterator[NoticePart]:
    start, notice = whole.start, None if request is None else request.notice
    for more_time, notice_of_time in longer:
        # A request for copies that came after a request for time covers this time too.
        if more_time.since >= whole.end or (
                request is not None and more_time.asked_at <= request.asked_at):
            continue
        if more_time.since > start:
            yield dataclasses.replace(whole, start=start, end=more_time.since, notice=notice)
            start = more_time.since
        notice = notice_of_time
    yield dataclasses.replace(whole, start=start, notice=notice)


def _copies(allocations: Sequence[records.Allocation]) -> Mapping[tuple[str, int], int]:
    copies: collections.Counter[tuple[str, int]] = collections.Counter()
    for allocation in allocations:
        copies[allocation.reservation_id, allocation.resource_id] += allocation.copies
    return copies
