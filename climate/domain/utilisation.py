# SPDX-License-Identifier: Apache-2.0
"""The utilisation of pools by the hour, and its sums over longer steps of time."""
import collections
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import itertools

from climate.domain import usage_figures as usage

Moment = datetime.datetime
CAPACITY, ALLOCATED, OCCUPIED = 'capacity', 'allocated', 'occupied'
#: The kinds of absences: an enrolled resource cannot be leased, or sleeps.
OUT_OF_ORDER, ASLEEP = ABSENCES = ('out_of_order', 'asleep')
#: Two causes of OUT_OF_ORDER, which are recorded apart because they end at different moments: the
#: resource is not well, or it has maintenance.
SICK, MAINTAINED = CAUSES = ('sick', 'maintained')
#: The figures of resources, in the order of all responses.
FIGURES = (CAPACITY, ALLOCATED, OCCUPIED, OUT_OF_ORDER, ASLEEP)
#: The figures of units.
UNIT_FIGURES = (CAPACITY, ALLOCATED, OCCUPIED)
HOUR = usage.HOUR_SECONDS

_Weighted = tuple[int, int, int]


@dataclasses.dataclass(frozen=True)
class UtilisationQuery:
    """A query for the utilisation between two full hours, in steps of full hours.

    :ivar pool: None: all pools.
    """

    start: Moment
    end: Moment
    step_seconds: int
    pool: str | None = None


@dataclasses.dataclass(frozen=True)
class Enrolment:
    """A resource while it was enrolled.

    :ivar amount: its capacity, as ``usage_figures.as_text`` returns it.
    :ivar enrolled: the span from its enrolment to its withdrawal.
    :ivar absences: pairs (one of ABSENCES, span).
    """

    resource_id: int
    pool: str
    amount: str
    enrolled: usage.Span
    absences: tuple[tuple[str, usage.Span], ...] = ()


@dataclasses.dataclass(frozen=True)
class PoolStep:
    """The capacity and the use of a pool in a step of time, such as an hour.

    :ivar start: the first second of the step.
    :ivar seconds: {figure: resource-seconds}.
    :ivar units: {class: {figure: unit-seconds}}.
    """

    pool: str
    start: int
    seconds: Mapping[str, int]
    units: Mapping[str, Mapping[str, int]]


@dataclasses.dataclass(frozen=True)
class UtilisationAnswer:
    """The answer to a UtilisationQuery: the steps of each pool, in order.

    :ivar counted_to: the moment up to which OCCUPIED is counted.
    """

    start: Moment
    end: Moment
    step_seconds: int
    counted_to: Moment
    steps: tuple[PoolStep, ...]


def by_hour(enrolments: Iterable[Enrolment], shares: Iterable[usage.UsageShare], start: int,
            end: int) -> list[PoolStep]:
    """Return the PoolSteps of all hours between two full hours, sorted by pool and hour.

    A resource counts as allocated, or occupied, while at least a part of it is.
    """
    pools: dict[str, _Pool] = collections.defaultdict(_Pool)
    for enrolment in enrolments:
        pools[enrolment.pool].enrol(enrolment)
    for share in shares:
        pools[share.pool].share(share)
    return [step for name, pool in sorted(pools.items())
            for step in pool.hours(name, start, end)]


def summed(hours: Iterable[PoolStep], start: int, step_seconds: int) -> list[PoolStep]:
    """Add up hours to steps from `start` on; return the steps, sorted by pool and time."""
    steps: dict[tuple[str, int], tuple[dict[str, int], dict[str, dict[str, int]]]] = {}
    for hour in hours:
        begin = hour.start - (hour.start - start) % step_seconds
        seconds, units = steps.setdefault((hour.pool, begin), (dict.fromkeys(FIGURES, 0), {}))
        for figure, count in hour.seconds.items():
            seconds[figure] += count
        for name, counts in hour.units.items():
            of_class = units.setdefault(name, dict.fromkeys(UNIT_FIGURES, 0))
            for figure, count in counts.items():
                of_class[figure] += count
    return [PoolStep(pool, begin, seconds, dict(sorted(units.items())))
            for (pool, begin), (seconds, units) in sorted(steps.items())]


class _Pool:
    """A collector of the spans of one pool."""

    def __init__(self) -> None:
        self._of_resources: dict[tuple[str, int], list[usage.Span]] = collections.defaultdict(list)
        self._units: dict[tuple[str, str], list[_Weighted]] = collections.defaultdict(list)

    def enrol(self, enrolment: Enrolment) -> None:
        self._use(CAPACITY, enrolment.resource_id, enrolment.enrolled, enrolment.amount, 1)
        for kind, (begin, until) in enrolment.absences:
            first, last = enrolment.enrolled
            if max(begin, first) < min(until, last):
                self._of_resources[kind, enrolment.resource_id].append(
                    (max(begin, first), min(until, last)))

    def share(self, share: usage.UsageShare) -> None:
        self._use(ALLOCATED, share.resource_id, share.allocated, share.amount, share.copies)
        if share.occupied:
            self._use(OCCUPIED, share.resource_id, share.occupied, share.amount, share.copies)

    def _use(self, figure: str, resource_id: int, span: usage.Span, amount: str,
             copies: int) -> None:
        self._of_resources[figure, resource_id].append(span)
        for name, count in usage.units_of(amount).items():
            self._units[name, figure].append((*span, count * copies))

    def hours(self, pool: str, start: int, end: int) -> list[PoolStep]:
        by_figure: dict[str, list[_Weighted]] = collections.defaultdict(list)
        for (figure, _), spans in self._of_resources.items():
            by_figure[figure] += [(*span, 1) for span in _union(spans)]
        seconds = {figure: _spread(by_figure[figure], start, end) for figure in FIGURES}
        units = {key: _spread(spans, start, end) for key, spans in self._units.items()}
        names = sorted({name for name, _ in units})
        return [PoolStep(
            pool, start + number * HOUR, {figure: seconds[figure][number] for figure in FIGURES},
            {name: {figure: units[name, figure][number] if (name, figure) in units else 0
                    for figure in UNIT_FIGURES} for name in names})
                for number in range((end - start) // HOUR)]


def _union(spans: Iterable[usage.Span]) -> list[usage.Span]:
    """Merge overlapping spans; return the merged spans in order."""
    union: list[usage.Span] = []
    for begin, until in sorted(spans):
        if union and begin <= union[-1][1]:
            union[-1] = union[-1][0], max(union[-1][1], until)
        else:
            union.append((begin, until))
    return union


def _spread(spans: Iterable[_Weighted], start: int, end: int) -> Sequence[int]:
    """Return the weighted seconds of spans in each hour between two full hours.

    The computing time does not depend on the number of hours that a span covers.
    """
    count = (end - start) // HOUR
    # `changes` rounds each span to full hours; `parts` corrects its first and last hour.
    changes, parts = [0] * (count + 1), [0] * (count + 1)
    for span_begin, span_until, weight in spans:
        begin, until = max(span_begin, start) - start, min(span_until, end) - start
        if begin >= until:
            continue
        first, last = begin // HOUR, until // HOUR
        changes[first] += weight * HOUR
        changes[last] -= weight * HOUR
        parts[first] -= weight * (begin % HOUR)
        parts[last] += weight * (until % HOUR)
    return [full + part for full, part in zip(
        itertools.accumulate(changes[:count]), parts[:count], strict=True)]
