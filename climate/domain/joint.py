# SPDX-License-Identifier: Apache-2.0
"""What the reservations of one lease get, all of them or none."""
import collections
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from climate import errors
from climate.domain import fit
from climate.domain import interval

Picks = tuple[fit.Pick, ...]


@dataclasses.dataclass(frozen=True)
class Ask:
    """What one reservation demands, and of which resources.

    :ivar candidates: with what everybody has of them who is not asked for at the same time.
    :ivar must_keep: the resources in ``demand.keep`` are in use, so none may be lost.
    """

    demand: fit.Demand
    candidates: Sequence[fit.Candidate]
    must_keep: bool = False


def choose(asks: Sequence[Ask], interval: interval.Interval) -> list[Picks]:
    """The picks of each of `asks` during `interval`, in their order.

    First each takes as much as it may, in their order. Where one gets too little so, all take the
    least they need, those first that have the fewest places to go, and grow after that.

    :raises NotEnough: one of them gets too little either way. ``place`` is which one, in the first
        way; ``in_use`` the ids of the resources that it must keep and cannot.
    """
    try:
        return in_order(asks, interval)
    except errors.NotEnough:
        found = _least_first(asks, interval) if len(asks) > 1 else None
        if found is None:
            raise
        return found


def in_order(asks: Sequence[Ask], span: interval.Interval) -> list[Picks]:
    """The picks of each of `asks` where each takes as much as it may, in their order.

    :raises NotEnough: one of them gets too little so; as of `choose`.
    """
    chosen: dict[int, Picks] = {}
    for place in range(len(asks)):
        chosen[place] = _pick(asks, place, chosen, span)
    return list(chosen.values())


def _least_first(asks: Sequence[Ask], span: interval.Interval) -> list[Picks] | None:
    least = [dataclasses.replace(ask, demand=dataclasses.replace(
        ask.demand, at_most=_least(ask), at_least=_least(ask))) for ask in asks]
    places = sorted(range(len(asks)), key=lambda place: fit.ways(
        least[place].demand, least[place].candidates, span))
    # What must be kept is spoken for before anybody chooses.
    chosen = {place: ask.demand.keep for place, ask in enumerate(asks) if ask.must_keep}
    try:
        for place in places:
            chosen.pop(place, None)
            chosen[place] = _pick(least, place, chosen, span)
    except errors.NotEnough:
        return None
    for place, ask in enumerate(asks):
        if ask.demand.at_most > _least(ask):
            grown = dataclasses.replace(ask, demand=dataclasses.replace(
                ask.demand, keep=_united(ask.demand.keep, chosen.pop(place))))
            chosen[place] = _pick([*asks[:place], grown, *asks[place + 1:]], place, chosen, span)
    return [chosen[place] for place in range(len(asks))]


def _pick(asks: Sequence[Ask], place: int, chosen: Mapping[int, Picks],
          span: interval.Interval) -> Picks:
    """What one of the asks gets beside what was `chosen` for others: {place: picks}."""
    ask = asks[place]
    taken: dict[int, list[fit.Booking]] = collections.defaultdict(list)
    for other, picks in chosen.items():
        for pick in picks:
            taken[pick.resource_id] += [(span, asks[other].demand.amount)] * pick.copies
    candidates = [
        dataclasses.replace(each, bookings=(*each.bookings, *taken[each.id]))
        if each.id in taken else each for each in ask.candidates]
    try:
        picks = fit.choose(ask.demand, candidates, span)
    except errors.NotEnough as error:
        raise errors.NotEnough(error.message, **error.kwargs, place=place) from error
    lost = _copies(ask.demand.keep) - _copies(picks)
    held = _copies(ask.demand.keep).total()
    if ask.must_keep and lost.total() > max(0, held - ask.demand.at_most):
        raise errors.NotEnough(what='resources', wanted=held, free=held - lost.total(),
                               place=place, in_use=sorted(lost))
    return picks


def _least(ask: Ask) -> int:
    held = _copies(ask.demand.keep).total() if ask.must_keep else 0
    return max(ask.demand.at_least, min(held, ask.demand.at_most))


def _copies(picks: Picks) -> collections.Counter[int]:
    found: collections.Counter[int] = collections.Counter()
    for pick in picks:
        found[pick.resource_id] += pick.copies
    return found


def _united(first: Picks, second: Picks) -> Picks:
    """Of each resource as many copies as the one or the other has, those of the first first."""
    return tuple(fit.Pick(*each) for each in (_copies(first) | _copies(second)).items())
