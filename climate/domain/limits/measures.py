# SPDX-License-Identifier: Apache-2.0
"""The evaluation of limits: whether a request breaks a limit, at any moment.

A request breaks a limit only if a limit is exceeded after it, and is exceeded by more than before.
So a lease can always shrink or end earlier, and a lower limit breaks nothing that is booked.
"""
from collections.abc import Callable
import dataclasses
import datetime
import fractions

from climate.domain.limits import holdings
from climate.domain.limits import pauses
from climate.domain.limits import resource_hours
from climate.domain.limits import rules
from climate.domain.limits import steps

Moment = datetime.datetime
Number = int | fractions.Fraction


@dataclasses.dataclass(frozen=True)
class Breach:
    """A limit that a request breaks.

    Amounts are in the unit of the measure: hours of units, units, leases, offers or seconds.

    :ivar bound: the maximum or minimum. A share of a pool is in units, not in percent.
    :ivar used: the amount without the request, where it would be exceeded most.
    :ivar value: the amount with the request.
    :ivar span: the span of time in which the limit is exceeded most, such as a window.
    :ivar other: the other lease between which and this one the pause is too short.
    """

    limit: rules.Limit
    bound: Number = 0
    used: Number = 0
    value: Number = 0
    span: tuple[Moment, Moment] | None = None
    other: holdings.Holding | None = None

    @property
    def remaining(self) -> Number:
        """Return the amount that is left without the request, at least 0."""
        return max(self.bound - self.used, 0)


def breach(limit: rules.Limit, request: holdings.Request) -> Breach | None:
    """Return the Breach if a request breaks a limit that applies to it, or None."""
    if request.after is None:
        return None
    return _MEASURES[limit.measure](limit, request)


def breaches(limits: tuple[rules.Limit, ...], request: holdings.Request) -> list[Breach]:
    """Return the Breaches of a request, in the order of the limits."""
    broken = (breach(limit, request) for limit in limits)
    return [each for each in broken if each is not None]


def steps_of(limit: rules.Limit, request: holdings.Request) -> list[steps.HeldStep]:
    """Return what the owner holds over time of the resources that a limit counts."""
    amounts = [steps.Amount(held.start, held.end, held.amount(limit.unit), held.amount(limit.unit))
               for each in request.others_of(limit) for held in each.counted(limit)]
    amounts += [steps.Amount(held.start, held.end, held.amount(limit.unit), 0)
                for held in _counted(request.before_of(limit), limit)]
    amounts += [steps.Amount(held.start, held.end, 0, held.amount(limit.unit))
                for held in _counted(request.after, limit)]
    return steps.of(amounts)


def _counted(holding: holdings.Holding | None, limit: rules.Limit
             ) -> tuple[holdings.HeldResource, ...]:
    return () if holding is None else holding.counted(limit)


def most_units(limit: rules.Limit, request: holdings.Request) -> fractions.Fraction:
    """Return the maximum of a limit of amounts in units, also of a share of a pool."""
    most = fractions.Fraction(limit.most or 0)
    if limit.measure is rules.Measure.POOL_SHARE:
        return most * holdings.capacity(limit, request.parts) / 100
    return most


def _resource_hours(limit: rules.Limit, request: holdings.Request) -> Breach | None:
    worst = resource_hours.worst_growth(limit, steps_of(limit, request))
    if worst is None:
        return None
    return Breach(limit, fractions.Fraction(limit.most or 0),
                  fractions.Fraction(worst.before, steps.HOUR),
                  fractions.Fraction(worst.after, steps.HOUR),
                  (steps.moment_of(worst.start), steps.moment_of(worst.end)))


def _resources(limit: rules.Limit, request: holdings.Request) -> Breach | None:
    most = most_units(limit, request)
    above = [step for step in steps_of(limit, request)
             if step.grows and step.after > most and steps.touches(step, limit.hours)]
    if not above:
        return None
    worst = max(above, key=lambda step: (step.before, step.after, -step.start))
    return Breach(limit, most, worst.before, worst.after,
                  (steps.moment_of(worst.start), steps.moment_of(worst.end)))


