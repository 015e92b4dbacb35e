# SPDX-License-Identifier: Apache-2.0
"""The moments from which a number of resources is free for a whole duration."""
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
from typing import Protocol

from climate.domain import interval

Moment = datetime.datetime
#: {resource: the intervals in which it is taken, in any order and perhaps overlapping}.
Taken = Mapping[int, Sequence[interval.Interval]]


@dataclasses.dataclass(frozen=True)
class StartRange:
    """A range of starts, `start` to `last` inclusive, at which `count` resources are free."""

    start: Moment
    last: Moment
    count: int


class Starts(Protocol):
    """The possible starts of a fixed duration, with the number of free resources."""

    def count(self, moment: Moment) -> int:
        """Return the number of resources that are free for the duration from a moment on."""

    def next(self, count: int, after: Moment) -> Moment | None:
        """Return the first start, not before `after`, with `count` free resources, or None."""

    def until(self, count: int, moment: Moment) -> Moment:
        """Return the last start of the range around `moment` with `count` free resources.

        :param moment: a start with `count` free resources.
        """


class FreeStarts:
    """A simple implementation of Starts, for spans of `duration` inside `window`.

    Each gap between the bookings of a resource gives a range of starts, from the beginning of the
    gap to its end minus the duration. The count at a moment is the number of ranges with it.
    """

    def __init__(self, taken: Taken, duration: datetime.timedelta, window: interval.Interval):
        self._ranges = [(first, last, resource) for resource, spans in taken.items()
                        for first, last in starts(spans, duration, window)]
        self._latest = window.end - duration

    def free(self, moment: Moment) -> list[int]:
        """Return the resources that are free for the duration from a moment on."""
        return [resource for first, last, resource in self._ranges if first <= moment <= last]

    def count(self, moment: Moment) -> int:
        return len(self.free(moment))

    def next(self, count: int, after: Moment) -> Moment | None:
        # The count increases only where a range begins.
        moments = [after, *sorted(first for first, _, _ in self._ranges if first > after)]
        return next((start for start in moments
                     if start <= self._latest and self.count(start) >= count), None)

    def until(self, count: int, moment: Moment) -> Moment:
        # The count decreases only after the end of a range.
        lasts = sorted(last for _, last, _ in self._ranges if last >= moment)
        return next((last for last in lasts
                     if self.count(last + interval.RESOLUTION) < count), self._latest)


def starts(spans: Sequence[interval.Interval], duration: datetime.timedelta,
           window: interval.Interval) -> list[tuple[Moment, Moment]]:
    """Return the ranges (first, last) of starts at which one resource is free for `duration`.

    :param spans: the intervals in which the resource is taken.
    :param window: the interval that must contain the whole duration.
    """
    ranges = []
    free_from = window.start
    for span in [*sorted(spans), None]:
        free_until = window.end if span is None else min(span.start, window.end)
        if free_until - free_from >= duration:
            ranges.append((free_from, free_until - duration))
        if span is not None:
            free_from = max(free_from, span.end)
    return ranges


def openings(possible: Starts, least: int, most: int, first: Moment,
             limit: int) -> list[StartRange]:
    """Return the best StartRanges from `first` on, sorted by start, at most `limit`.

    Each range has more resources than the one before it, up to `most`. If there are more ranges
    than `limit`, the last one is the range with the most resources; a limit of 1 returns the first
    range. If there are fewer, later ranges with as many resources as the last one follow.
    """
    chosen: list[StartRange] = []
    after, wanted = first, least
    while wanted <= most and (moment := possible.next(wanted, after)) is not None:
        count = min(possible.count(moment), most)
        chosen.append(StartRange(moment, possible.until(count, moment), count))
        after, wanted = moment, count + 1
    if len(chosen) > limit:
        return [*chosen[:limit - 1], chosen[-1]] if limit > 1 else chosen[:1]
    while chosen and len(chosen) < limit:
        best = chosen[-1]
        again = possible.next(best.count, best.last + interval.RESOLUTION)
        if again is None:
            break
        chosen.append(StartRange(again, possible.until(best.count, again), best.count))
    return chosen
