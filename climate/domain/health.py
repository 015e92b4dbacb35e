# SPDX-License-Identifier: Apache-2.0
"""The health of a resource, and the rules by which Climate believes a change of it."""
from collections.abc import Iterable
import dataclasses
import datetime

from climate.domain import interval

Moment = datetime.datetime

#: The states, as responses show them. Only a resource that is well gets new leases.
WELL = 'well'
#: A source of health reports that the resource does not work.
SICK = 'sick'
#: Owners of leases swapped the resource for another one, and their reports were confirmed.
QUARANTINED = 'quarantined'
#: An operator took the resource out of service.
OUT_OF_ORDER = 'out_of_order'
STATES = (WELL, SICK, QUARANTINED, OUT_OF_ORDER)
#: The sources of the states that people cause.
OPERATOR, OWNER = 'operator', 'owner'


@dataclasses.dataclass(frozen=True)
class HealthFinding:
    """The report of a source of health that a resource does not work. `source` is its name."""

    source: str
    reason: str


@dataclasses.dataclass(frozen=True)
class HealthRules:
    """The conditions under which Climate believes a change of health.

    :ivar sick_after: the time for which all checks must find a resource sick.
    :ivar well_after: the time for which all checks must find a resource well.
    :ivar longest_gap: the longest time between two checks that count as consecutive.
    """

    sick_after: datetime.timedelta
    well_after: datetime.timedelta
    longest_gap: datetime.timedelta


@dataclasses.dataclass(frozen=True)
class ResourceHealth:
    """The known health of one resource.

    :ivar state: the last state of its sources that Climate believed, WELL or SICK. `since`,
        `reason` and `source` belong to this state.
    :ivar changing_since: the first of the latest checks that found the opposite of `state`, which
        Climate does not believe yet; None: the latest check confirmed `state`.
    :ivar looked_at: the last check that found the opposite of `state`.
    :ivar out_of_order: why an operator took the resource out of service, at `out_of_order_since`;
        None: it is in service.
    :ivar quarantined_since: the beginning of the quarantine after an owner swapped the resource for
        `quarantine_reason`; None: no quarantine.
    :ivar quarantined_until: the end of the quarantine; None: an operator must end it.
    """

    resource_id: int
    state: str = WELL
    since: Moment | None = None
    reason: str | None = None
    source: str | None = None
    changing_since: Moment | None = None
    looked_at: Moment | None = None
    out_of_order: str | None = None
    out_of_order_since: Moment | None = None
    quarantined_until: Moment | None = None
    quarantined_since: Moment | None = None
    quarantine_reason: str | None = None

    def verdict(self, now: Moment) -> 'HealthVerdict':
        """Return the verdict at `now`: of an operator, or else of a source, or else of an owner."""
        if self.out_of_order is not None:
            return HealthVerdict(OUT_OF_ORDER, self.out_of_order_since, self.out_of_order, OPERATOR)
        if self.state == SICK:
            return HealthVerdict(SICK, self.since, self.reason, self.source)
        if self.quarantined_since is not None and (
                self.quarantined_until is None or self.quarantined_until > now):
            return HealthVerdict(QUARANTINED, self.quarantined_since, self.quarantine_reason, OWNER,
                                 self.quarantined_until)
        return HealthVerdict(WELL, self.since)


@dataclasses.dataclass(frozen=True)
class HealthVerdict:
    """The health of a resource as responses show it.

    :ivar until: when the state ends by itself; None: not known.
    """

    state: str = WELL
    since: Moment | None = None
    reason: str | None = None
    source: str | None = None
    until: Moment | None = None


def after_check(before: ResourceHealth, finding: HealthFinding | None, rules: HealthRules,
                now: Moment) -> ResourceHealth:
    """Return the ResourceHealth after a check of the sources.

    Climate believes a change only if consecutive checks have found it for the time in `rules`. So a
    short failure has no consequence.

    :param before: the ResourceHealth before the check.
    :param finding: the result of the check; None: all sources report that the resource works.
    """
    reason, source = (None, None) if finding is None else (finding.reason, finding.source)
    if (finding is not None) == (before.state == SICK):
        confirmed = dataclasses.replace(before, changing_since=None, looked_at=None)
        return confirmed if finding is None else dataclasses.replace(
            confirmed, reason=reason, source=source)
    changing_since = now
    if before.changing_since is not None and before.looked_at is not None and (
            now - before.looked_at <= rules.longest_gap):
        changing_since = before.changing_since
    if now - changing_since < (rules.well_after if finding is None else rules.sick_after):
        return dataclasses.replace(before, changing_since=changing_since, looked_at=now)
    return dataclasses.replace(
        before, state=WELL if finding is None else SICK, since=now, changing_since=None,
        looked_at=None, reason=reason, source=source)


def block_of(resource_id: int) -> str:
    """Return the reservation id in the allocations that block a resource that is not well."""
    return f'health-{resource_id}'


def is_block(reservation_id: str) -> bool:
    """Return whether the reservation id of an allocation comes from `block_of`."""
    return reservation_id.startswith('health-')


def gaps(span: interval.Interval,
         taken: Iterable[interval.Interval]) -> list[interval.Interval]:
    """Return the parts of `span` that none of the intervals covers, in order."""
    free, reached = [], span.start
    for taken_span in sorted(taken):
        if taken_span.start >= span.end:
            break
        if taken_span.start > reached:
            free.append(interval.Interval(reached, taken_span.start))
        reached = max(reached, taken_span.end)
    if reached < span.end:
        free.append(interval.Interval(reached, span.end))
    return free


def covered(parts: Iterable[interval.Interval], by: Iterable[interval.Interval]) -> bool:
    """Return whether each interval of `parts` lies within one interval of `by`."""
    spans = list(by)
    return all(any(span.start <= part.start and part.end <= span.end for span in spans)
               for part in parts)
