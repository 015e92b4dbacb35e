# SPDX-License-Identifier: Apache-2.0
"""The measured use of leases: samples at regular moments, and their sums over hours."""
from collections.abc import Iterable
import dataclasses
import datetime

from climate.domain import interval

#: The key of a sample: (reservation id, resource id). A reservation without resources of a pool,
#: such as the lease of an existing volume, has the resource id NO_RESOURCE.
Key = tuple[str, int]
NO_RESOURCE = 0
#: The time over which samples are added up.
HOUR = datetime.timedelta(hours=1)


@dataclasses.dataclass(frozen=True)
class Use:
    """The use of a resource of a reservation at a moment.

    :ivar share: the share in use, from 0 to 1.
    :ivar runs: whether anything runs on the resource, even with a share of nearly 0.
    """

    share: float
    runs: bool


#: The use of a resource on which nothing runs.
IDLE = Use(0.0, False)


def of_share(used: float, whole: float) -> Use:
    """Return the Use of a resource of size `whole` on which running objects take `used`.

    The share is at most 1. If the resource has no size, any use of it has the share 1.
    """
    if used <= 0:
        return IDLE
    return Use(min(1.0, used / whole) if whole > 0 else 1.0, True)


@dataclasses.dataclass(frozen=True)
class SampleSlot:
    """The span of time within an hour of the clock for which one sample counts."""

    begin: datetime.datetime
    seconds: int

    @property
    def hour(self) -> datetime.datetime:
        """Return the beginning of the hour that contains the slot."""
        return hour_of(self.begin)

    @property
    def end(self) -> datetime.datetime:
        """Return the first moment after the slot."""
        return self.begin + datetime.timedelta(seconds=self.seconds)


def slot_of(now: datetime.datetime, minutes: int) -> SampleSlot:
    """Return the SampleSlot that contains `now`, if one sample is taken every `minutes` minutes.

    The first slot of an hour begins with the hour. The last one may be shorter.
    """
    first = now.minute // minutes * minutes
    return SampleSlot(hour_of(now) + datetime.timedelta(minutes=first),
                      min(minutes, 60 - first) * 60)


def hour_of(moment: datetime.datetime) -> datetime.datetime:
    """Return the beginning of the hour that contains a moment."""
    return moment.replace(minute=0, second=0, microsecond=0)


def idle_spans(hour: datetime.datetime, seconds: float,
               spans: Iterable[tuple[datetime.datetime, datetime.datetime]]
               ) -> list[interval.Interval]:
    """Return the Intervals of an hour that count as idle if a resource was idle for `seconds`.

    The first seconds of the hour in which the resource was allocated count as idle.

    :param hour: the beginning of the hour.
    :param spans: (start, end) of the allocations, which may overlap and lie in other hours.
    """
    remaining = datetime.timedelta(seconds=seconds)
    counted_to, idle = hour, []
    for start, end in sorted(spans):
        first = max(start, counted_to)
        last = min(end, hour + HOUR, first + remaining)
        if first < last:
            idle.append(interval.Interval(first, last))
            remaining -= last - first
            counted_to = last
    return idle


@dataclasses.dataclass(frozen=True)
class Sample:
    """The sum of the samples of one resource of a reservation, over an hour or longer.

    :ivar idle_seconds: the part of the sampled time in which nothing ran.
    :ivar used_seconds: the sampled time, weighted with the share in use.
    """

    seconds: int
    idle_seconds: int
    used_seconds: float

    @property
    def is_used(self) -> bool:
        """Return whether anything ran on the resource."""
        return self.idle_seconds < self.seconds

    def __add__(self, other: 'Sample') -> 'Sample':
        return Sample(self.seconds + other.seconds, self.idle_seconds + other.idle_seconds,
                      self.used_seconds + other.used_seconds)


#: The sum if no sample was taken.
NO_SAMPLE = Sample(0, 0, 0.0)


def sampled(use: Use, slot: SampleSlot) -> Sample:
    """Return the Sample of one measurement, which counts for its whole slot."""
    return Sample(slot.seconds, 0 if use.runs else slot.seconds, use.share * slot.seconds)
