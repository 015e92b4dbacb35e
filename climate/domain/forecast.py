# SPDX-License-Identifier: Apache-2.0
"""When there will be room for what has none now."""
import collections
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import datetime
import itertools

from climate import errors
from climate.domain import fit
from climate.domain import interval
from climate.domain import joint

Moment = datetime.datetime
# From each moment on, until that of the next one: so many.
Steps = list[tuple[Moment, int]]
# The moments from the first to just before the second.
Span = tuple[Moment, Moment]

# So many moments are tried at which each of several asks fits by itself.
_TRIES = 20


def earliest(asks: Sequence[joint.Ask], duration: datetime.timedelta,
             window: interval.Interval) -> Moment | None:
    """The first moment from which all `asks` are served together for `duration`.

    What a demand wants to keep does not count. Of several asks it may be found late or not at
    all where each fits at many moments but they do not fit together.

    :param window: from its start on, and the whole duration lies in it.
    :returns: None where there is no such moment.
    :raises ValueError: a duration that is not positive.
    """
    if duration <= datetime.timedelta(0):
        raise ValueError('A positive duration is needed.')
    if window.duration < duration:
        return None
    spans = [(window.start, window.end - duration + interval.RESOLUTION)]
    for ask in asks:
        spans = list(_shared(spans, _spans(ask, duration, window)))
    if len(asks) == 1:
        return spans[0][0] if spans else None
    for moment in itertools.islice(_tries(asks, spans), _TRIES):
        try:
            joint.choose(asks, interval.Interval(moment, moment + duration))
        except errors.NotEnough:
            continue
        return moment
    return None


def _tries(asks: Sequence[joint.Ask], spans: Iterable[Span]) -> Iterator[Moment]:
    """The starts of `spans`, and the moments in them at which something is given back."""
    ends = sorted({booking[0].end for ask in asks for each in ask.candidates
                   for booking in each.bookings})
    for first, last in spans:
        yield first
        yield from (end for end in ends if first < end < last)


def _shared(one: Sequence[Span], other: Sequence[Span]) -> Iterator[Span]:
    """What lies in both, each in order and without overlaps."""
    left, right = iter(one), iter(other)
    mine, theirs = next(left, None), next(right, None)
    while mine is not None and theirs is not None:
        first, last = max(mine[0], theirs[0]), min(mine[1], theirs[1])
        if first < last:
            yield first, last
        if mine[1] <= theirs[1]:
            mine = next(left, None)
        else:
            theirs = next(right, None)


def _spans(ask: joint.Ask, duration: datetime.timedelta,
           window: interval.Interval) -> list[Span]:
    """The starts from which one ask fits by itself."""
    demand = ask.demand
    changes: list[tuple[Moment, int]] = []
    for candidate in ask.candidates:
        before = 0
        for moment, free in _free_for(duration, _levels(demand, candidate, window)):
            weight = _weight(demand, free)
            changes.append((moment, weight - before))
            before = weight
    needed = 1 if demand.spread is fit.Spread.TOGETHER else demand.at_least
    needed = min(needed, demand.at_least)
    found: list[Span] = []
    total, since = 0, window.start if needed == 0 else None
    for moment, group in itertools.groupby(sorted(changes), key=_moment):
        total += sum(change for _, change in group)
        if since is None and total >= needed:
            since = moment
        elif since is not None and total < needed:
            found.append((since, moment))
            since = None
    if since is not None:
        found.append((since, window.end))
    return found


def _weight(demand: fit.Demand, free: int) -> int:
    """What a resource with so many free copies is worth to a demand."""
    if demand.spread is fit.Spread.TOGETHER:
        return int(free >= demand.at_least)
    return min(free, 1) if demand.spread is fit.Spread.APART else free


def _levels(demand: fit.Demand, candidate: fit.Candidate, window: interval.Interval) -> Steps:
    """How many copies are free on a resource at each moment of `window`."""
    edges: list[tuple[Moment, int, fit.Amount]] = []
    for span, booked in candidate.bookings:
        if span.overlaps(window):
            edges += [(max(span.start, window.start), 1, booked), (span.end, -1, booked)]
    edges.sort(key=lambda edge: edge[0])
    in_use: collections.Counter[str] = collections.Counter()
    count = wholes = 0
    levels = [(window.start, _copies(demand.amount, candidate, in_use))]
    for moment, group in itertools.groupby(edges, key=lambda edge: edge[0]):
        for _, sign, booked in group:
            count += sign
            if isinstance(booked, fit.Whole):
                wholes += sign
                continue
            for name, units in booked.items():
                in_use[name] += sign * units
        free = 0 if wholes or (count and isinstance(demand.amount, fit.Whole)) else _copies(
            demand.amount, candidate, in_use)
        if moment == window.start:
            levels.clear()
        levels.append((moment, free))
    return levels


def _copies(amount: fit.Amount, candidate: fit.Candidate, in_use: collections.Counter[str]) -> int:
    if isinstance(amount, fit.Whole):
        return 1
    return max(0, min((candidate.capacity.get(name, 0) - in_use[name]) // units
                      for name, units in amount.items() if units > 0))


def _free_for(duration: datetime.timedelta, levels: Steps) -> Steps:
    """How many copies are free for all of `duration` from each moment on.

    That is the least of the levels in the span that begins there: what a span comes upon counts
    as soon as it reaches beyond its beginning, and what it leaves behind no more.
    """
    begin = levels[0][0]
    moments = {moment for moment, _ in levels}
    moments |= {moment - duration + interval.RESOLUTION for moment, _ in levels
                if moment - begin >= duration}
    found: Steps = []
    # The places of the levels in the span that may become its least, the least one first.
    least: collections.deque[int] = collections.deque()
    reached = 0
    for start in sorted(moments):
        while reached < len(levels) and levels[reached][0] - start < duration:
            while least and levels[least[-1]][1] >= levels[reached][1]:
                least.pop()
            least.append(reached)
            reached += 1
        while least[0] + 1 < len(levels) and levels[least[0] + 1][0] <= start:
            least.popleft()
        found.append((start, levels[least[0]][1]))
    return found


def _moment(change: tuple[Moment, int]) -> Moment:
    return change[0]
