# SPDX-License-Identifier: Apache-2.0
"""Peak hours: windows of the week in a time zone, and when they are in UTC."""
from collections.abc import Iterator
import dataclasses
import datetime
import decimal

DAYS = ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')

_DAY = datetime.timedelta(days=1)
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

    def _utc(self, day: datetime.date, minutes: int) -> datetime.datetime:
        day += _DAY * (minutes // _MINUTES_OF_DAY)
        hours, rest = divmod(minutes % _MINUTES_OF_DAY, 60)
        return datetime.datetime(day.year, day.month, day.day, hours, rest,
                                 tzinfo=self.zone).astimezone(datetime.UTC)


def overlap(windows: tuple[Window, ...]) -> tuple[int, int] | None:
    """Return the positions of two windows that share a minute of the week, or None."""
    for second, later in enumerate(windows):
        for first, each in enumerate(windows[:second]):
            if each.days & later.days and each.begin < later.end and later.begin < each.end:
                return first, second
    return None
