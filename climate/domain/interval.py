# SPDX-License-Identifier: Apache-2.0
"""A span of time, half-open: its start belongs to it, its end does not."""
import dataclasses
import datetime

#: Between one moment and the next: the databases count in microseconds.
RESOLUTION = datetime.timedelta(microseconds=1)

# For people, to whom parts of a second say nothing.
_SECONDS = '%Y-%m-%d %H:%M:%S'


@dataclasses.dataclass(frozen=True, order=True)
class Interval:
    """From ``start`` up to, not including, ``end``; both aware.

    :raises ValueError: a naive moment, or an end that is not after the start.
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
        """True when some moment belongs to both. Intervals that only touch do not overlap."""
        return self.start < other.end and other.start < self.end

    def widened(self, margin: datetime.timedelta) -> 'Interval':
        """The same span with `margin` (zero or more) added before and after it."""
        return Interval(self.start - margin, self.end + margin)
