# SPDX-License-Identifier: Apache-2.0
"""The request that a limit would allow instead of one that breaks it."""
import bisect
import dataclasses
import datetime
import math

from climate.domain import interval
from climate.domain import latest_end
from climate.domain.limits import holdings
from climate.domain.limits import measures
from climate.domain.limits import rules

Moment = datetime.datetime

_SECOND = datetime.timedelta(seconds=1)
# Each start needs an evaluation of all leases of the owner, while the request holds locks.
_MOST_STARTS = 100


@dataclasses.dataclass(frozen=True)
class Fit:
    """The nearest request that a limit allows. A field is None if it is not known.

    :ivar latest_end: the latest end, in full seconds, that the limit allows.
    :ivar earliest_start: the earliest start that the limit allows.
    :ivar latest_start: the latest start that the limit allows.
    :ivar units: the number of units that the limit allows the lease at the moment of the breach.
    """

    latest_end: Moment | None = None
    earliest_start: Moment | None = None
    latest_start: Moment | None = None
    units: int | None = None


@dataclasses.dataclass(frozen=True)
class Refused:
    """A Request that limits refuse, and the resources that it adds.

    :ivar added: the last of the HeldResources in ``request.after``.
    """

    request: holdings.Request
    added: tuple[holdings.HeldResource, ...]

    @property
    def alone(self) -> holdings.Request:
        """The Request of an owner who holds nothing else."""
        return dataclasses.replace(self.request, others=(), before=None)


def addable_units(limit: rules.Limit, request: holdings.Request,
                  added: tuple[holdings.HeldResource, ...]) -> int:
    """Return the greatest number of units that a request may add of the resources that count.

    :param added: the last of the HeldResources in ``request.after``, with equal times.
    """
    after, counted = request.after, [held for held in added if limit.counts(
        held.resource_type, held.pool, held.properties)]
    if after is None or not counted or limit.measure not in rules.OF_AMOUNTS:
        return 0
    rest = after.resources[:len(after.resources) - len(added)]

    def breaks(units: int) -> bool:
        part = dataclasses.replace(counted[0], copies=units, units={limit.unit: 1})
        return measures.breach(limit, dataclasses.replace(request, after=dataclasses.replace(
            after, resources=(*rest, part)))) is not None
    return max(0, bisect.bisect_left(
        range(sum(held.amount(limit.unit) for held in counted) + 1), True, key=breaks) - 1)


def fit(breach: measures.Breach, request: holdings.Request) -> Fit:
    """Return what the limit of a Breach allows instead of the request."""
    after, limit = request.after, breach.limit
    if after is None:
        return Fit()
    length = limit.duration or datetime.timedelta(0)
    match limit.measure:
        case rules.Measure.RESOURCE_HOURS:
            return Fit(latest_end=_latest_end(breach, request, after))
        case rules.Measure.RESOURCES | rules.Measure.POOL_SHARE:
            return Fit(units=_units(breach, request),
                       earliest_start=_when_less(breach, request))
        case rules.Measure.LEASE_LENGTH if length:
            return Fit(latest_end=after.start + length)
        case rules.Measure.AHEAD:
            return Fit(latest_start=_whole_second(request.now + length))
        case rules.Measure.NOTICE:
            return Fit(earliest_start=_whole_second(request.now + length, up=True))
        case rules.Measure.PAUSE if breach.span is not None:
            return _after_pause(breach, request, after, breach.span)
    return Fit()


def _units(breach: measures.Breach, request: holdings.Request) -> int:
    """Return the number of units that are left, with those that the lease has already.

    It is 0 if none are left, because the lease has the others without asking for them.
    """
    left, before = math.floor(breach.remaining), request.before_of(breach.limit)
    if before is None or breach.span is None or left <= 0:
        return left
    moment = breach.span[0]
    return left + sum(held.amount(breach.limit.unit) for held in before.counted(breach.limit)
                      if held.start <= moment < held.end)


def _after_pause(breach: measures.Breach, request: holdings.Request, after: holdings.Holding,
                 span: tuple[Moment, Moment]) -> Fit:
    """Return the start after a pause, or the end before one, unless it is too near a third lease.

    A lease that overlaps an earlier one may also end together with it.

    :param span: the (start, end) of the other lease.
    """
    length = breach.limit.duration or datetime.timedelta(0)
    is_later = after.start >= span[0]
    end = _after_start(_whole_second(span[1] if is_later else span[0] - length), after)
    if end is not None and not _fits(breach, request, ending(after, end)):
        end = None
    if not is_later or (request.before is not None and request.before.start <= request.now):
        return Fit(latest_end=end)
    start = _whole_second(span[1] + length, up=True)
    return Fit(latest_end=end,
               earliest_start=start if _fits(breach, request, moved(after, start)) else None)


def _fits(breach: measures.Breach, request: holdings.Request, after: holdings.Holding) -> bool:
    """Return whether the limit of a Breach allows another Holding after the request."""
    return measures.breach(breach.limit, dataclasses.replace(request, after=after)) is None


def _latest_end(breach: measures.Breach, request: holdings.Request, after: holdings.Holding
                ) -> Moment | None:
    start = max(after.start, request.now)

    def fits(moment: Moment) -> bool:
        return _fits(breach, request, ending(after, moment))
    if fits(after.end):
        return None
    return _after_start(latest_end.last_fit(fits, start, after.end), after)


def _after_start(end: Moment, after: holdings.Holding) -> Moment | None:
    """Return an earlier end of a lease, or None if the lease would not last a second until it."""
    return end if after.start + _SECOND <= end < after.end else None


def ending(holding: holdings.Holding, end: Moment) -> holdings.Holding:
    """Return a Holding with an earlier end."""
    return dataclasses.replace(holding, end=end, resources=tuple(
        dataclasses.replace(held, end=min(held.end, end)) for held in holding.resources
        if held.start < end))


def moved(holding: holdings.Holding, start: Moment) -> holdings.Holding:
    """Return a Holding at another time."""
    by = start - holding.start
    return dataclasses.replace(holding, start=start, end=holding.end + by, resources=tuple(
        dataclasses.replace(held, start=held.start + by, end=held.end + by)
        for held in holding.resources))


def _when_less(breach: measures.Breach, request: holdings.Request) -> Moment | None:
    """Return the first later start at which the whole request is within the limit, or None.

    The candidates are the first ends of what the owner holds, as the amount only falls there.
    """
    after = request.after
    if after is None or request.before is not None or alone(breach, request):
        return None
    ends = {held.end for each in request.others_of(breach.limit)
            for held in each.counted(breach.limit) if held.end > after.start}
    for end in sorted(ends)[:_MOST_STARTS]:
        start = _whole_second(end, up=True)
        if _fits(breach, request, moved(after, start)):
            return start
    return None


def alone(breach: measures.Breach, request: holdings.Request) -> bool:
    """Return whether the lease breaks the limit even if its owner has no other leases."""
    return measures.breach(breach.limit, dataclasses.replace(
        request, others=(), before=None)) is not None


def _whole_second(moment: Moment, up: bool = False) -> Moment:
    if up:
        return interval.rounded_up(moment, _SECOND)
    return moment.replace(microsecond=0)
