# SPDX-License-Identifier: Apache-2.0
"""The resource-hours in every rolling window, or in every calendar period."""
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import datetime
import fractions
import itertools
import math

from climate.domain import interval
from climate.domain.limits import rules
from climate.domain.limits import steps

Moment = datetime.datetime

# In this time, periods of every length occur.
_ALL_LENGTHS = datetime.timedelta(days=9 * 366)
# The end of the last period. No lease lasts longer.
_LAST = datetime.datetime(datetime.MAXYEAR, 12, 31, tzinfo=datetime.UTC)
_MONTHS = {rules.Period.MONTH: 1, rules.Period.QUARTER: 3, rules.Period.YEAR: 12}


@dataclasses.dataclass(frozen=True)
class WindowUse:
    """The amount-time in a window before and after a request, in units times microseconds."""

    start: int
    end: int
    before: int
    after: int


def worst_growth(limit: rules.Limit, held: list[steps.HeldStep]) -> WindowUse | None:
    """Return a window or period in which a request exceeds the limit more than before, or None.

    Of several, one with the greatest use before the request is returned.
    """
    # Uses are integers, so the fraction does not matter, and integers are faster.
    most = math.floor(fractions.Fraction(limit.most or 0) * steps.HOUR)
    if not any(step.grows for step in held) or sum(
            step.after * (step.end - step.start) for step in held) <= most:
        # All together is not above the maximum, so that no window is.
        return None
    if limit.window is None:
        uses = [use for use in _period_uses(limit, held)
                if use.after > use.before and use.after > most]
    else:
        uses = list(_growing_windows(limit.window, _counted(limit, held), most))
    return max(uses, key=lambda use: (use.before, use.after, -use.start), default=None)


def fullest(limit: rules.Limit, held: list[steps.HeldStep], now: Moment) -> WindowUse | None:
    """Return the window with the greatest use that ends after `now`, or the present period.

    None means that nothing is held.
    """
    if limit.window is None:
        start, end = period_of(limit, now)
        integral = steps.Integral(_counted(limit, held))
        return WindowUse(steps.micros(start), steps.micros(end), *integral.between(
            steps.micros(start), steps.micros(end)))
    length = limit.window // interval.RESOLUTION
    counted = _counted(limit, held)
    integral = steps.Integral(counted)
    first = steps.micros(now) - length
    starts = [first, *(moment for moment in _candidates(counted, length) if moment > first)]
    uses = [WindowUse(start, start + length, *integral.between(start, start + length))
            for start in starts]
    return max(uses, key=lambda use: (use.after, -use.start)) if counted else None


def _counted(limit: rules.Limit, held: list[steps.HeldStep]) -> list[steps.HeldStep]:
    return steps.within(held, limit.hours, limit.window or _ALL_LENGTHS)


def _candidates(held: Iterable[steps.HeldStep], length: int) -> list[int]:
    """Return the starts of windows between which their use is a linear function of the start."""
    bounds = {bound for step in held for bound in (step.start, step.end)}
    return sorted(bounds | {bound - length for bound in bounds})


def _growing_windows(window: datetime.timedelta, held: list[steps.HeldStep],
                     most: int) -> Iterator[WindowUse]:
    """Yield windows in which the use grows and is above the maximum."""
    changed = [step for step in held if step.after != step.before]
    if not changed:
        return
    length = window // interval.RESOLUTION
    integral = steps.Integral(held)
    first, last = changed[0].start - length, changed[-1].end
    starts = [start for start in _candidates(held, length) if first <= start <= last]
    uses = [WindowUse(start, start + length, *integral.between(start, start + length))
            for start in starts]
    for use in uses:
        if use.after > use.before and use.after > most:
            yield use
    for left, right in itertools.pairwise(uses):
        crossing = _crossing(left, right, most)
        if crossing is not None:
            use = WindowUse(crossing, crossing + length,
                            *integral.between(crossing, crossing + length))
            # The exact moment may lie between two microseconds.
            if use.after > use.before and use.after > most:
                yield use


def _crossing(left: WindowUse, right: WindowUse, most: int) -> int | None:
    """Return a start between two windows at which the use grows and is above the maximum.

    None is returned if there is none, or if one of the two windows is such a window itself.
    """
    if left.after <= most and right.after <= most:
        return None
    above = left.after - most, right.after - most
    growth = left.after - left.before, right.after - right.before
    if (above[0] > 0 and growth[0] > 0) or (above[1] > 0 and growth[1] > 0):
        return None
    if max(above) <= 0 or max(growth) <= 0:
        return None
    # One function falls to 0 and the other rises from 0; both must be positive between.
    falling, rising = (above, growth) if above[0] > 0 else (growth, above)
    ends_at = fractions.Fraction(falling[0]) / fractions.Fraction(falling[0] - falling[1])
    begins_at = fractions.Fraction(-rising[0]) / fractions.Fraction(rising[1] - rising[0])
    if begins_at >= ends_at:
        return None
    return left.start + int((begins_at + ends_at) / 2 * (right.start - left.start))


def _period_uses(limit: rules.Limit, held: list[steps.HeldStep]) -> Iterator[WindowUse]:
    """Yield the use of the periods in which the held amount changes, one of each length."""
    integral = steps.Integral(_counted(limit, held))
    seen = set()
    for step in held:
        if step.after == step.before:
            continue
        for period in _periods_in(limit, step):
            if period not in seen:
                seen.add(period)
                start, end = (steps.micros(moment) for moment in period)
                yield WindowUse(start, end, *integral.between(start, end))


def _periods_in(limit: rules.Limit, step: steps.HeldStep) -> Iterator[tuple[Moment, Moment]]:
    """Yield the periods that a step touches; of very many, those at its beginning and its end."""
    start, end = steps.moment_of(step.start), steps.moment_of(step.end)
    if end - start <= 2 * _ALL_LENGTHS:
        spans = [(start, end)]
    else:
        spans = [(start, start + _ALL_LENGTHS), (end - _ALL_LENGTHS, end)]
    for first, last in spans:
        period = period_of(limit, first)
        while period[0] < last:
            yield period
            period = period_of(limit, period[1])


def period_of(limit: rules.Limit, moment: Moment) -> tuple[Moment, Moment]:
    """Return the (start, end) of the calendar period of a limit that contains a moment."""
    zone = limit.zone or datetime.UTC
    months = _MONTHS[limit.period or rules.Period.MONTH]
    local = moment.astimezone(zone)
    number = local.year * 12 + (local.month - 1) // months * months
    start, end = _first_moment(number, zone), _first_moment(number + months, zone)
    if end <= moment:
        # The clocks of the zone skip midnight, or repeat the hour before it.
        return end, _first_moment(number + 2 * months, zone)
    return start, end


def _first_moment(number: int, zone: datetime.tzinfo) -> Moment:
    """Return the first moment of a month in a time zone.

    :param number: 12 times the year plus the month, counted from 0.
    """
    if number // 12 > datetime.MAXYEAR - 1:
        return _LAST
    return datetime.datetime(number // 12, number % 12 + 1, 1,
                             tzinfo=zone).astimezone(datetime.UTC)
