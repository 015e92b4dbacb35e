# SPDX-License-Identifier: Apache-2.0
"""When so many of the same resources are free for a whole span of time, and which."""
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
from typing import Protocol

from climate.domain import interval

Moment = datetime.datetime
#: {resource: when it is taken}, in any order; the spans may overlap.
Taken = Mapping[int, Sequence[interval.Interval]]


@dataclasses.dataclass(frozen=True)
class Opening:
    """From `start` until `last` (both belong to it) a span may begin on `count` resources."""

    start: Moment
    last: Moment
    count: int


class Starts(Protocol):
    """At which moments a span may start, and on how many resources."""

    def count(self, moment: Moment) -> int:
        """On how many resources it may start then."""

    def next(self, count: int, after: Moment) -> Moment | None:
        """The first moment, `after` or later, at which it may start on so many; None for never."""

    def until(self, count: int, moment: Moment) -> Moment:
        """How long, from `moment` on, it may start on so many: the last such moment.

        It may start on so many at `moment`.
        """


class Calendar:
    """The plain Starts, for spans of `duration` that lie in `window`.

    Each resource is free in the gaps between what takes it. A gap of at least the duration serves
    any start from its beginning to so long before its end; a moment serves as many resources as
    there are such ranges around it.
    """

    def __init__(self, taken: Taken, duration: datetime.timedelta, window: interval.Interval):
        self._ranges = [(first, last, resource) for resource, spans in taken.items()
                        for first, last in starts(spans, duration, window)]
        self._latest = window.end - duration

    def free(self, moment: Moment) -> list[int]:
        """The resources on which it may start then, in the order in which they were given."""
        return [resource for first, last, resource in self._ranges if first <= moment <= last]

    def count(self, moment: Moment) -> int:
        return len(self.free(moment))

    def next(self, count: int, after: Moment) -> Moment | None:
        # There are more of them than before only where a range begins.
        moments = [after, *sorted(first for first, _, _ in self._ranges if first > after)]
        return next((each for each in moments
                     if each <= self._latest and self.count(each) >= count), None)

    def until(self, count: int, moment: Moment) -> Moment:
        # There are fewer of them only after the end of a range.
        lasts = sorted(last for _, last, _ in self._ranges if last >= moment)
        return next((each for each in lasts
                     if self.count(each + interval.RESOLUTION) < count), self._latest)


def starts(spans: Sequence[interval.Interval], duration: datetime.timedelta,
           window: interval.Interval) -> list[tuple[Moment, Moment]]:
    """The ranges (first, last) of the moments at which one resource is free for `duration`.

    :param spans: when it is taken.
    :param window: the whole duration lies in it.
    """
    found = []
    free_from = window.start
    for each in [*sorted(spans), None]:
        free_until = window.end if each is None else min(each.start, window.end)
        if free_until - free_from >= duration:
            found.append((free_from, free_until - duration))
        if each is not None:
            free_from = max(free_from, each.end)
    return found


def openings(found: Starts, least: int, most: int, first: Moment, limit: int) -> list[Opening]:
    """The best Openings from `first` on, by their start; `limit` at most.

    Whoever waits longer gets more: each has more resources than those before it, up to `most`.
    Where these are too many, the one with the most is the last; a single one is the first. Where
    they are too few, the next ones follow that have as many as the last.
    """
    chosen: list[Opening] = []
    after, wanted = first, least
    while wanted <= most and (moment := found.next(wanted, after)) is not None:
        count = min(found.count(moment), most)
        chosen.append(Opening(moment, found.until(count, moment), count))
        after, wanted = moment, count + 1
    if len(chosen) > limit:
        return [*chosen[:limit - 1], chosen[-1]] if limit > 1 else chosen[:1]
    while chosen and len(chosen) < limit:
        best = chosen[-1]
        again = found.next(best.count, best.last + interval.RESOLUTION)
        if again is None:
            break
        chosen.append(Opening(again, found.until(best.count, again), best.count))
    return chosen
