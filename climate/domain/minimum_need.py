# SPDX-License-Identifier: Apache-2.0
"""The least that a lease needs, compared with the most that its pools can have free.

What is beyond this bound cannot succeed, whatever the criteria are. What is within it may still
fail. The least is stored with the lease, so many leases that wait are compared without a plan.
"""
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import datetime
import functools
from typing import Any

from climate.domain import selection
from climate.domain import texts

# {pool: [[the amount of one copy, or None for a whole resource; the number of copies]]}.
Least = Mapping[str, list[list[Any]]]


@dataclasses.dataclass(frozen=True)
class AlikeResources:
    """Resources of one pool that are alike.

    :ivar capacity: {class name: units} that are free of each of them now.
    :ivar count: how many there are.
    :ivar whole_from: when the first booking of all of it begins; None: never.
    :ivar used_from: when the first booking of all or a part of it begins; None: never.
    """

    capacity: Mapping[str, int]
    count: int
    whole_from: datetime.datetime | None
    used_from: datetime.datetime | None


@dataclasses.dataclass(frozen=True)
class Shortage:
    """What is too much: `wanted` of `what` are needed of a pool, and at most `free` are free."""

    pool: str
    what: str
    wanted: int
    free: int

    @property
    def message(self) -> str:
        return (f'Only {self.free} of {self.wanted} {self.what} are free for all of the time '
                'asked for.')


def of(needs: Iterable[Any]) -> Least:
    """Return the least that needs take together, ready for JSON; optional needs take nothing."""
    found: dict[str, list[list[Any]]] = {}
    for need in needs:
        if need.optional or not need.demand.at_least:
            continue
        entries = found.setdefault(need.pool, [])
        whole = need.demand.amount is selection.WHOLE
        amount = None if whole else dict(need.demand.amount)
        for entry in entries:
            if entry[0] == amount:
                entry[1] += need.demand.at_least
                break
        else:
            entries.append([amount, need.demand.at_least])
    return found


def shortage(least: Least, groups: Mapping[str, list[AlikeResources]],
             until: datetime.datetime) -> Shortage | None:
    """Return a Shortage if it is plain that the least does not fit until that moment, or None.

    :param groups: {pool: its Groups}.
    """
    for pool, entries in least.items():
        for what, wanted, free in _compared(pool, entries, groups[pool], until):
            if wanted > free:
                return Shortage(pool, what, wanted, free)
    return None


def _compared(pool: str, entries: list[list[Any]], groups: list[AlikeResources],
              until: datetime.datetime) -> Iterator[tuple[str, int, int]]:
    """Yield triples (what, number wanted, number that can be free at most)."""
    wholes = sum(copies for amount, copies in entries if amount is None)
    unused = [each for each in groups if _is_later(each.used_from, until)]
    yield texts.plural(pool), wholes, sum(each.count for each in unused)
    partly = [each for each in groups if _is_later(each.whole_from, until)]
    parts = [(amount, copies) for amount, copies in entries if amount is not None]

    def most(room: Callable[[Mapping[str, int]], int]) -> int:
        """Return the room of all resources but the smallest ones that are needed whole."""
        found = sum(each.count * room(each.capacity) for each in partly)
        if wholes:
            found -= _smallest(wholes, [(room(each.capacity), each.count) for each in unused])
        return found

    for amount, _ in parts:
        # A copy that takes no less of any class needs a place for this amount, too.
        wanted = sum(copies for other, copies in parts if _is_as_large(other, amount))
        yield f'places on {texts.plural(pool)}', wanted, most(functools.partial(_copies, amount))
    for name in sorted({name for amount, _ in parts for name in amount}):
        yield (f'{name} on {texts.plural(pool)}',
               sum(copies * amount.get(name, 0) for amount, copies in parts),
               most(functools.partial(_units, name)))


def _smallest(count: int, rooms: Iterable[tuple[int, int]]) -> int:
    """Return the room of the `count` resources that have the least.

    :param rooms: pairs (the room of each of some resources, how many these are).
    """
    found = 0
    for room, some in sorted(rooms):
        found += room * min(some, count)
        count -= min(some, count)
    return found


def _is_as_large(amount: Mapping[str, int], other: Mapping[str, int]) -> bool:
    return all(amount.get(name, 0) >= units for name, units in other.items())


def _is_later(moment: datetime.datetime | None, until: datetime.datetime) -> bool:
    return moment is None or moment >= until


def _units(name: str, capacity: Mapping[str, int]) -> int:
    return capacity.get(name, 0)


def _copies(amount: Mapping[str, int], capacity: Mapping[str, int]) -> int:
    """Return how many copies of an amount fit into a capacity; very many if it is nothing."""
    return min((capacity.get(name, 0) // units for name, units in amount.items() if units > 0),
               default=10 ** 9)