def _counted_kinds(*kinds: holdings.Kind) -> Callable[..., Breach | None]:
    """Return the evaluation of a measure that counts the holdings of some kinds."""
    def evaluate(limit: rules.Limit, request: holdings.Request) -> Breach | None:
        def number(holding: holdings.Holding | None) -> int:
            return int(holding is not None and holding.kind in kinds
                       and holding.may_count(limit))
        used = sum(map(number, request.others_of(limit)))
        before, after = used + number(request.before_of(limit)), used + number(request.after)
        most = fractions.Fraction(limit.most or 0)
        if after <= most or after <= before:
            return None
        return Breach(limit, most, before, after)
    return evaluate


def _lease_length(limit: rules.Limit, request: holdings.Request) -> Breach | None:
    before, after = _counted_before(limit, request), request.after
    if after is None or not request.may_count(limit):
        return None
    length, longest = after.end - after.start, _duration(limit)
    if length <= max(longest, before.end - before.start if before else longest):
        return None
    return Breach(limit, _seconds(longest), 0, _seconds(length))


def _ahead(limit: rules.Limit, request: holdings.Request) -> Breach | None:
    before, after = _counted_before(limit, request), request.after
    if after is None or not _moves_start(limit, request):
        return None
    ahead, longest = _latest_start(after) - request.now, _duration(limit)
    if ahead <= longest or (
            before is not None and _latest_start(after) <= _latest_start(before)):
        return None
    return Breach(limit, _seconds(longest), 0, _seconds(ahead))


def _notice(limit: rules.Limit, request: holdings.Request) -> Breach | None:
    before, after = _counted_before(limit, request), request.after
    if after is None or not _moves_start(limit, request):
        return None
    notice, least = max(after.start - request.now, datetime.timedelta(0)), _duration(limit)
    if notice >= least or (before is not None and after.start >= before.start):
        return None
    return Breach(limit, _seconds(least), 0, _seconds(notice))


def _moves_start(limit: rules.Limit, request: holdings.Request) -> bool:
    """Return whether a request sets a start of a lease that a limit counts.

    A lease that gets its first resources that count is as a new lease.
    """
    before, after = _counted_before(limit, request), request.after
    return (after is not None and not request.is_attempt and request.may_count(limit)
            and (before is None or before.start != after.start))


def _counted_before(limit: rules.Limit, request: holdings.Request) -> holdings.Holding | None:
    """Return the Holding before the request, or None if the limit does not count it.

    A lease that waited is as a new one, because it is not known what it would get.
    """
    before = None if request.is_attempt else request.before_of(limit)
    return before if before is not None and before.may_count(limit) else None


def _latest_start(holding: holdings.Holding) -> Moment:
    return holding.start if holding.latest_start is None else holding.latest_start


def _pause(limit: rules.Limit, request: holdings.Request) -> Breach | None:
    chain = pauses.shortest(limit, request)
    if chain is None:
        return None
    return Breach(limit, _seconds(_duration(limit)), 0, _seconds(chain.pause), chain.span,
                  chain.other)


def _roles(limit: rules.Limit, request: holdings.Request) -> Breach | None:
    if request.roles is None or request.is_attempt or limit.roles & request.roles:
        return None
    before, after = request.before_of(limit), request.after
    if before is None and after is not None and not after.resources and any(
            limit.counts(held.resource_type, held.pool, held.properties)
            for held in request.candidates):
        return Breach(limit)
    if any(step.grows for step in steps_of(limit, dataclasses.replace(request, others=()))):
        return Breach(limit)
    return None


def _duration(limit: rules.Limit) -> datetime.timedelta:
    return limit.duration or datetime.timedelta(0)


def _seconds(length: datetime.timedelta) -> fractions.Fraction:
    return fractions.Fraction(length // datetime.timedelta(microseconds=1), 10 ** 6)


_MEASURES: dict[rules.Measure, Callable[[rules.Limit, holdings.Request], Breach | None]] = {
    rules.Measure.RESOURCE_HOURS: _resource_hours,
    rules.Measure.RESOURCES: _resources,
    rules.Measure.POOL_SHARE: _resources,
    rules.Measure.OPEN_LEASES: _counted_kinds(holdings.Kind.LEASE, holdings.Kind.WAITING),
    rules.Measure.WAITING_LEASES: _counted_kinds(holdings.Kind.WAITING),
    rules.Measure.HELD_OFFERS: _counted_kinds(holdings.Kind.OFFER),
    rules.Measure.LEASE_LENGTH: _lease_length,
    rules.Measure.AHEAD: _ahead,
    rules.Measure.NOTICE: _notice,
    rules.Measure.PAUSE: _pause,
    rules.Measure.ROLES: _roles,
}
