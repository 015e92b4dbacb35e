# SPDX-License-Identifier: Apache-2.0
"""Peak hours: windows of the week in a time zone, and when they are in UTC."""
import calendar
import collections
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import datetime
import decimal
import functools

DAYS = ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')

_DAY = datetime.timedelta(days=1)
_WEEK = datetime.timedelta(days=7)
_MINUTE = datetime.timedelta(minutes=1)
_SECOND = datetime.timedelta(seconds=1)
_NO_TIME = datetime.timedelta()
_BY_RULE = 2100
# {(is it a leap year, the weekday of its first day): a year of that kind}.
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

        A moment is in the window that a clock on the wall shows at that moment.
        """
        # A day of any time zone begins less than a day before or after that of UTC.
        day = start.astimezone(self.zone).date() - _DAY
        while day <= end.astimezone(self.zone).date() + _DAY:
            midnight = datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.UTC)
            for each in self.windows:
                if day.weekday() not in each.days:
                    continue
                found: list[tuple[datetime.datetime, datetime.datetime]] = []
                for begin, until, offset in _offsets(self.zone, day):
                    first = max(start, begin, midnight + _MINUTE * each.begin - offset)
                    last = min(end, until, midnight + _MINUTE * each.end - offset)
                    if first >= last:
                        continue
                    if found and found[-1][1] == first:
                        first, _ = found.pop()
                    found.append((first, last))
                yield from ((*span, each.percent) for span in found)
            day += _DAY

    def lengths(self, start: datetime.datetime, end: datetime.datetime
                ) -> tuple[tuple[decimal.Decimal, datetime.timedelta], ...]:
        """Return (percent, how long its windows are in all) between two moments.

        It is the sum of `spans`, and quick for spans of centuries.
        """
        return _lengths(self, start, end)

    def begin(self, day: datetime.date) -> datetime.datetime:
        """Return the first moment of a day in the time zone."""
        return datetime.datetime(day.year, day.month, day.day,
                                 tzinfo=self.zone).astimezone(datetime.UTC)


@functools.lru_cache(maxsize=1024)
def _offsets(zone: datetime.tzinfo, day: datetime.date
             ) -> tuple[tuple[datetime.datetime, datetime.datetime, datetime.timedelta], ...]:
    """Return (start, end, offset from UTC) of the spans that may have moments of a local day."""
    midnight = datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.UTC)
    return tuple(_constant(zone, midnight - _DAY, midnight + 2 * _DAY))


def _constant(zone: datetime.tzinfo, start: datetime.datetime, end: datetime.datetime
              ) -> Iterator[tuple[datetime.datetime, datetime.datetime, datetime.timedelta]]:
    """Yield (start, end, offset from UTC) of the spans between two moments without a change."""
    before, after = (_offset_at(zone, each) for each in (start, end))
    if before == after:
        yield start, end, before
        return
    low, high = start, end
    while high - low > _SECOND:
        middle = low + (high - low) // _SECOND // 2 * _SECOND
        low, high = (middle, high) if _offset_at(zone, middle) == before else (low, middle)
    yield start, high, before
    yield from _constant(zone, high, end)


def _offset_at(zone: datetime.tzinfo, moment: datetime.datetime) -> datetime.timedelta:
    return moment.astimezone(zone).utcoffset() or _NO_TIME


@functools.lru_cache(maxsize=256)
def _lengths(peaks: PeakHours, start: datetime.datetime, end: datetime.datetime
             ) -> tuple[tuple[decimal.Decimal, datetime.timedelta], ...]:
    """Add up the windows: by kinds of years, and at both edges."""
    first, last = start.astimezone(peaks.zone).year + 1, end.astimezone(peaks.zone).year
    if first >= last:
        return _of_days(peaks, start, end)
    begin, stop = (peaks.begin(datetime.date(year, 1, 1)) for year in (first, last))
    found = collections.Counter(map(_like, range(first, last)))
    return _sums([*_of_days(peaks, start, begin), *_of_days(peaks, stop, end),
                  *((percent, count * length) for year, count in found.items()
                    for percent, length in _of_year(peaks, year))])


def _like(year: int) -> int:
    """Return a year whose windows are as long as those of `year`.

    From 2100 on all time zones follow a rule, so that years differ by their length and by the
    weekday of their first day only. 28 years have all kinds of them.
    """
    return year if year < _BY_RULE else _KINDS[calendar.isleap(year),
                                               datetime.date(year, 1, 1).weekday()]


@functools.lru_cache(maxsize=1024)
def _of_year(peaks: PeakHours, year: int
             ) -> tuple[tuple[decimal.Decimal, datetime.timedelta], ...]:
    begin, stop = (peaks.begin(datetime.date(each, 1, 1)) for each in (year, year + 1))
    return _of_days(peaks, begin, stop)


def _sums(pieces: Iterable[tuple[decimal.Decimal, datetime.timedelta]]
          ) -> tuple[tuple[decimal.Decimal, datetime.timedelta], ...]:
    found: dict[decimal.Decimal, datetime.timedelta] = {}
    for percent, length in pieces:
        found[percent] = found.get(percent, _NO_TIME) + length
    return tuple(found.items())


def _of_days(peaks: PeakHours, start: datetime.datetime, end: datetime.datetime
             ) -> tuple[tuple[decimal.Decimal, datetime.timedelta], ...]:
    """Add up the windows: by weeks without a change of the clocks, by days, and at both edges."""
    day, last = start.astimezone(peaks.zone).date() + _DAY, end.astimezone(peaks.zone).date()
    pieces = [each for edge in _edges(peaks, start, end, day, last)
              for each in _pieces(peaks, *edge)]
    week: list[tuple[decimal.Decimal, datetime.timedelta]] | None = None
    weeks = 0
    while day < last:
        following = day + _WEEK
        if following <= last and peaks.begin(following) - peaks.begin(day) == _WEEK:
            weeks += 1
            if week is None:
                week = _pieces(peaks, peaks.begin(day), peaks.begin(following))
        else:
            following = day + _DAY
            pieces += _pieces(peaks, peaks.begin(day), peaks.begin(following))
        day = following
    return _sums([*pieces, *((percent, weeks * length) for percent, length in week or ())])


def _pieces(peaks: PeakHours, start: datetime.datetime, end: datetime.datetime
            ) -> list[tuple[decimal.Decimal, datetime.timedelta]]:
    return [(percent, last - first) for first, last, percent in peaks.spans(start, end)]


def _edges(peaks: PeakHours, start: datetime.datetime, end: datetime.datetime,
           day: datetime.date, last: datetime.date
           ) -> list[tuple[datetime.datetime, datetime.datetime]]:
    """Return the spans before the first full day and after the last one."""
    if day >= last:
        return [(start, end)]
    first, stop = (peaks.begin(each) for each in (day, last))
    return [(start, first), (stop, end)]


def overlap(windows: tuple[PeakWindow, ...]) -> tuple[int, int] | None:
    """Return the positions of two windows that share a minute of the week, or None."""
    for second, later in enumerate(windows):
        for first, each in enumerate(windows[:second]):
            if each.days & later.days and each.begin < later.end and later.begin < each.end:
                return first, second
    return None
