# SPDX-License-Identifier: Apache-2.0
"""Which resources a reservation gets: one algorithm for every kind of resource."""
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import enum
from typing import NamedTuple

from climate import errors
from climate.domain import interval
from climate.domain import usage


class Whole(enum.Enum):
    """The type of `WHOLE`, its only value."""

    WHOLE = 'all of it'


# The amount "all of it": fits only where nobody holds anything, and leaves nothing.
WHOLE = Whole.WHOLE

Amount = Mapping[str, int] | Whole
Booking = tuple[interval.Interval, Amount]


class Spread(enum.Enum):
    """How the copies of a demand lie on the resources."""

    APART = 'each on another resource'
    TOGETHER = 'all on one resource'
    ANY = 'anywhere'


@dataclasses.dataclass(frozen=True, order=True)
class Pick:
    """So many copies on one resource."""

    resource_id: int
    copies: int = 1


@dataclasses.dataclass(frozen=True)
class Demand:
    """What a reservation asks of a pool: `amount`, at least and at most so many times.

    :ivar amount: {class name: units} of one copy, or WHOLE.
    :ivar keep: the picks that the reservation holds now, the dearest first; what still fits of
        them stays, before anything else is taken.
    :raises ValueError: counts that contradict each other.
    """

    amount: Amount
    at_least: int
    at_most: int
    spread: Spread = Spread.ANY
    keep: tuple[Pick, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.at_least <= self.at_most:
            raise ValueError('A demand needs 0 <= at_least <= at_most.')


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A resource that could be given.

    :ivar capacity: {class name: units}.
    :ivar bookings: pairs (Interval, {class name: units} or WHOLE) of everybody else, in any
        order: not those of the reservation for which is chosen. An allocation of several copies
        is several pairs, or one with the sum.
    """

    id: int
    capacity: Mapping[str, int]
    bookings: Sequence[Booking] = ()


class _Room(NamedTuple):
    """What a candidate can give: `free` copies; `place` is its rank in the order of the caller."""

    resource_id: int
    free: int
    used: bool
    place: int


def choose(demand: Demand, candidates: Iterable[Candidate], interval: interval.Interval,
           what: str = 'resources') -> tuple[Pick, ...]:
    """The resources that `demand` gets during `interval`: as many copies as are free, to at_most.

    What `demand.keep` names comes first. After that, whole resources are taken in the order of
    the candidates. Amounts are packed: resources in use before empty ones, then the least room
    first, then the order of the candidates. All copies together go where most of them fit, but
    stay where they are kept as long as at_least fit there, even if more would fit elsewhere.

    :param candidates: each id once.
    :param what: what an error calls the resources, in the plural.
    :returns: picks of one copy or more, by id; none where at_least is 0 and nothing is free.
    :raises NotEnough: fewer than at_least copies are free, spread as the demand says.
    """
    rooms = _rooms(demand, candidates, interval)
    if demand.spread is Spread.TOGETHER:
        taken = _together(demand, rooms, what)
    else:
        taken = _spread_out(demand, rooms, what)
    return tuple(Pick(resource_id, taken[resource_id]) for resource_id in sorted(taken))


def ways(demand: Demand, candidates: Iterable[Candidate],
         interval: interval.Interval) -> tuple[int, int]:
    """On how many resources a copy of `demand` could be, and how many copies on all of them.

    Where all copies are to be together, only resources with room for at_least count. Of several
    demands the one with the least is the hardest to serve.
    """
    least = demand.at_least if demand.spread is Spread.TOGETHER else 1
    frees = [room.free for room in _rooms(demand, candidates, interval) if room.free >= least]
    return len(frees), sum(frees)


def _rooms(demand: Demand, candidates: Iterable[Candidate],
           interval: interval.Interval) -> list[_Room]:
    return [room for place, candidate in enumerate(candidates)
            if (room := _room(demand.amount, candidate, interval, place)).free > 0]


def _room(amount: Amount, candidate: Candidate, interval: interval.Interval, place: int) -> _Room:
    held = usage.touching(candidate.bookings, interval)
    parts = [(span, booked) for span, booked in held if not isinstance(booked, Whole)]
    if len(parts) < len(held):
        free = 0
    elif isinstance(amount, Whole):
        free = 0 if held else 1
    else:
        free = usage.copies_beside(candidate.capacity, parts, amount)
    return _Room(candidate.id, free, bool(held), place)


def _together(demand: Demand, rooms: list[_Room], what: str) -> dict[int, int]:
    most = max((room.free for room in rooms), default=0)
    if most < demand.at_least:
        raise errors.NotEnough(what=f'{what} in one place', wanted=demand.at_least, free=most)
    if not rooms or demand.at_most == 0:
        return {}
    kept = _kept(demand)
    best = min((room for room in rooms if room.free >= demand.at_least),
               key=lambda room: (-min(kept.get(room.resource_id, 0), room.free, demand.at_most),
                                 -min(room.free, demand.at_most),
                                 not room.used, room.free, room.place))
    return {best.resource_id: min(best.free, demand.at_most)}


def _spread_out(demand: Demand, rooms: list[_Room], what: str) -> dict[int, int]:
    limits = {room.resource_id: 1 if demand.spread is Spread.APART else room.free
              for room in rooms}
    free = sum(limits.values())
    if free < demand.at_least:
        raise errors.NotEnough(what=what, wanted=demand.at_least, free=free)
    kept = _kept(demand)
    wishes = [(resource_id, min(copies, limits.get(resource_id, 0)))
              for resource_id, copies in kept.items()]
    wishes += [(room.resource_id, limits[room.resource_id])
               for room in _preferred(demand, rooms, kept)]
    left = demand.at_most
    taken: dict[int, int] = {}
    for resource_id, wish in wishes:
        more = min(wish - taken.get(resource_id, 0), left)
        if more > 0:
            taken[resource_id] = taken.get(resource_id, 0) + more
            left -= more
    return taken


def _preferred(demand: Demand, rooms: list[_Room], kept: Mapping[int, int]) -> list[_Room]:
    if isinstance(demand.amount, Whole):
        return rooms
    return sorted(rooms, key=lambda room: (not (room.used or room.resource_id in kept),
                                           room.free, room.place))


def _kept(demand: Demand) -> dict[int, int]:
    """{resource id: copies} held now, in the order in which they are to be kept."""
    kept: dict[int, int] = {}
    for pick in demand.keep:
        kept[pick.resource_id] = kept.get(pick.resource_id, 0) + pick.copies
    return kept
