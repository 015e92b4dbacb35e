# SPDX-License-Identifier: Apache-2.0
"""The notice that the owner of a lease gave for each part of it.

The resources that a lease has at its start are requested before it. Further resources, and more
time, are requested at the moment at which the owner adds them.
"""
from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import datetime
import itertools

from climate.domain import lifecycle
from climate.domain import records


@dataclasses.dataclass(frozen=True)
class LaterAsk:
    """A part of a lease that its owner requested while it ran.

    More time has no `reservation_id`: all that the lease has from `since` on. Further resources
    have one: the copies of the resource above the first `above`, from `since` on.
    """

    asked_at: datetime.datetime
    since: datetime.datetime
    reservation_id: str | None = None
    resource_id: int | None = None
    above: int = 0

    @property
    def is_more_time(self) -> bool:
        return self.reservation_id is None

    @property
    def notice(self) -> datetime.timedelta:
        return self.since - self.asked_at


@dataclasses.dataclass(frozen=True)
class NoticePart:
    """Some copies of a resource in a part of their time, with the same notice.

    :ivar notice: None: that of the lease.
    """

    copies: int
    start: datetime.datetime
    end: datetime.datetime
    notice: datetime.timedelta | None = None


def of_change(before: records.Lease, after: records.Lease,
              allocations: Sequence[records.Allocation],
              now: datetime.datetime) -> tuple[LaterAsk, ...]:
    """Return the parts that the owner of a lease requests by a change; none before its start.

    :param allocations: the allocations that the changed reservations get.
    """
    if before.state == lifecycle.PENDING:
        return ()
    asks = [LaterAsk(now, before.end)] if after.end > before.end else []
    had = {each.id: each.resource_ids for each in before.reservations}
    for (reservation_id, resource_id), copies in _copies(allocations).items():
        above = had.get(reservation_id, ()).count(resource_id)
        if copies > above:
            asks.append(LaterAsk(now, now, reservation_id, resource_id, above))
    return tuple(asks)


def with_added(known: Sequence[LaterAsk], added: Sequence[LaterAsk]) -> tuple[LaterAsk, ...]:
    """Return all later asks, without those for time that was returned and is requested again."""
    again = min((each.since for each in added if each.is_more_time), default=None)
    return (*(each for each in known
              if again is None or not each.is_more_time or each.since < again), *added)


def parts(later: Sequence[LaterAsk], whole: NoticePart, reservation_id: str,
          resource_id: int | None) -> Iterator[NoticePart]:
    """Yield the parts of an allocation that have the same notice, by copies and then by time.

    :param whole: all copies of the allocation.
    """
    own = sorted((each for each in later if each.since <= whole.start and (
        each.reservation_id, each.resource_id) == (reservation_id, resource_id)),
        key=lambda each: (each.since, each.asked_at))
    longer = _longer(later)
    levels = sorted({0, *(each.above for each in own if each.above < whole.copies), whole.copies})
    for low, high in itertools.pairwise(levels):
        ask = next((each for each in reversed(own) if each.above <= low), None)
        yield from _in_time(longer, dataclasses.replace(whole, copies=high - low), ask)


def _longer(later: Sequence[LaterAsk]) -> list[tuple[LaterAsk, datetime.timedelta]]:
    """Return (LaterAsk, its notice) for more time, by time.

    All that one change adds has the notice of its earliest part. Otherwise a small lease that is
    enlarged and prolonged at once would pay less than a new lease.
    """
    notice: dict[datetime.datetime, datetime.timedelta] = {}
    for each in later:
        notice[each.asked_at] = min(each.notice, notice.get(each.asked_at, each.notice))
    return [(each, notice[each.asked_at])
            for each in sorted(later, key=lambda each: each.since) if each.is_more_time]


def _in_time(longer: Sequence[tuple[LaterAsk, datetime.timedelta]], whole: NoticePart,
             ask: LaterAsk | None) -> Iterator[NoticePart]:
    start, notice = whole.start, None if ask is None else ask.notice
    for each, its_notice in longer:
        # A request for further resources until a later end includes all of their time.
        if each.since >= whole.end or (ask is not None and each.asked_at <= ask.asked_at):
            continue
        if each.since > start:
            yield dataclasses.replace(whole, start=start, end=each.since, notice=notice)
            start = each.since
        notice = its_notice
    yield dataclasses.replace(whole, start=start, notice=notice)


def _copies(allocations: Sequence[records.Allocation]) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    for each in allocations:
        key = each.reservation_id, each.resource_id
        found[key] = found.get(key, 0) + each.copies
    return found
