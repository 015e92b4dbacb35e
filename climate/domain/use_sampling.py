# SPDX-License-Identifier: Apache-2.0
"""The measured use of leases: samples at regular moments, and their sums over hours."""
from collections.abc import Iterable
import dataclasses
import datetime

from climate.domain import interval

#: The key of a sample: the id of a reservation, and of a resource of it. A reservation
#: without resources of a pool, such as one that leases an existing volume, has the resource id 0.
Key = tuple[str, int]
NO_RESOURCE = 0
#: The time over which samples are added up.
HOUR = datetime.timedelta(hours=1)


@dataclasses.dataclass(frozen=True)
class Use:
    """The use of a resource of a reservation at a moment.

    :ivar share: the share in use, from 0 to 1.
    :ivar runs: whether anything runs on it, however small its share.
    """

    share: float
    runs: bool


#: Nothing runs on it.
IDLE = Use(0.0, False)


def of_share(used: float, whole: float) -> Use:
    """Return the Use of a resource if running objects take `used` of its size, `whole`.

    More than the size counts as all of it. Any use of a resource without a size takes all of it.
    """
    if used <= 0:
        return IDLE
    return Use(min(1.0, used / whole) if whole > 0 else 1.0, True)


@dataclasses.dataclass(frozen=True)
class SampleSlot:
    """The span of time for which one sample stands; it never crosses the hour.

    :ivar begin: its first moment. There is one sample for each slot.
    :ivar seconds: how long it is.
    """

    begin: datetime.datetime
    seconds: int

    @property
    def hour(self) -> datetime.datetime:
        """Return the beginning of its hour."""
        return hour_of(self.begin)

    @property
    def end(self) -> datetime.datetime:
        """Return the first moment after it."""
        return self.begin + datetime.timedelta(seconds=self.seconds)


def slot_of(now: datetime.datetime, minutes: int) -> SampleSlot:
    """Return the SampleSlot that contains `now`, with a sample in each interval of `minutes`.

    The slots of an hour begin with the hour; the last one may be shorter.
    """
    first = now.minute // minutes * minutes
    return SampleSlot(hour_of(now) + datetime.timedelta(minutes=first),
                      min(minutes, 60 - first) * 60)


def hour_of(moment: datetime.datetime) -> datetime.datetime:
    """Return the beginning of the hour of a moment."""
    return moment.replace(minute=0, second=0, microsecond=0)


def idle_spans(hour: datetime.datetime, seconds: float,
               spans: Iterable[tuple[datetime.datetime, datetime.datetime]]
               ) -> list[interval.Interval]:
    """Return the Intervals of an hour that count as idle, if a resource was idle for `seconds`.

    They are the first seconds of the hour in which the reservation had it.

    :param hour: the beginning of the hour.
    :param spans: (start, end) of its allocations, which may overlap and lie in other hours.
    """
    left = datetime.timedelta(seconds=seconds)
    place, idle = hour, []
    for start, end in sorted(spans):
        first = max(start, place)
        last = min(end, hour + HOUR, first + left)
        if first < last:
            idle.append(interval.Interval(first, last))
            left -= last - first
            place = last
    return idle


@dataclasses.dataclass(frozen=True)
class Sample:
    """The samples of one resource of a reservation, summed up over an hour or longer.

    :ivar seconds: the sampled time.
    :ivar idle_seconds: the part of it in which nothing ran.
    :ivar used_seconds: the sampled seconds, each weighted with the share in use.
    """

    seconds: int
    idle_seconds: int
    used_seconds: float

    @property
    def is_used(self) -> bool:
        """Return whether anything ran there."""
        return self.idle_seconds < self.seconds

    def __add__(self, other: 'Sample') -> 'Sample':
        return Sample(self.seconds + other.seconds, self.idle_seconds + other.idle_seconds,
                      self.used_seconds + other.used_seconds)


#: No sample was taken.
NO_SAMPLE = Sample(0, 0, 0.0)


def sampled(use: Use, slot: SampleSlot) -> Sample:
    """Return the Sample of one measurement, which stands for its slot."""
    return Sample(slot.seconds, 0 if use.runs else slot.seconds, use.share * slot.seconds)


def total(samples: Iterable[Sample]) -> Sample:
    """Return the sum of some Samples."""
    return sum(samples, NO_SAMPLE)
