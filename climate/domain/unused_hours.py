# SPDX-License-Identifier: Apache-2.0
"""Which of the resources that a lease gave back early are unused, and which it only exchanged."""
import collections
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Sequence
import dataclasses
import datetime

from climate.domain import lease_pricing
from climate.domain import records

_Place = Callable[[lease_pricing.PricedItem], Hashable]


@dataclasses.dataclass(frozen=True)
class Promise:
    """The copies of a resource that a reservation is to have until a moment."""

    resource_id: int | None
    copies: int
    until: datetime.datetime


def _on_same_resource(item: lease_pricing.PricedItem) -> Hashable:
    return 'resource', item.reservation_id, item.resource_id


def _in_same_pool(item: lease_pricing.PricedItem) -> Hashable:
    return 'pool', item.reservation_id, item.pool, item.resource_id if item.whole else None


_PLACES: tuple[_Place, ...] = (_on_same_resource, _in_same_pool)


def netted(items: Sequence[lease_pricing.PricedItem]) -> list[lease_pricing.PricedItem]:
    """Return the Items of a lease, with how many copies of those that ended early are unused.

    If the number of copies is changed, Climate ends an allocation and makes another one at the
    same moment, perhaps on another resource of the pool. So many copies are in use as before. A
    whole resource is replaced only by itself, because the owner chose it.
    """
    begun: dict[tuple[Hashable, datetime.datetime], list[int]] = collections.defaultdict(list)
    for number, each in enumerate(items):
        for place in _PLACES:
            begun[place(each), each.start].append(number)
    left = {number: each.copies for number, each in enumerate(items)}
    early = [(each.unused_until, number) for number, each in enumerate(items)
             if each.unused_until is not None and each.unused_until > each.end]
    unused = {number: items[number].copies for _, number in early}
    # The latest promise first, as in `inherited`.
    for _, number in sorted(early, reverse=True):
        each = items[number]
        for place in _PLACES:
            for other in begun.get((place(each), each.end), ()):
                taken = min(left[other], unused[number])
                left[other] -= taken
                unused[number] -= taken
    return [dataclasses.replace(each, unused_copies=unused[number]) if number in unused else each
            for number, each in enumerate(items)]


def inherited(ended: Sequence[Promise], begun: Sequence[Promise]
              ) -> list[dict[datetime.datetime | None, int]]:
    """Return how many copies of new allocations keep the promise of the ones that they replace.

    Otherwise an owner could replace copies by others that end at once, and never pay for the
    unused hours.

    :param ended: the allocations that end at this moment, with their promises.
    :param begun: the allocations that replace them, with their ends.
    :returns: for each of `begun`, {promise, None: its own end: number of copies}.
    """
    found: list[collections.Counter[datetime.datetime | None]] = [
        collections.Counter({None: each.copies}) for each in begun]
    for old in sorted(ended, key=lambda each: each.until, reverse=True):
        left = old.copies
        # Copies that stay on their resource come first.
        for copies, new in sorted(zip(found, begun, strict=True),
                                  key=lambda pair: pair[1].resource_id != old.resource_id):
            if new.until < old.until:
                kept = min(left, copies[None])
                left -= kept
                copies[None] -= kept
                copies[old.until] += kept
    return [dict(+copies) for copies in found]


def keeping(promises: Sequence[Promise], chosen: Sequence[records.Allocation]
            ) -> list[records.Allocation]:
    """Return Allocations with the Promises of those that they replace; some are split by them."""
    found = inherited(promises, [
        Promise(each.resource_id, each.copies, each.end) for each in chosen])
    return [dataclasses.replace(each, copies=copies, promised_until=until)
            for each, parts in zip(chosen, found, strict=True) for until, copies in parts.items()]
