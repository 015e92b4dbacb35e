# SPDX-License-Identifier: Apache-2.0
"""Half-open intervals of time: the start belongs to the interval, the end does not."""
import dataclasses
import datetime

#: The smallest difference of two moments, because databases store microseconds.
RESOLUTION = datetime.timedelta(microseconds=1)

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
# The format in messages, without fractions of a second.
_SECONDS = '%Y-%m-%d %H:%M:%S'


@dataclasses.dataclass(frozen=True, order=True)
class Interval:
    """The time from ``start`` up to, but not including, ``end``.

    :raises ValueError: a moment has no time zone, or the end is not after the start.
    """

    start: datetime.datetime
    end: datetime.datetime

    def __post_init__(self) -> None:
        if self.start.tzinfo is None or self.end.tzinfo is None:
            raise ValueError('An interval needs aware moments.')
        if self.end <= self.start:
            raise ValueError('An interval ends after it starts.')

    def __str__(self) -> str:
        return f'{self.start:{_SECONDS}} to {self.end:{_SECONDS}} UTC'

    @property
    def duration(self) -> datetime.timedelta:
        return self.end - self.start

    def overlaps(self, other: 'Interval') -> bool:
        """Return whether both intervals share a moment. Adjacent intervals do not overlap."""
        return self.start < other.end and other.start < self.end

    def widened(self, margin: datetime.timedelta) -> 'Interval':
        """Return the interval with `margin` (zero or more) added before and after it."""
        return Interval(self.start - margin, self.end + margin)


def rounded_up(moment: datetime.datetime, grain: datetime.timedelta) -> datetime.datetime:
    """Return the first multiple of `grain`, counted from 1970, that is not before `moment`.

    :raises OverflowError: the result is beyond the last year of a datetime.
    """
    return _EPOCH - (_EPOCH - moment) // grain * grain
