# SPDX-License-Identifier: Apache-2.0
"""The choice of resources for a reservation. All kinds of resources use the same algorithm."""
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import enum
from typing import NamedTuple

from climate import errors
from climate.domain import booked_capacity
from climate.domain import interval
from climate.domain import resource_rations


class Whole(enum.Enum):
    """The type of `WHOLE`, its only value."""

    WHOLE = 'all of it'


# The amount of a whole resource. It fits only on an unused resource, and leaves no free capacity.
WHOLE = Whole.WHOLE

Amount = Mapping[str, int] | Whole
Booking = tuple[interval.Interval, Amount]


class Spread(enum.Enum):
    """The spread of the copies of a demand over the resources."""

    APART = 'each on another resource'
    TOGETHER = 'all on one resource'
    ANY = 'anywhere'


@dataclasses.dataclass(frozen=True, order=True)
class Pick:
    """A number of copies on one resource."""

    resource_id: int
    copies: int = 1


@dataclasses.dataclass(frozen=True)
class Demand:
    """The demand of a reservation on a pool: `at_least` to `at_most` copies of `amount`.

    :ivar amount: {class name: units} of one copy, or WHOLE.
    :ivar keep: the present picks of the reservation, the most important first. They are chosen
        again, before any others, as far as they still fit.
    :ivar rations: the Rations of which the other copies take.
    :raises ValueError: the counts contradict each other.
    """

    amount: Amount
    at_least: int
    at_most: int
    spread: Spread = Spread.ANY
    keep: tuple[Pick, ...] = ()
    rations: tuple[resource_rations.Ration, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.at_least <= self.at_most:
            raise ValueError('A demand needs 0 <= at_least <= at_most.')


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A resource that may be chosen.

    :ivar capacity: {class name: units}.
    :ivar bookings: pairs (Interval, {class name: units} or WHOLE) of all other reservations, in any
        order. Several copies of an allocation are several pairs, or one pair with their sum.
    """

    id: int
    capacity: Mapping[str, int]
    bookings: Sequence[Booking] = ()


class _Slots(NamedTuple):
    """The free slots of a candidate; `position` is its index in the order of the caller."""

    resource_id: int
    free: int
    used: bool
    position: int


def choose(demand: Demand, candidates: Iterable[Candidate], interval: interval.Interval,
           what: str = 'resources') -> tuple[Pick, ...]:
    """Choose the resources for `demand` during `interval`: all free copies, up to at_most.

    The picks of `demand.keep` come first. After them, whole resources are chosen in the order of
    the candidates. Copies of an amount are packed: used resources come before empty ones, resources
    with few free slots before others, and then the order of the candidates decides. Copies that
    must be together go to a kept resource if at_least copies fit on it, or else to the resource
    with the most free slots. If there are rations, resources that take nothing of them come first,
    then those that take little.

    :param candidates: Candidates without duplicate ids.
    :param what: the name of the resources in an error, in the plural.
    :returns: picks of one or more copies, by id; empty if at_least is 0 and nothing is free.
    :raises NotEnough: fewer than at_least copies fit with the spread of the demand.
    """
    all_slots = _all_slots(demand, candidates, interval)
    if demand.spread is Spread.TOGETHER:
        taken = _together(demand, _allowed(demand, all_slots), what)
    else:
        taken = _spread_out(demand, all_slots, what)
    return tuple(Pick(resource_id, taken[resource_id]) for resource_id in sorted(taken))


def free_slots(demand: Demand, candidates: Iterable[Candidate],
               interval: interval.Interval) -> tuple[int, int]:
    """Return (the number of resources with free slots for `demand`, the number of these slots).

    If all copies must be together, only resources with at_least free slots count. The demand with
    the smallest result is the hardest one to serve.
    """
    least = demand.at_least if demand.spread is Spread.TOGETHER else 1
    frees = [slots.free for slots in _all_slots(demand, candidates, interval)
             if slots.free >= least]
    return len(frees), sum(frees)


def _all_slots(demand: Demand, candidates: Iterable[Candidate],
               interval: interval.Interval) -> list[_Slots]:
    return [slots for position, candidate in enumerate(candidates)
            if (slots := _slots(demand.amount, candidate, interval, position)).free > 0]


def _slots(amount: Amount, candidate: Candidate, interval: interval.Interval,
           position: int) -> _Slots:
    bookings = booked_capacity.touching(candidate.bookings, interval)
    parts = [(span, booked) for span, booked in bookings if not isinstance(booked, Whole)]
    if len(parts) < len(bookings):
        free = 0
    elif isinstance(amount, Whole):
        free = 0 if bookings else 1
    else:
        free = booked_capacity.copies_beside(candidate.capacity, parts, amount)
    return _Slots(candidate.id, free, bool(bookings), position)


def _allowed(demand: Demand, all_slots: list[_Slots]) -> list[_Slots]:
    """Return the free slots of each resource that the rations allow if no other one is chosen."""
    allowance, kept = resource_rations.Allowance(demand.rations), _kept(demand)
    allowed = [slots if slots.resource_id in kept else slots._replace(
        free=allowance.copies(slots.resource_id, slots.free)) for slots in all_slots]
    return [slots for slots in allowed if slots.free > 0]


def _together(demand: Demand, all_slots: list[_Slots], what: str) -> dict[int, int]:
    most = max((slots.free for slots in all_slots), default=0)
    if most < demand.at_least:
        raise errors.NotEnough(what=f'{what} in one place', wanted=demand.at_least, free=most)
    if not all_slots or demand.at_most == 0:
        return {}
    kept = _kept(demand)
    best = min((slots for slots in all_slots if slots.free >= demand.at_least),
               key=lambda slots: (-min(kept.get(slots.resource_id, 0), slots.free, demand.at_most),
                                  -min(slots.free, demand.at_most),
                                  not slots.used, slots.free, slots.position))
    return {best.resource_id: min(best.free, demand.at_most)}


def _spread_out(demand: Demand, all_slots: list[_Slots], what: str) -> dict[int, int]:
    limits = {slots.resource_id: 1 if demand.spread is Spread.APART else slots.free
              for slots in all_slots}
    free = sum(limits.values())
    if free < demand.at_least:
        raise errors.NotEnough(what=what, wanted=demand.at_least, free=free)
    kept, allowance = _kept(demand), resource_rations.Allowance(demand.rations)
    missing = demand.at_most
    taken: dict[int, int] = {}
    for resource_id, copies in kept.items():
        copies = min(copies, limits.get(resource_id, 0), missing)
        if copies > 0:
            taken[resource_id] = copies
            missing -= copies
            allowance.take(resource_id, copies)
    for resource_id in _in_order(demand, all_slots, allowance):
        copies = allowance.copies(
            resource_id, min(limits[resource_id] - taken.get(resource_id, 0), missing))
        if copies > 0:
            taken[resource_id] = taken.get(resource_id, 0) + copies
            missing -= copies
            allowance.take(resource_id, copies)
    if demand.at_most - missing < demand.at_least:
        raise errors.NotEnough(what=what, wanted=demand.at_least, free=demand.at_most - missing)
    return taken


def _in_order(demand: Demand, all_slots: list[_Slots],
              allowance: resource_rations.Allowance) -> list[int]:
    """Return the ids of the resources in the order of preference."""
    ids = [slots.resource_id for slots in _preferred(demand, all_slots, _kept(demand))]
    return sorted(ids, key=allowance.cost) if demand.rations else ids


def _preferred(demand: Demand, all_slots: list[_Slots], kept: Mapping[int, int]) -> list[_Slots]:
    if isinstance(demand.amount, Whole):
        return all_slots
    return sorted(all_slots, key=lambda slots: (not (slots.used or slots.resource_id in kept),
                                                slots.free, slots.position))


def _kept(demand: Demand) -> dict[int, int]:
    """Return {resource id: copies} of `demand.keep`, in the same order."""
    kept: dict[int, int] = {}
    for pick in demand.keep:
        kept[pick.resource_id] = kept.get(pick.resource_id, 0) + pick.copies
    return kept
