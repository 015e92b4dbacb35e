# SPDX-License-Identifier: Apache-2.0
"""The comparison of the minimum need of a lease with the greatest free capacity of its pools.

If the minimum exceeds that capacity, the lease cannot get its resources, whatever its criteria are.
If the minimum fits, the lease may still fail. The minimum is stored with the lease. Therefore many
waiting leases can be compared without planning each of them.
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
    """Interchangeable resources of one pool.

    :ivar capacity: {class name: units} that are free now on each of the resources.
    :ivar count: the number of resources.
    :ivar whole_from: the start of the first booking of a whole resource; None: no such booking.
    :ivar used_from: the start of the first booking of any kind; None: there is no booking.
    """

    capacity: Mapping[str, int]
    count: int
    whole_from: datetime.datetime | None
    used_from: datetime.datetime | None


@dataclasses.dataclass(frozen=True)
class Shortage:
    """A shortage: of the `wanted` units of `what` in a pool, at most `free` are free."""

    pool: str
    what: str
    wanted: int
    free: int

    @property
    def message(self) -> str:
        return (f'Only {self.free} of {self.wanted} {self.what} are free for all of the time '
                'asked for.')


def of(needs: Iterable[Any]) -> Least:
    """Return the total minimum of all needs that are not optional, ready for JSON."""
    least: dict[str, list[list[Any]]] = {}
    for need in needs:
        if need.optional or not need.demand.at_least:
            continue
        entries = least.setdefault(need.pool, [])
        whole = need.demand.amount is selection.WHOLE
        amount = None if whole else dict(need.demand.amount)
        for entry in entries:
            if entry[0] == amount:
                entry[1] += need.demand.at_least
                break
        else:
            entries.append([amount, need.demand.at_least])
    return least


def shortage(least: Least, groups: Mapping[str, list[AlikeResources]],
             until: datetime.datetime) -> Shortage | None:
    """Return a Shortage if the minimum cannot fit from now until `until`, or None.

    :param groups: {pool: its AlikeResources}.
    """
    for pool, entries in least.items():
        for what, wanted, free in _compared(pool, entries, groups[pool], until):
            if wanted > free:
                return Shortage(pool, what, wanted, free)
    return None


def _compared(pool: str, entries: list[list[Any]], groups: list[AlikeResources],
              until: datetime.datetime) -> Iterator[tuple[str, int, int]]:
    """Yield triples (name of the units, wanted number, maximum of free ones)."""
    wholes = sum(copies for amount, copies in entries if amount is None)
    unused = [group for group in groups if _is_later(group.used_from, until)]
    yield texts.plural(pool), wholes, sum(group.count for group in unused)
    partly = [group for group in groups if _is_later(group.whole_from, until)]
    parts = [(amount, copies) for amount, copies in entries if amount is not None]

    def most(measure: Callable[[Mapping[str, int]], int]) -> int:
        """Return the capacity beside the whole resources, for which the smallest ones are taken."""
        total = sum(group.count * measure(group.capacity) for group in partly)
        if wholes:
            total -= _smallest(wholes, [(measure(group.capacity), group.count) for group in unused])
        return total

    for amount, _ in parts:
        # A copy of another amount that is as large also takes a place for this amount.
        wanted = sum(copies for other, copies in parts if _is_as_large(other, amount))
        yield f'places on {texts.plural(pool)}', wanted, most(functools.partial(_copies, amount))
    for name in sorted({name for amount, _ in parts for name in amount}):
        yield (f'{name} on {texts.plural(pool)}',
               sum(copies * amount.get(name, 0) for amount, copies in parts),
               most(functools.partial(_units, name)))


def _smallest(count: int, sizes: Iterable[tuple[int, int]]) -> int:
    """Return the total capacity of the `count` smallest resources.

    :param sizes: pairs (capacity of a resource, number of such resources).
    """
    total = 0
    for size, number in sorted(sizes):
        total += size * min(number, count)
        count -= min(number, count)
    return total


def _is_as_large(amount: Mapping[str, int], other: Mapping[str, int]) -> bool:
    return all(amount.get(name, 0) >= units for name, units in other.items())


def _is_later(moment: datetime.datetime | None, until: datetime.datetime) -> bool:
    return moment is None or moment >= until


def _units(name: str, capacity: Mapping[str, int]) -> int:
    return capacity.get(name, 0)


def _copies(amount: Mapping[str, int], capacity: Mapping[str, int]) -> int:
    """Return how many copies of an amount fit into a capacity; a huge number if it is empty."""
    return min((capacity.get(name, 0) // units for name, units in amount.items() if units > 0),
               default=10 ** 9)
