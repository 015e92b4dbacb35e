# SPDX-License-Identifier: Apache-2.0
"""The figures of usage: allocated, occupied, idle and refused, in seconds and by day.

Each moment counts to its full second. So the figures of a span are exactly the sum of the figures
of its parts.
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
#: The figures, in the order in which all answers show them.
FIGURES = ('allocated', 'occupied', 'idle', 'refused')
#: The longest time for which a request counts that was refused after all of its time.
LONGEST_LATE_REFUSAL = datetime.timedelta(days=31)

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_SECOND = datetime.timedelta(seconds=1)


@dataclasses.dataclass(frozen=True)
class Course:
    """The course of a lease in the cloud.

    :ivar end: its planned end.
    :ivar started: when its start was done; None: it was not started.
    :ivar deletion: when its deletion was ordered; None: never.
    :ivar over: when its teardown was done; None: not yet.
    """

    end: Moment
    started: Moment | None = None
    deletion: Moment | None = None
    over: Moment | None = None


@dataclasses.dataclass(frozen=True)
class UsageShare:
    """An allocation of a resource, with the time in which the cloud held it.

    :ivar amount: the units of one copy, as `as_text` returns them.
    :ivar allocated: from its start to its end.
    :ivar occupied: from the done start to the done end; None: not at all.
    :ivar idle: pairs (hour as a moment, seconds of it in which nothing ran).
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
    """The key by which seconds are counted; a part that does not matter is None.

    :ivar day: the first second of the day.
    :ivar resource_id: 0 for refusals, which have no resource.
    :ivar reason: '' for all but refusals.
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
    """Return a moment as full seconds since 1970."""
    return (moment - _EPOCH) // _SECOND


def moment(count: int) -> Moment:
    """Return the moment this many seconds after 1970."""
    return _EPOCH + datetime.timedelta(seconds=count)


def day_of(count: int) -> int:
    """Return the first second of the day (UTC) of a second."""
    return count - count % DAY_SECONDS


def as_text(amount: Mapping[str, int]) -> str:
    """Return {class: units} as JSON text that is the same for the same amount."""
    return json.dumps(dict(sorted(amount.items())), separators=(',', ':'))


@functools.lru_cache(maxsize=4096)
def units_of(amount: str) -> Mapping[str, int]:
    """Return {class: units} from the JSON text of `as_text`. The caller must not change it."""
    units: dict[str, int] = json.loads(amount)
    return units


def occupied(start: Moment, end: Moment, released: bool, course: Course,
             now: Moment) -> Span | None:
    """Return when the cloud held an allocation, up to `now`; None: not at all.

    The cloud holds it from the completion of the lease's start to the completion of its teardown,
    which may be later than planned. If a change removed the allocation from a running lease, or
    its reservation ended before the lease, the cloud holds it until the allocation's own end.
    """
    if course.started is None:
        return None
    alone = released or (end < course.end and end != course.deletion)
    until = end if alone else course.over or now
    first, last = second(max(start, course.started)), second(min(until, now))
    return (first, last) if first < last else None


def refused(start: Moment, end: Moment, at: Moment) -> Span:
    """Return the span for which a refused request counts.

    Days before the refusal do not count, because they may be closed. If all of the requested days
    are past, as for a lease that waited too long, the same time counts from the refusal on, at
    most LONGEST_LATE_REFUSAL.

    :param start: the start of the requested time.
    :param end: the end of the requested time.
    :param at: when the request was refused.
    """
    begin, until, refused_at = second(start), second(end), second(at)
    if until <= day_of(refused_at):
        return refused_at, refused_at + min(until - begin, LONGEST_LATE_REFUSAL // _SECOND)
    return max(begin, day_of(refused_at)), until


def overlap(span: Span | None, start: int, end: int) -> int:
    """Return how many seconds of a span lie between two seconds."""
    return max(0, min(span[1], end) - max(span[0], start)) if span else 0


def tally(shares: Iterable[UsageShare], refusals: Iterable[RefusedUsage], start: int, end: int,
          by_day: bool = True) -> dict[UsageKey, Seconds]:
    """Return the Seconds between two seconds, by all parts of a UsageKey.

    :param by_day: True to count each day separately: a share of ten years then has 3,652 entries.
        Otherwise it has one entry.
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
    """Yield (day, first second, last second) for each day of a window that a span touches.

    If `by_day` is False, yield the whole window once, with None as the day.
    """
    if not by_day:
        yield None, start, end
        return
    begin = max(start, min(span[0] for span in (first_span, second_span) if span))
    until = min(end, max(span[1] for span in (first_span, second_span) if span))
    for day in range(day_of(begin), until, DAY_SECONDS):
        yield day, max(day, start), min(day + DAY_SECONDS, end)


def _idle(share: UsageShare, start: int, end: int) -> int:
    """Return the idle seconds of one copy: in each hour at most the occupied ones."""
    return sum(min(idle, overlap(share.occupied, max(hour, start), min(hour + HOUR_SECONDS, end)))
               for hour, idle in share.idle if start <= hour < end)


def _key_of(counted: UsageShare | RefusedUsage, day: int | None, resource_id: int,
            reason: str = '') -> UsageKey:
    return UsageKey(day, counted.project_id, counted.user_id, counted.resource_type, counted.pool,
                    resource_id, counted.amount, reason)


def _add(sums: dict[UsageKey, Seconds], key: UsageKey, seconds: Seconds) -> None:
    if seconds:
        sums[key] = sums[key] + seconds if key in sums else seconds
