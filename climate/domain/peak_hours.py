# SPDX-License-Identifier: Apache-2.0
"""Peak hours: windows of the week in a time zone, and their spans in UTC."""
import calendar
import collections
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import datetime
import decimal
import functools

_Length = tuple[decimal.Decimal, datetime.timedelta]
_Lengths = tuple[_Length, ...]
_Offset = tuple[datetime.datetime, datetime.datetime, datetime.timedelta]

DAYS = ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')

_DAY = datetime.timedelta(days=1)
_WEEK = datetime.timedelta(days=7)
_MINUTE = datetime.timedelta(minutes=1)
_SECOND = datetime.timedelta(seconds=1)
_NO_TIME = datetime.timedelta()
# From this year on, all time zones follow a fixed rule.
_BY_RULE = 2100
# {(whether a year is a leap year, the weekday of its first day): such a year}.
_KINDS = {(calendar.isleap(year), datetime.date(year, 1, 1).weekday()): year
          for year in range(_BY_RULE + 1, _BY_RULE + 29)}


@dataclasses.dataclass(frozen=True)
class PeakWindow:
    """A window on some weekdays (0: Monday), in minutes of the day; its end is at most 24:00."""

    days: frozenset[int]
    begin: int
    end: int
    percent: decimal.Decimal


@dataclasses.dataclass(frozen=True)
class PeakHours:
    """Windows that do not overlap, in one time zone."""

    zone: datetime.tzinfo
    windows: tuple[PeakWindow, ...]

    def spans(self, start: datetime.datetime, end: datetime.datetime
              ) -> Iterator[tuple[datetime.datetime, datetime.datetime, decimal.Decimal]]:
        """Yield (start, end, percent) of the windows between two moments, in UTC.

        Windows follow the local time of the zone, also when its clocks change.
        """
        # In any time zone, a day begins less than a day before or after the day of UTC.
        day = start.astimezone(self.zone).date() - _DAY
        while day <= end.astimezone(self.zone).date() + _DAY:
            midnight = datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.UTC)
            for window in self.windows:
                if day.weekday() not in window.days:
                    continue
                spans: list[tuple[datetime.datetime, datetime.datetime]] = []
                for begin, until, offset in _offsets(self.zone, day):
                    first = max(start, begin, midnight + _MINUTE * window.begin - offset)
                    last = min(end, until, midnight + _MINUTE * window.end - offset)
                    if first >= last:
                        continue
                    if spans and spans[-1][1] == first:
                        first, _ = spans.pop()
                    spans.append((first, last))
                yield from ((*span, window.percent) for span in spans)
            day += _DAY

    def lengths(self, start: datetime.datetime, end: datetime.datetime) -> _Lengths:
        """Return pairs (percent, total duration of its windows) between two moments.

        The result equals the sum of `spans`, but is fast for centuries too.
        """
        return _lengths(self, start, end)

    def begin(self, day: datetime.date) -> datetime.datetime:
        """Return the first moment of a day in the time zone."""
        return datetime.datetime(day.year, day.month, day.day,
                                 tzinfo=self.zone).astimezone(datetime.UTC)


@functools.lru_cache(maxsize=1024)
def _offsets(zone: datetime.tzinfo, day: datetime.date) -> tuple[_Offset, ...]:
    """Return triples (start, end, offset from UTC) that cover a day in a time zone."""
    midnight = datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.UTC)
    return tuple(_spans_of_offsets(zone, midnight - _DAY, midnight + 2 * _DAY))


def _spans_of_offsets(zone: datetime.tzinfo, start: datetime.datetime,
                      end: datetime.datetime) -> Iterator[_Offset]:
    """Yield (start, end, offset from UTC) of the spans with a constant offset."""
    before, after = (_offset_at(zone, moment) for moment in (start, end))
    if before == after:
        yield start, end, before
        return
    low, high = start, end
    while high - low > _SECOND:
        middle = low + (high - low) // _SECOND // 2 * _SECOND
        low, high = (middle, high) if _offset_at(zone, middle) == before else (low, middle)
    yield start, high, before
    yield from _spans_of_offsets(zone, high, end)


def _offset_at(zone: datetime.tzinfo, moment: datetime.datetime) -> datetime.timedelta:
    return moment.astimezone(zone).utcoffset() or _NO_TIME


@functools.lru_cache(maxsize=256)
def _lengths(peaks: PeakHours, start: datetime.datetime, end: datetime.datetime) -> _Lengths:
    """Add up the windows of full years, by kinds of years, and of the rest at both ends."""
    first, last = start.astimezone(peaks.zone).year + 1, end.astimezone(peaks.zone).year
    if first >= last:
        return _lengths_by_day(peaks, start, end)
    begin, stop = (peaks.begin(datetime.date(year, 1, 1)) for year in (first, last))
    years = collections.Counter(map(_equivalent_year, range(first, last)))
    return _sums([*_lengths_by_day(peaks, start, begin), *_lengths_by_day(peaks, stop, end),
                  *((percent, count * length) for year, count in years.items()
                    for percent, length in _year_lengths(peaks, year))])


def _equivalent_year(year: int) -> int:
    """Return a year whose windows are as long as those of `year`.

    From `_BY_RULE` on, years differ only in their length and in the weekday of their first day.
    28 consecutive years have all combinations.
    """
    return year if year < _BY_RULE else _KINDS[calendar.isleap(year),
                                               datetime.date(year, 1, 1).weekday()]


@functools.lru_cache(maxsize=1024)
def _year_lengths(peaks: PeakHours, year: int) -> _Lengths:
    begin, stop = (peaks.begin(datetime.date(number, 1, 1)) for number in (year, year + 1))
    return _lengths_by_day(peaks, begin, stop)


def _sums(pieces: Iterable[_Length]) -> _Lengths:
    sums: dict[decimal.Decimal, datetime.timedelta] = {}
    for percent, length in pieces:
        sums[percent] = sums.get(percent, _NO_TIME) + length
    return tuple(sums.items())


def _lengths_by_day(peaks: PeakHours, start: datetime.datetime, end: datetime.datetime) -> _Lengths:
    """Add up the windows of weeks without a clock change, of other days, and at both ends."""
    day, last = start.astimezone(peaks.zone).date() + _DAY, end.astimezone(peaks.zone).date()
    if day >= last:
        return _sums(_window_lengths(peaks, start, end))
    pieces = [*_window_lengths(peaks, start, peaks.begin(day)),
              *_window_lengths(peaks, peaks.begin(last), end)]
    week: list[_Length] | None = None
    weeks = 0
    while day < last:
        following = day + _WEEK
        if following <= last and peaks.begin(following) - peaks.begin(day) == _WEEK:
            weeks += 1
            if week is None:
                week = _window_lengths(peaks, peaks.begin(day), peaks.begin(following))
        else:
            following = day + _DAY
            pieces += _window_lengths(peaks, peaks.begin(day), peaks.begin(following))
        day = following
    return _sums([*pieces, *((percent, weeks * length) for percent, length in week or ())])


def _window_lengths(peaks: PeakHours, start: datetime.datetime,
                    end: datetime.datetime) -> list[_Length]:
    return [(percent, last - first) for first, last, percent in peaks.spans(start, end)]


def overlap(windows: tuple[PeakWindow, ...]) -> tuple[int, int] | None:
    """Return the positions of two windows that share a minute of the week, or None."""
    for second, later in enumerate(windows):
        for first, earlier in enumerate(windows[:second]):
            if (earlier.days & later.days and earlier.begin < later.end
                    and later.begin < earlier.end):
                return first, second
    return None
