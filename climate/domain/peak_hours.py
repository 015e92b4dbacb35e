# SPDX-License-Identifier: Apache-2.0
"""Peak hours: windows of the week in a time zone, and when they are in UTC."""
from collections.abc import Iterator
import dataclasses
import datetime
import decimal
import functools

DAYS = ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')

_DAY = datetime.timedelta(days=1)
_WEEK = datetime.timedelta(days=7)
_NO_TIME = datetime.timedelta()
_MINUTES_OF_DAY = 24 * 60


@dataclasses.dataclass(frozen=True)
class Window:
    """A window on some weekdays (0: Monday), in minutes of the day; its end is at most 24:00."""

    days: frozenset[int]
    begin: int
    end: int
    percent: decimal.Decimal


@dataclasses.dataclass(frozen=True)
class PeakHours:
    """Windows that do not overlap, in one time zone."""

    zone: datetime.tzinfo
    windows: tuple[Window, ...]

    def spans(self, start: datetime.datetime, end: datetime.datetime
              ) -> Iterator[tuple[datetime.datetime, datetime.datetime, decimal.Decimal]]:
        """Yield (start, end, percent) of the windows between two moments, in UTC.

        A window of a day on which the clocks change is as long as it is on the wall.
        """
        # A day of any time zone begins less than a day before or after that of UTC.
        day = start.astimezone(self.zone).date() - _DAY
        while day <= end.astimezone(self.zone).date() + _DAY:
            for each in self.windows:
                if day.weekday() not in each.days:
                    continue
                first = max(start, self._utc(day, each.begin))
                last = min(end, self._utc(day, each.end))
                if first < last:
                    yield first, last, each.percent
            day += _DAY

    def lengths(self, start: datetime.datetime, end: datetime.datetime
                ) -> tuple[tuple[decimal.Decimal, datetime.timedelta], ...]:
        """Return (percent, how long its windows are in all) between two moments.

        It is the sum of `spans`, and quick for spans of centuries.
        """
        return _lengths(self, start, end)

    def of_day(self, day: datetime.date) -> Iterator[tuple[decimal.Decimal, datetime.timedelta]]:
        """Yield (percent, length) of the windows of a day in the time zone."""
        changes = self.offset(day) != self.offset(day + _DAY)
        for each in self.windows:
            if day.weekday() not in each.days:
                continue
            length = datetime.timedelta(minutes=each.end - each.begin)
            if changes:
                length = self._utc(day, each.end) - self._utc(day, each.begin)
            if length > _NO_TIME:
                yield each.percent, length

    def offset(self, day: datetime.date) -> datetime.timedelta | None:
        """Return how far the clocks are ahead of UTC when a day begins."""
        return self.begin(day).utcoffset()

    def begin(self, day: datetime.date) -> datetime.datetime:
        """Return the first moment of a day in the time zone."""
        return datetime.datetime(day.year, day.month, day.day, tzinfo=self.zone)

    def _utc(self, day: datetime.date, minutes: int) -> datetime.datetime:
        day += _DAY * (minutes // _MINUTES_OF_DAY)
        hours, rest = divmod(minutes % _MINUTES_OF_DAY, 60)
        return datetime.datetime(day.year, day.month, day.day, hours, rest,
                                 tzinfo=self.zone).astimezone(datetime.UTC)


@functools.lru_cache(maxsize=256)
def _lengths(peaks: PeakHours, start: datetime.datetime, end: datetime.datetime
             ) -> tuple[tuple[decimal.Decimal, datetime.timedelta], ...]:
    """Add up the windows: by weeks without a change of the clocks, by days, and at both edges."""
    day, last = start.astimezone(peaks.zone).date() + _DAY, end.astimezone(peaks.zone).date()
    pieces = [(percent, stop - first) for edge in _edges(peaks, start, end, day, last)
              for first, stop, percent in peaks.spans(*edge)]
    week: list[tuple[decimal.Decimal, datetime.timedelta]] = []
    weeks = 0
    while day < last:
        if day + _WEEK <= last and peaks.offset(day) == peaks.offset(day + _WEEK):
            weeks += 1
            week = week or [each for number in range(7)
                            for each in peaks.of_day(day + number * _DAY)]
            day += _WEEK
        else:
            pieces += peaks.of_day(day)
            day += _DAY
    found: dict[decimal.Decimal, datetime.timedelta] = {}
    for percent, length in [*pieces, *((percent, weeks * length) for percent, length in week)]:
        found[percent] = found.get(percent, _NO_TIME) + length
    return tuple(found.items())


def _edges(peaks: PeakHours, start: datetime.datetime, end: datetime.datetime,
           day: datetime.date, last: datetime.date
           ) -> list[tuple[datetime.datetime, datetime.datetime]]:
    """Return the spans before the first full day and after the last one."""
    if day >= last:
        return [(start, end)]
    first, stop = (peaks.begin(each).astimezone(datetime.UTC) for each in (day, last))
    return [(start, first), (stop, end)]


def overlap(windows: tuple[Window, ...]) -> tuple[int, int] | None:
    """Return the positions of two windows that share a minute of the week, or None."""
    for second, later in enumerate(windows):
        for first, each in enumerate(windows[:second]):
            if each.days & later.days and each.begin < later.end and later.begin < each.end:
                return first, second
    return None
