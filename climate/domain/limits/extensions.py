# SPDX-License-Identifier: Apache-2.0
"""The latest end to which rules of extensions let the owner of a running lease extend it."""
from collections.abc import Collection
from collections.abc import Iterable
import dataclasses
import datetime
import decimal

from climate import errors
from climate import moments
from climate.domain import records
from climate.domain import texts
from climate.domain.limits import rules

Moment = datetime.datetime

_ALL_PERCENT = decimal.Decimal(100)
_SHORTEST = datetime.timedelta(seconds=1)
# Ends of leases are before this moment.
_FAR = datetime.datetime.max.replace(tzinfo=datetime.UTC)


@dataclasses.dataclass(frozen=True)
class Bound:
    """The latest end that a rule allows now.

    :ivar latest: the present end of the lease if the rule allows no extension now.
    :ivar opens_at: the moment from which the rule allows extensions; None: it does now, or it never
        will.
    :ivar reason: why no later end is possible, as a sentence.
    """

    rule: str
    latest: Moment
    opens_at: Moment | None
    reason: str


def is_extension(before: records.Lease, end: Moment, now: Moment) -> bool:
    """Return whether a new end extends a lease that has begun."""
    return before.start <= now and end > before.end


def applying(book: rules.LimitBook, lease: records.Lease, uses: Collection[tuple[str, str]]
             ) -> tuple[rules.Extension, ...]:
    """Return the rules that apply to a lease.

    :param uses: pairs (resource type, pool) of its reservations.
    """
    return tuple(rule for rule in book.extensions_for(lease.project_id, lease.user_id) if any(
        rule.resource_type in (None, resource_type) and rule.pool in (None, pool)
        for resource_type, pool in uses))


def has_window(rule: rules.Extension) -> bool:
    """Return whether a rule allows extensions only in the last part of a lease."""
    return rule.within is not None or rule.within_percent is not None


def opens_at(rule: rules.Extension, lease: records.Lease) -> Moment:
    """Return the moment from which a rule allows extensions of a lease."""
    lengths = []
    if rule.within is not None:
        lengths.append(rule.within)
    if rule.within_percent is not None:
        lengths.append((lease.end - lease.start) * float(rule.within_percent / _ALL_PERCENT))
    return max(lease.start, lease.end - min(lengths)) if lengths else lease.start


def tightest(extensions: Iterable[rules.Extension], lease: records.Lease, now: Moment,
             in_steps: bool = False) -> Bound | None:
    """Return the Bound with the earliest latest end; None: no rule restricts the lease.

    :param in_steps: Climate extends the lease by a step. The number of extensions and the last part
        of the lease do not matter then.
    """
    return min((bound for rule in extensions for bound in _bounds(rule, lease, now, in_steps)),
               key=lambda bound: (bound.latest, -(bound.opens_at or lease.start).timestamp()),
               default=None)


def refuse(bound: Bound | None, lease: records.Lease, end: Moment) -> None:
    """Refuse an end of a lease that is after its Bound; None allows any end.

    :raises ExtensionRefused: the error says how far the lease could be extended now.
    """
    if bound is None or end <= bound.latest:
        return
    shown = bound.latest if bound.latest > lease.end else None
    raise errors.ExtensionRefused(
        rule=bound.rule, reason=bound.reason,
        possible_end=None if shown is None else shown.isoformat(),
        opens_at=None if bound.opens_at is None else bound.opens_at.isoformat())


def _bounds(rule: rules.Extension, lease: records.Lease, now: Moment, in_steps: bool
            ) -> Iterable[Bound]:
    if not in_steps:
        opening = opens_at(rule, lease)
        if now < opening:
            yield Bound(rule.name, lease.end, opening, (
                f'it can be extended only in its last {moments.span(lease.end - opening)}, from '
                f'{_shown(opening)} on. Ask again then.'))
        if rule.times is not None and lease.extended_count >= rule.times:
            yield Bound(rule.name, lease.end, None, (
                f'it can be extended {texts.counted(rule.times, "time", "times")}, and was '
                f'extended {texts.counted(lease.extended_count, "time", "times")}. Create another '
                'lease for the time after it.'))
    if rule.most is not None:
        latest = _plus(lease.end, rule.most)
        yield Bound(rule.name, latest, None, _until(
            latest, lease, f'it can be extended by at most {moments.span(rule.most)} at a time'))
    if rule.total is not None:
        from_start = rule.total_from is rules.TotalFrom.START
        latest = _plus(lease.start if from_start else now, rule.total).replace(microsecond=0)
        yield Bound(rule.name, max(lease.end, latest), None, _until(
            latest, lease, f'it can end at most {moments.span(rule.total)} after '
            f'{"its start" if from_start else "the present time"}'))


def _until(latest: Moment, lease: records.Lease, rule: str) -> str:
    if latest - lease.end < _SHORTEST:
        return f'{rule}, so no later end is possible now.'
    return f'{rule}: choose an end until {_shown(latest)}.'


def _plus(moment: Moment, length: datetime.timedelta) -> Moment:
    return _FAR if length > _FAR - moment else moment + length


def _shown(moment: Moment) -> str:
    return f'{moment:%Y-%m-%d %H:%M:%S} UTC'
