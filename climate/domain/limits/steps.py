# SPDX-License-Identifier: Apache-2.0
"""The amount that an owner holds over time, before and after a request, as steps.

Moments are whole microseconds since 1970, because integers are exact and fast.
"""
import bisect
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import datetime
import itertools

from climate.domain import interval
from climate.domain import peak_hours

Moment = datetime.datetime

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
HOUR = 3600 * 10 ** 6
# After this time, the hours of the week and the changes of clocks have occurred in each position to
# a window that moves.
_ALL_POSITIONS = datetime.timedelta(days=800)


def micros(moment: Moment) -> int:
    """Return a moment as microseconds since 1970."""
    return (moment - _EPOCH) // interval.RESOLUTION


def moment_of(count: int) -> Moment:
    """Return the moment of a number of microseconds since 1970."""
    return _EPOCH + count * interval.RESOLUTION


@dataclasses.dataclass(frozen=True)
class HeldStep:
    """A span of time with constant amounts before and after a request."""

    start: int
    end: int
    before: int
    after: int

    @property
    def grows(self) -> bool:
        return self.after > self.before


@dataclasses.dataclass(frozen=True)
class Amount:
    """An amount that is held during a span of time, before or after the request, or both."""

    start: Moment
    end: Moment
    before: int
    after: int


def of(amounts: Iterable[Amount]) -> list[HeldStep]:
    """Return the sums of amounts as Steps, in order. Times without any amount have no step."""
    changes: dict[int, list[int]] = {}
    for amount in amounts:
        if amount.start >= amount.end:
            continue
        for moment, sign in ((amount.start, 1), (amount.end, -1)):
            change = changes.setdefault(micros(moment), [0, 0])
            change[0] += sign * amount.before
            change[1] += sign * amount.after
    steps, before, after = [], 0, 0
    for start, end in itertools.pairwise(sorted(changes)):
        before += changes[start][0]
        after += changes[start][1]
        if before or after:
            steps.append(HeldStep(start, end, before, after))
    return steps


def within(steps: Iterable[HeldStep], hours: peak_hours.PeakHours | None,
           length: datetime.timedelta) -> list[HeldStep]:
    """Return the parts of Steps that are within hours of the week; without `hours`, all.

    Of a step of years, only the beginning and the end are returned, because what lies between them
    repeats itself for every window of the `length`.
    """
    if hours is None:
        return list(steps)
    return [dataclasses.replace(step, start=micros(start), end=micros(end))
            for step in steps for first, last in _ends(step, length + _ALL_POSITIONS)
            for start, end, _ in hours.spans(first, last)]


def touches(step: HeldStep, hours: peak_hours.PeakHours | None) -> bool:
    """Return whether a moment of a step is within hours of the week."""
    if hours is None:
        return True
    first, last = next(_ends(step, _ALL_POSITIONS))
    return next(hours.spans(first, last), None) is not None


def _ends(step: HeldStep, length: datetime.timedelta) -> Iterator[tuple[Moment, Moment]]:
    start, end = moment_of(step.start), moment_of(step.end)
    if end - start <= 2 * length:
        yield start, end
    else:
        yield start, start + length
        yield end - length, end


class Integral:
    """The amount-time of Steps between two moments, in units times microseconds."""

    def __init__(self, steps: Sequence[HeldStep]):
        self._starts = [step.start for step in steps]
        self._steps = steps
        self._sums = [(0, 0)]
        for step in steps:
            length = step.end - step.start
            before, after = self._sums[-1]
            self._sums.append((before + length * step.before, after + length * step.after))

    def between(self, start: int, end: int) -> tuple[int, int]:
        """Return the amount-times (before, after) between two moments."""
        (before, after), (before_end, after_end) = self._until(start), self._until(end)
        return before_end - before, after_end - after

    def _until(self, moment: int) -> tuple[int, int]:
        place = bisect.bisect_right(self._starts, moment)
        if not place:
            return 0, 0
        step = self._steps[place - 1]
        before, after = self._sums[place - 1]
        length = min(moment, step.end) - step.start
        return before + length * step.before, after + length * step.after
