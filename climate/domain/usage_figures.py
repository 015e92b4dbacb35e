# SPDX-License-Identifier: Apache-2.0
"""The figures of usage: allocated, occupied, idle and refused, in seconds and by day.

Moments are rounded down to full seconds. So the figures of a span are exactly the sum of the
figures of its parts.
"""
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import datetime
import functools
import json

Moment = datetime.datetime
#: A span in seconds since 1970: (start, end).
Span = tuple[int, int]

DAY_SECONDS = 86400
HOUR_SECONDS = 3600
#: The figures, in the order of all responses.
FIGURES = ('allocated', 'occupied', 'idle', 'refused')
#: The maximum duration that counts of a request that was refused after its last day.
LONGEST_LATE_REFUSAL = datetime.timedelta(days=31)

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_SECOND = datetime.timedelta(seconds=1)


@dataclasses.dataclass(frozen=True)
class Course:
    """The moments of a lease in the cloud.

    :ivar end: the planned end.
    :ivar started: when its start succeeded; None: it has not.
    :ivar deletion: when its deletion was ordered; None: it was not.
    :ivar over: when its resources had been released in the cloud; None: not yet.
    """

    end: Moment
    started: Moment | None = None
    deletion: Moment | None = None
    over: Moment | None = None


@dataclasses.dataclass(frozen=True)
class UsageShare:
    """An allocation of a resource, with the times that the figures count.

    :ivar amount: the units of one copy, as `as_text` returns them.
    :ivar allocated: the span from its start to its end.
    :ivar occupied: the span that `occupied` returns; None: it was never occupied.
    :ivar idle: pairs (first second of an hour, seconds of this hour in which nothing ran).
    """

    reservation_id: str
    project_id: str
    user_id: str
    resource_type: str
    pool: str
    resource_id: int
    amount: str
    copies: int
    allocated: Span
    occupied: Span | None = None
    idle: tuple[tuple[int, int], ...] = ()


@dataclasses.dataclass(frozen=True)
class RefusedUsage:
    """Resources that were requested and refused.

    :ivar asked: the span for which they were requested.
    :ivar reason: the code of the reason.
    """

    project_id: str
    user_id: str
    resource_type: str
    pool: str
    amount: str
    copies: int
    asked: Span
    reason: str


@dataclasses.dataclass(frozen=True)
class UsageKey:
    """The key by which seconds are counted. A field by which nothing is grouped is None.

    :ivar day: the first second of the day.
    :ivar resource_id: 0 for refused requests, which have no resource.
    :ivar reason: '' unless the request was refused.
    """

    day: int | None
    project_id: str | None
    user_id: str | None
    resource_type: str | None
    pool: str | None
    resource_id: int | None
    amount: str
    reason: str = ''


@dataclasses.dataclass(frozen=True)
class Seconds:
    """Resource-seconds of each figure."""

    allocated: int = 0
    occupied: int = 0
    idle: int = 0
    refused: int = 0

    def __add__(self, other: 'Seconds') -> 'Seconds':
        return Seconds(self.allocated + other.allocated, self.occupied + other.occupied,
                       self.idle + other.idle, self.refused + other.refused)

    def __bool__(self) -> bool:
        return bool(self.allocated or self.occupied or self.idle or self.refused)


def second(moment: Moment) -> int:
    """Return the full seconds between 1970 and a moment."""
    return (moment - _EPOCH) // _SECOND


def moment(count: int) -> Moment:
    """Return the moment this many seconds after 1970."""
    return _EPOCH + datetime.timedelta(seconds=count)


def day_of(count: int) -> int:
    """Return the first second of the day (UTC) that contains a second."""
    return count - count % DAY_SECONDS


def as_text(amount: Mapping[str, int]) -> str:
    """Return {class: units} as JSON text. Equal amounts have equal texts."""
    return json.dumps(dict(sorted(amount.items())), separators=(',', ':'))


