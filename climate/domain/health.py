# SPDX-License-Identifier: Apache-2.0
"""The health of a resource, and when a change of it is believed."""
from collections.abc import Iterable
import dataclasses
import datetime

from climate.domain import interval

Moment = datetime.datetime

#: The states, as answers show them. Only a resource that is well gets new leases.
WELL = 'well'
#: A source of health reports that it does not work.
SICK = 'sick'
#: Owners of leases swapped it for another one, and their reports were confirmed.
QUARANTINED = 'quarantined'
#: An operator took it out of service.
OUT_OF_ORDER = 'out_of_order'
STATES = (WELL, SICK, QUARANTINED, OUT_OF_ORDER)
#: The source of the states that people cause.
OPERATOR, OWNER = 'operator', 'owner'


@dataclasses.dataclass(frozen=True)
class HealthFinding:
    """The report of one source of health that a resource does not work: its name, and why."""

    source: str
    reason: str


@dataclasses.dataclass(frozen=True)
class HealthRules:
    """The conditions under which a change of health is believed.

    :ivar sick_after: how long all checks must find a resource sick.
    :ivar well_after: how long all checks must find it well.
    :ivar longest_gap: the longest time between two checks that count as consecutive.
    """

    sick_after: datetime.timedelta
    well_after: datetime.timedelta
    longest_gap: datetime.timedelta


@dataclasses.dataclass(frozen=True)
class ResourceHealth:
    """The known health of one resource.

    :ivar state: WELL or SICK by its sources, once a change is believed; `since`, `reason` and
        `source` describe it.
    :ivar changing_since: since when the sources say the opposite of `state`; None: they agree.
    :ivar looked_at: when they last said the opposite.
    :ivar out_of_order: why an operator took it out of service, at `out_of_order_since`; None: it is
        in service.
    :ivar quarantined_since: since when new leases do not get it because an owner swapped it, for
        `quarantine_reason`, until `quarantined_until`; None: until an operator ends that.
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
        """Return the verdict at `now`: that of an operator before that of a source."""
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
    """The health of a resource as answers show it.

    :ivar until: when its state ends by itself; None: not known.
    """

    state: str = WELL
    since: Moment | None = None
    reason: str | None = None
    source: str | None = None
    until: Moment | None = None


def judged(known: ResourceHealth, finding: HealthFinding | None, rules: HealthRules,
           now: Moment) -> ResourceHealth:
    """Return the ResourceHealth after a check of the sources.

    A change is believed only if all checks found it for a sufficient time, and no two of these
    checks were too far apart. So a short failure has no consequence.

    :param finding: None: all sources report that it works.
    """
    if (finding is not None) == (known.state == SICK):
        calm = dataclasses.replace(known, changing_since=None, looked_at=None)
        if finding is None or (known.source, known.reason) == (finding.source, finding.reason):
            return calm
        return dataclasses.replace(calm, reason=finding.reason, source=finding.source)
    begun = now
    if known.changing_since is not None and known.looked_at is not None and (
            now - known.looked_at <= rules.longest_gap):
        begun = known.changing_since
    if now - begun < (rules.well_after if finding is None else rules.sick_after):
        return dataclasses.replace(known, changing_since=begun, looked_at=now)
    reason, source = (None, None) if finding is None else (finding.reason, finding.source)
    return dataclasses.replace(
        known, state=WELL if finding is None else SICK, since=now, changing_since=None,
        looked_at=None, reason=reason, source=source)


def block_of(resource_id: int) -> str:
    """Return the id that stands for a reservation in the allocations that block a sick resource."""
    return f'health-{resource_id}'


def is_block(reservation_id: str) -> bool:
    """Return whether an id comes from `block_of`, and is not that of a reservation."""
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
    """Return whether each interval in `parts` lies within one of those in `by`."""
    known = list(by)
    return all(any(each.start <= part.start and part.end <= each.end for each in known)
               for part in parts)
