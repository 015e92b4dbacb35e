# SPDX-License-Identifier: Apache-2.0
"""The present use of a limit by its owner, and what is left."""
import dataclasses
import datetime
import fractions

from climate.domain.limits import holdings
from climate.domain.limits import measures
from climate.domain.limits import resource_hours
from climate.domain.limits import rules
from climate.domain.limits import steps

Moment = datetime.datetime

#: The kinds of holdings that measures count.
KINDS = {
    rules.Measure.OPEN_LEASES: frozenset({holdings.Kind.LEASE, holdings.Kind.WAITING}),
    rules.Measure.WAITING_LEASES: frozenset({holdings.Kind.WAITING}),
    rules.Measure.HELD_OFFERS: frozenset({holdings.Kind.OFFER}),
}


@dataclasses.dataclass(frozen=True)
class LimitUse:
    """The use of a limit.

    :ivar bound: the maximum in the unit of the limit, a share of a pool in units; None: the limit
        restricts each lease alone, so that nothing is used.
    :ivar used: the use at the moment, or in the window, at which it is greatest from now on.
    :ivar until: the moment from which less is used; None: nothing is used, or it is not known.
    :ivar span: the (start, end) of the window, period or time with this use; None: there is none.
    """

    limit: rules.Limit
    bound: fractions.Fraction | None = None
    used: fractions.Fraction = fractions.Fraction(0)
    until: Moment | None = None
    span: tuple[Moment, Moment] | None = None

    @property
    def remaining(self) -> fractions.Fraction | None:
        """Return what is left, at least 0; None: the limit restricts each lease alone."""
        return None if self.bound is None else max(self.bound - self.used, fractions.Fraction(0))


def of(limit: rules.Limit, owned: holdings.Request) -> LimitUse:
    """Return the LimitUse of an owner now.

    :param owned: a Request without a lease; its `others` are the Holdings of the owner.
    """
    if limit.measure in KINDS:
        return _count(limit, owned)
    if limit.measure is rules.Measure.RESOURCE_HOURS:
        return _hours(limit, owned)
    if limit.measure in rules.OF_AMOUNTS:
        return _peak(limit, owned)
    return LimitUse(limit)


def _count(limit: rules.Limit, owned: holdings.Request) -> LimitUse:
    counted = [each for each in owned.others
               if each.kind in KINDS[limit.measure] and each.may_count(limit)]
    ends = [each.held_until or each.end for each in counted
            if each.kind is not holdings.Kind.WAITING]
    return LimitUse(limit, fractions.Fraction(limit.most or 0), fractions.Fraction(len(counted)),
                    min(ends, default=None))


def _peak(limit: rules.Limit, owned: holdings.Request) -> LimitUse:
    now = steps.micros(owned.now)
    present = [step for step in measures.steps_of(limit, owned)
               if step.end > now and step.after and steps.touches(step, limit.hours)]
    bound = measures.most_units(limit, owned)
    if not present:
        return LimitUse(limit, bound)
    peak = max(present, key=lambda step: (step.after, -step.start))
    end = peak.end
    for step in present:
        # The same amount may be held by other leases then.
        if step.start == end and step.after == peak.after:
            end = step.end
    span = steps.moment_of(peak.start), steps.moment_of(end)
    return LimitUse(limit, bound, fractions.Fraction(peak.after), span[1], span)


def _hours(limit: rules.Limit, owned: holdings.Request) -> LimitUse:
    bound = fractions.Fraction(limit.most or 0)
    held = measures.steps_of(limit, owned)
    fullest = resource_hours.fullest(limit, held, owned.now)
    if fullest is None:
        return LimitUse(limit, bound)
    span = steps.moment_of(fullest.start), steps.moment_of(fullest.end)
    used = fractions.Fraction(fullest.after, steps.HOUR)
    if limit.window is None:
        return LimitUse(limit, bound, used, span[1], span)
    # Less is used as soon as the first resource in the window begins to leave it.
    first = min((step.start for step in steps.within(held, limit.hours, limit.window)
                 if step.end > fullest.start and step.after), default=fullest.start)
    until = steps.moment_of(max(first, fullest.start)) + limit.window
    return LimitUse(limit, bound, used, until if used else None, span)
