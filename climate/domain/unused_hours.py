# SPDX-License-Identifier: Apache-2.0
"""The copies that a lease returned early and are unused, as distinct from exchanged ones."""
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
    """The copies of a resource that are guaranteed to a reservation until a moment."""

    resource_id: int | None
    copies: int
    until: datetime.datetime


def _on_same_resource(item: lease_pricing.PricedItem) -> Hashable:
    return 'resource', item.reservation_id, item.resource_id


def _in_same_pool(item: lease_pricing.PricedItem) -> Hashable:
    return 'pool', item.reservation_id, item.pool, item.resource_id if item.whole else None


_PLACES: tuple[_Place, ...] = (_on_same_resource, _in_same_pool)


def netted(items: Sequence[lease_pricing.PricedItem]) -> list[lease_pricing.PricedItem]:
    """Return the items of a lease, with the number of unused copies of those that ended early.

    If the number of copies is changed, Climate ends an allocation and creates another one at the
    same moment, perhaps on another resource of the pool. Copies that continue in this way are not
    unused. A whole resource is replaced only by itself, because the owner chose it.
    """
    begun: dict[tuple[Hashable, datetime.datetime], list[int]] = collections.defaultdict(list)
    for number, each in enumerate(items):
        for place in _PLACES:
            begun[place(each), each.start].append(number)
    left = {number: each.copies for number, each in enumerate(items)}
    early = [(each.unused_until, number) for number, each in enumerate(items)
             if each.unused_until is not None and each.unused_until > each.end]
    unused = {number: items[number].copies for _, number in early}
    # The latest moment first, as in `inherited`.
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
    """Return the numbers of new copies that keep the guarantee of the ones that they replace.

    Otherwise an owner could replace copies by others that end at once, and never pay for the
    unused hours.

    :param ended: the allocations that end at this moment, with their guarantees.
    :param begun: the allocations that replace them, with their ends.
    :returns: for each of `begun`, {guaranteed until, None: its own end: number of copies}.
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
    """Return Allocations with the guarantees of those that they replace; this splits some."""
    found = inherited(promises, [
        Promise(each.resource_id, each.copies, each.end) for each in chosen])
    return [dataclasses.replace(each, copies=copies, promised_until=until)
            for each, parts in zip(chosen, found, strict=True) for until, copies in parts.items()]
