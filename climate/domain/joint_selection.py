# SPDX-License-Identifier: Apache-2.0
"""The joint choice of resources for all reservations of a lease: all get theirs, or none."""
import collections
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from climate import errors
from climate.domain import interval
from climate.domain import selection

Picks = tuple[selection.Pick, ...]


@dataclasses.dataclass(frozen=True)
class ReservationDemand:
    """The demand of one reservation, and the candidates for it.

    :ivar candidates: with the bookings of all reservations that are not chosen for now.
    :ivar must_keep: whether the resources in ``demand.keep`` are in use, so none may be lost.
    """

    demand: selection.Demand
    candidates: Sequence[selection.Candidate]
    must_keep: bool = False


def choose(asks: Sequence[ReservationDemand], interval: interval.Interval) -> list[Picks]:
    """Choose the resources for each of `asks` during `interval`; return their picks in order.

    At first each takes as much as it may, in order. If one gets too little that way, each takes its
    least amount, beginning with those that have the fewest possibilities, and then grows.

    :raises NotEnough: one of them gets too little both ways. ``place`` is its index in the first
        way, ``in_use`` the ids of the resources that it must keep and cannot.
    """
    try:
        return in_order(asks, interval)
    except errors.NotEnough:
        found = _least_first(asks, interval) if len(asks) > 1 else None
        if found is None:
            raise
        return found


def in_order(asks: Sequence[ReservationDemand], span: interval.Interval) -> list[Picks]:
    """Choose for each of `asks` in order, each taking as much as it may; return their picks.

    :raises NotEnough: one of them gets too little; with the details of `choose`.
    """
    chosen: dict[int, Picks] = {}
    for place in range(len(asks)):
        chosen[place] = _pick(asks, place, chosen, span)
    return list(chosen.values())


def _least_first(asks: Sequence[ReservationDemand], span: interval.Interval) -> list[Picks] | None:
    least = [dataclasses.replace(ask, demand=dataclasses.replace(
        ask.demand, at_most=_least(ask), at_least=_least(ask))) for ask in asks]
    places = sorted(range(len(asks)), key=lambda place: selection.ways(
        least[place].demand, least[place].candidates, span))
    # Resources that must be kept are taken before any choice.
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


def _pick(asks: Sequence[ReservationDemand], place: int, chosen: Mapping[int, Picks],
          span: interval.Interval) -> Picks:
    """Choose for one of the asks, given what is `chosen` for others, {place: picks}."""
    ask = asks[place]
    taken: dict[int, list[selection.Booking]] = collections.defaultdict(list)
    for other, picks in chosen.items():
        for pick in picks:
            taken[pick.resource_id] += [(span, asks[other].demand.amount)] * pick.copies
    candidates = [
        dataclasses.replace(each, bookings=(*each.bookings, *taken[each.id]))
        if each.id in taken else each for each in ask.candidates]
    try:
        picks = selection.choose(ask.demand, candidates, span)
    except errors.NotEnough as error:
        raise errors.NotEnough(error.message, **error.kwargs, place=place) from error
    lost = _copies(ask.demand.keep) - _copies(picks)
    held = _copies(ask.demand.keep).total()
    if ask.must_keep and lost.total() > max(0, held - ask.demand.at_most):
        raise errors.NotEnough(what='resources', wanted=held, free=held - lost.total(),
                               place=place, in_use=sorted(lost))
    return picks


def _least(ask: ReservationDemand) -> int:
    held = _copies(ask.demand.keep).total() if ask.must_keep else 0
    return max(ask.demand.at_least, min(held, ask.demand.at_most))


def _copies(picks: Picks) -> collections.Counter[int]:
    found: collections.Counter[int] = collections.Counter()
    for pick in picks:
        found[pick.resource_id] += pick.copies
    return found


def _united(first: Picks, second: Picks) -> Picks:
    """Return for each resource the larger number of copies of both; those of `first` come first."""
    return tuple(selection.Pick(*each) for each in (_copies(first) | _copies(second)).items())
