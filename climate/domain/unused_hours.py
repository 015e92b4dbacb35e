# SPDX-License-Identifier: Apache-2.0
"""The copies that a lease returned early and that no other copies replaced."""
import collections
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Sequence
import dataclasses
import datetime

from climate.domain import lease_pricing
from climate.domain import records

# An item can replace another one if one of these keys is equal. The first key is tried first.
_KEYS: tuple[Callable[[lease_pricing.PricedItem], Hashable], ...] = (
    lambda item: ('resource', item.reservation_id, item.resource_id),
    lambda item: ('pool', item.reservation_id, item.pool,
                  item.resource_id if item.whole else None))


@dataclasses.dataclass(frozen=True)
class Guarantee:
    """The copies of a resource that are guaranteed to a reservation until a moment."""

    resource_id: int | None
    copies: int
    until: datetime.datetime


def with_unused_copies(items: Sequence[lease_pricing.PricedItem]) -> list[lease_pricing.PricedItem]:
    """Return the items of a lease, with `unused_copies` in the items that ended early.

    If the number of copies is changed, Climate ends an allocation and creates another one at the
    same moment, perhaps on another resource of the pool. Copies that continue in this way are not
    unused. Only the same whole resource replaces a whole resource, because the owner chose it.
    """
    begun: dict[tuple[Hashable, datetime.datetime], list[int]] = collections.defaultdict(list)
    for index, item in enumerate(items):
        for key in _KEYS:
            begun[key(item), item.start].append(index)
    replacing = {index: item.copies for index, item in enumerate(items)}
    early = [(item.unused_until, index) for index, item in enumerate(items)
             if item.unused_until is not None and item.unused_until > item.end]
    unused = {index: items[index].copies for _, index in early}
    # The latest moment first, as in `inherited_guarantees`.
    for _, index in sorted(early, reverse=True):
        item = items[index]
        for key in _KEYS:
            for other in begun.get((key(item), item.end), ()):
                replaced = min(replacing[other], unused[index])
                replacing[other] -= replaced
                unused[index] -= replaced
    return [dataclasses.replace(item, unused_copies=unused[index]) if index in unused else item
            for index, item in enumerate(items)]


def inherited_guarantees(ended: Sequence[Guarantee], begun: Sequence[Guarantee]
                         ) -> list[dict[datetime.datetime | None, int]]:
    """Return the numbers of new copies that inherit the guarantee of the copies that they replace.

    Without this rule an owner could replace copies by copies that end at once, and would never pay
    for unused hours.

    :param ended: the allocations that end at this moment, with the ends of their guarantees.
    :param begun: the allocations that replace them, with their ends.
    :returns: for each of `begun`, {end of the inherited guarantee, or None: number of copies}.
    """
    inherited_by: list[collections.Counter[datetime.datetime | None]] = [
        collections.Counter({None: new.copies}) for new in begun]
    for old in sorted(ended, key=lambda old: old.until, reverse=True):
        remaining = old.copies
        # Copies on the same resource inherit first.
        for copies, new in sorted(zip(inherited_by, begun, strict=True),
                                  key=lambda pair: pair[1].resource_id != old.resource_id):
            if new.until < old.until:
                inheriting = min(remaining, copies[None])
                remaining -= inheriting
                copies[None] -= inheriting
                copies[old.until] += inheriting
    return [dict(+copies) for copies in inherited_by]


def with_guarantees(guarantees: Sequence[Guarantee], chosen: Sequence[records.Allocation]
                    ) -> list[records.Allocation]:
    """Return the chosen Allocations, split by the guarantees that their copies inherit."""
    inherited_by = inherited_guarantees(guarantees, [
        Guarantee(new.resource_id, new.copies, new.end) for new in chosen])
    return [dataclasses.replace(new, copies=copies, promised_until=until)
            for new, parts in zip(chosen, inherited_by, strict=True)
            for until, copies in parts.items()]
