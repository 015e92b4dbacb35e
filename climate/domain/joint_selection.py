# SPDX-License-Identifier: Apache-2.0
"""The joint choice of resources for a lease: all of its reservations get resources, or none."""
import collections
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from climate import errors
from climate.domain import interval
from climate.domain import resource_rations
from climate.domain import selection

Picks = tuple[selection.Pick, ...]


@dataclasses.dataclass(frozen=True)
class ReservationDemand:
    """The demand of one reservation, and the candidates for it.

    :ivar candidates: the candidates, with the bookings of all reservations outside this choice.
    :ivar must_keep: whether the resources in ``demand.keep`` are in use, so that they must stay.
    """

    demand: selection.Demand
    candidates: Sequence[selection.Candidate]
    must_keep: bool = False


def choose(demands: Sequence[ReservationDemand], interval: interval.Interval) -> list[Picks]:
    """Choose the resources for all `demands` during `interval`; return the picks of each one.

    First try to choose as many copies as possible for one demand after the other. If one of them
    gets too few, choose the minimum for each demand, beginning with the demand that is the hardest
    one to serve, and then add further copies.

    :raises NotEnough: both tries failed. ``place`` is the index of the demand that failed in the
        first try, ``in_use`` has the ids of the resources in use that it cannot keep.
    """
    try:
        return in_order(demands, interval)
    except errors.NotEnough:
        picks = _least_first(demands, interval) if len(demands) > 1 else None
        if picks is None:
            raise
        return picks


def in_order(demands: Sequence[ReservationDemand], span: interval.Interval) -> list[Picks]:
    """Choose as many copies as possible for one demand after the other; return all picks.

    :raises NotEnough: a demand gets too few copies. The error has the details as in `choose`.
    """
    chosen: dict[int, Picks] = {}
    for index in range(len(demands)):
        chosen[index] = _pick(demands, index, chosen, span)
    return list(chosen.values())


def _least_first(demands: Sequence[ReservationDemand],
                 span: interval.Interval) -> list[Picks] | None:
    least = [dataclasses.replace(each, demand=dataclasses.replace(
        each.demand, at_most=_least(each), at_least=_least(each))) for each in demands]
    hardest_first = sorted(range(len(demands)), key=lambda index: selection.free_slots(
        least[index].demand, least[index].candidates, span))
    # Resources that must be kept are taken before any choice.
    chosen = {index: each.demand.keep for index, each in enumerate(demands) if each.must_keep}
    try:
        for index in hardest_first:
            chosen.pop(index, None)
            chosen[index] = _pick(least, index, chosen, span)
    except errors.NotEnough:
        return None
    for index, each in enumerate(demands):
        if each.demand.at_most > _least(each):
            grown = dataclasses.replace(each, demand=dataclasses.replace(
                each.demand, keep=_united(each.demand.keep, chosen.pop(index))))
            chosen[index] = _pick([*demands[:index], grown, *demands[index + 1:]], index, chosen,
                                  span)
    return [chosen[index] for index in range(len(demands))]


def _pick(demands: Sequence[ReservationDemand], index: int, chosen: Mapping[int, Picks],
          span: interval.Interval) -> Picks:
    """Choose for the demand at `index`, beside the picks `chosen` for others, {index: picks}."""
    wanted = demands[index]
    taken: dict[int, list[selection.Booking]] = collections.defaultdict(list)
    for other, picks in chosen.items():
        for pick in picks:
            taken[pick.resource_id] += [(span, demands[other].demand.amount)] * pick.copies
    candidates = [
        dataclasses.replace(candidate, bookings=(*candidate.bookings, *taken[candidate.id]))
        if candidate.id in taken else candidate for candidate in wanted.candidates]
    try:
        picks = selection.choose(_with_rest(demands, index, chosen), candidates, span)
    except errors.NotEnough as error:
        raise errors.NotEnough(error.message, **error.kwargs, place=index) from error
    kept = _copies(wanted.demand.keep)
    lost = kept - _copies(picks)
    if wanted.must_keep and lost.total() > max(0, kept.total() - wanted.demand.at_most):
        raise errors.NotEnough(what='resources', wanted=kept.total(),
                               free=kept.total() - lost.total(), place=index, in_use=sorted(lost))
    return picks


def _with_rest(demands: Sequence[ReservationDemand], index: int,
               chosen: Mapping[int, Picks]) -> selection.Demand:
    """Return the Demand at `index` with what the other picks leave of its rations."""
    demand = demands[index].demand
    if not demand.rations:
        return demand
    used = resource_rations.used((demands[other].demand.rations, _copies(picks))
                                 for other, picks in chosen.items())
    return dataclasses.replace(demand, rations=tuple(
        dataclasses.replace(ration, most=ration.most - used[ration.name])
        for ration in demand.rations))


def _least(wanted: ReservationDemand) -> int:
    kept = _copies(wanted.demand.keep).total() if wanted.must_keep else 0
    return max(wanted.demand.at_least, min(kept, wanted.demand.at_most))


def _copies(picks: Picks) -> collections.Counter[int]:
    copies: collections.Counter[int] = collections.Counter()
    for pick in picks:
        copies[pick.resource_id] += pick.copies
    return copies


def _united(first: Picks, second: Picks) -> Picks:
    """Return the larger number of copies on each resource; resources of `first` come first."""
    return tuple(selection.Pick(*pair) for pair in (_copies(first) | _copies(second)).items())