@functools.lru_cache(maxsize=4096)
def units_of(amount: str) -> Mapping[str, int]:
    """Return the {class: units} of a text from `as_text`. The dict is cached: do not change it."""
    units: dict[str, int] = json.loads(amount)
    return units


def occupied(start: Moment, end: Moment, released: bool, course: Course,
             now: Moment) -> Span | None:
    """Return the span up to `now` in which an allocation was occupied; None: it never was.

    The span begins when the lease has started, and ends when its resources have been released in
    the cloud, which may be later than planned. If a change of the lease released the allocation, or
    the reservation ended before the lease, the span ends with the allocation.
    """
    if course.started is None:
        return None
    ended_before_lease = released or (end < course.end and end != course.deletion)
    until = end if ended_before_lease else course.over or now
    first, last = second(max(start, course.started)), second(min(until, now))
    return (first, last) if first < last else None


def refused(start: Moment, end: Moment, at: Moment) -> Span:
    """Return the span in the figures of a request for [start, end) that was refused at `at`.

    Days before the refusal do not count, because they may be closed. If all requested days are
    past, the requested duration counts from the refusal on, at most LONGEST_LATE_REFUSAL.
    """
    begin, until, refused_at = second(start), second(end), second(at)
    if until <= day_of(refused_at):
        return refused_at, refused_at + min(until - begin, LONGEST_LATE_REFUSAL // _SECOND)
    return max(begin, day_of(refused_at)), until


def overlap(span: Span | None, start: int, end: int) -> int:
    """Return the number of seconds of a span between `start` and `end`."""
    return max(0, min(span[1], end) - max(span[0], start)) if span else 0


def tally(shares: Iterable[UsageShare], refusals: Iterable[RefusedUsage], start: int, end: int,
          by_day: bool = True) -> dict[UsageKey, Seconds]:
    """Return {UsageKey: Seconds} between `start` and `end`, which are seconds since 1970.

    :param by_day: whether to count each day alone. A share of ten years then has 3,652 entries
        instead of one.
    """
    sums: dict[UsageKey, Seconds] = {}
    for share in shares:
        for day, first, last in _parts(share.allocated, share.occupied, start, end, by_day):
            _add(sums, _key_of(share, day, share.resource_id), Seconds(
                allocated=overlap(share.allocated, first, last) * share.copies,
                occupied=overlap(share.occupied, first, last) * share.copies,
                idle=_idle(share, first, last) * share.copies))
    for refusal in refusals:
        for day, first, last in _parts(refusal.asked, None, start, end, by_day):
            _add(sums, _key_of(refusal, day, 0, refusal.reason), Seconds(
                refused=overlap(refusal.asked, first, last) * refusal.copies))
    return sums


def _parts(first_span: Span, second_span: Span | None, start: int, end: int,
           by_day: bool) -> Iterator[tuple[int | None, int, int]]:
    """Yield (day, first second, end second) of the days that two spans touch, inside a window.

    Without `by_day`, yield the whole window once, with None as the day.
    """
    if not by_day:
        yield None, start, end
        return
    begin = max(start, min(span[0] for span in (first_span, second_span) if span))
    until = min(end, max(span[1] for span in (first_span, second_span) if span))
    for day in range(day_of(begin), until, DAY_SECONDS):
        yield day, max(day, start), min(day + DAY_SECONDS, end)


def _idle(share: UsageShare, start: int, end: int) -> int:
    """Return the idle seconds of one copy; in each hour not more than its occupied seconds."""
    return sum(min(idle, overlap(share.occupied, max(hour, start), min(hour + HOUR_SECONDS, end)))
               for hour, idle in share.idle if start <= hour < end)


def _key_of(counted: UsageShare | RefusedUsage, day: int | None, resource_id: int,
            reason: str = '') -> UsageKey:
    return UsageKey(day, counted.project_id, counted.user_id, counted.resource_type, counted.pool,
                    resource_id, counted.amount, reason)


def _add(sums: dict[UsageKey, Seconds], key: UsageKey, seconds: Seconds) -> None:
    if seconds:
        sums[key] = sums[key] + seconds if key in sums else seconds
