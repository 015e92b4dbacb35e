# SPDX-License-Identifier: Apache-2.0
"""The pause between leases of one owner: chains, in which leases follow each other too closely.

Two leases are a chain if one of them begins before the end of the other one plus the pause, and
ends after it. They may overlap. Leases within the span of another one are no chain, because their
owner has left the pool when the longest of them ends.
"""
from collections.abc import Mapping
import dataclasses
import datetime

from climate.domain.limits import holdings
from climate.domain.limits import rules

Moment = datetime.datetime
Span = tuple[Moment, Moment]

_NONE = datetime.timedelta(0)


@dataclasses.dataclass(frozen=True)
class Chain:
    """Another lease to which the pause of a request is too short.

    :ivar span: the (start, end) of the other lease in the pool.
    :ivar pause: the time between both leases; 0 if they overlap.
    """

    other: holdings.Holding
    span: Span
    pause: datetime.timedelta


def shortest(limit: rules.Limit, request: holdings.Request) -> Chain | None:
    """Return the Chain with the shortest pause that a request creates or makes worse, or None."""
    least = limit.duration or _NONE
    before, after = _spans(limit, request.before_of(limit)), _spans(limit, request.after)
    chains = [Chain(other, span, max(_gap(after[pool], span), _NONE))
              for other in request.others_of(limit)
              for pool, span in _spans(limit, other).items()
              if pool in after and _is_chain(after[pool], span, least)
              and not _is_no_worse(pool, before, after, span, least)]
    return min(chains, key=lambda chain: (chain.pause, chain.span), default=None)


def _is_no_worse(pool: str, before: Mapping[str, Span], after: Mapping[str, Span], other: Span,
                 least: datetime.timedelta) -> bool:
    """Return whether a lease was as close to another one before.

    A lease may always become shorter. If it was too near another one, it may also move away from
    it, but not become longer: otherwise a chain could be built by shortening and extending leases
    that lie within each other.
    """
    if pool not in before:
        return False
    if _is_within(after[pool], before[pool]):
        return True
    gap = _gap(before[pool], other)
    return (gap >= _NONE and _is_chain(before[pool], other, least)
            and _gap(after[pool], other) >= gap
            and _length(after[pool]) <= _length(before[pool]))


def _spans(limit: rules.Limit, holding: holdings.Holding | None) -> dict[str, Span]:
    """Return {pool: (start, end)} of the time in which a holding has resources that count."""
    spans: dict[str, Span] = {}
    for held in () if holding is None else holding.counted(limit):
        if held.start < held.end:
            start, end = spans.get(held.pool, (held.start, held.end))
            spans[held.pool] = min(start, held.start), max(end, held.end)
    return spans


def _is_chain(one: Span, other: Span, least: datetime.timedelta) -> bool:
    return (not _is_within(one, other) and not _is_within(other, one)
            and _gap(one, other) < least)


def _gap(one: Span, other: Span) -> datetime.timedelta:
    """Return the time between two spans; it is negative if they overlap."""
    return max(one[0] - other[1], other[0] - one[1])


def _length(span: Span) -> datetime.timedelta:
    return span[1] - span[0]


def _is_within(span: Span, whole: Span) -> bool:
    """Return whether a span is a part of another one."""
    return whole[0] <= span[0] and span[1] <= whole[1]
