# SPDX-License-Identifier: Apache-2.0
"""Which of the resources that a lease gave back early are unused, and which it only exchanged."""
import collections
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Sequence
import dataclasses
import datetime

from climate.domain import pricing

_Place = Callable[[pricing.Item], Hashable]


def netted(items: Sequence[pricing.Item]) -> list[pricing.Item]:
    """Return the Items of a lease, with how many copies of those that ended early are unused.

    If the number of copies is changed, Climate ends an allocation and makes another one at the
    same moment, perhaps on another resource of the pool. So many copies are in use as before. A
    whole resource is replaced only by itself, because the owner chose it.
    """
    begun: dict[tuple[Hashable, datetime.datetime], list[int]] = collections.defaultdict(list)
    left = {number: each.copies for number, each in enumerate(items)}
    unused = {number: each.copies for number, each in enumerate(items) if _is_early(each)}
    for place in (_on_same_resource, _in_same_pool):
        begun.clear()
        for number, each in enumerate(items):
            begun[place(each), each.start].append(number)
        for number in unused:
            each = items[number]
            for other in begun.get((place(each), each.end), ()):
                taken = min(left[other], unused[number])
                left[other] -= taken
                unused[number] -= taken
    return [dataclasses.replace(each, unused_copies=unused[number]) if number in unused else each
            for number, each in enumerate(items)]


def _is_early(item: pricing.Item) -> bool:
    return item.unused_until is not None and item.unused_until > item.end


def _on_same_resource(item: pricing.Item) -> Hashable:
    return item.reservation_id, item.resource_id


def _in_same_pool(item: pricing.Item) -> Hashable:
    return item.reservation_id, item.pool, item.resource_id if item.whole else None
