# SPDX-License-Identifier: Apache-2.0
"""The records of what-if questions and of their answers."""
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import math
from typing import TypeVar

from climate.domain import records

#: The outcomes for a lease: it gets other resources, starts later, gets nothing, or gets what it
#: requested.
MOVES, WAITS, REFUSED, SERVED = 'moves', 'waits', 'refused', 'served'
OUTCOMES = (MOVES, WAITS, REFUSED, SERVED)

#: The kinds of affected leases: they lose resources, wait in the queue, or are additional demand.
DISPLACED, QUEUED, EXTRA = 'displaced', 'queued', 'extra'

_Item = TypeVar('_Item')


@dataclasses.dataclass(frozen=True)
class Added:
    """A number of added resources with the capacity and the properties of another resource.

    :ivar like: the id or the name of the other resource, which is in the pool.
    """

    count: int
    like: str


@dataclasses.dataclass(frozen=True)
class Outage:
    """A time during which `resources`, given by id or name, cannot be used."""

    resources: tuple[str, ...]
    start: records.Moment
    end: records.Moment


@dataclasses.dataclass(frozen=True)
class WhatIfQuestion:
    """A question about the leases of a pool if the pool, or the demand, changes.

    :ivar start: the beginning of the time of the question; `end` is its end.
    :ivar remove: ids or names of the resources that the pool loses at `start`.
    :ivar demand_factor: 1.5 means 50 % more leases; 0.5 means half of the future leases.
    :ivar limit: the maximum number of listed leases.
    """

    pool: str
    start: records.Moment
    end: records.Moment
    add: tuple[Added, ...] = ()
    remove: tuple[str, ...] = ()
    out: tuple[Outage, ...] = ()
    demand_factor: float = 1.0
    limit: int = 1000


@dataclasses.dataclass(frozen=True)
class Fate:
    """The outcome for one lease after the change.

    :ivar kind: DISPLACED, QUEUED or EXTRA; an extra lease has the id of the lease that it copies.
    :ivar outcome: one of `OUTCOMES`.
    :ivar start: the requested start; `end` is the requested end.
    :ivar new_start: the start after the change; None if the lease is refused.
    :ivar resources: the names of the present resources of a DISPLACED lease.
    :ivar new_resources: the names of the resources after the change.
    """

    lease_id: str
    kind: str
    outcome: str
    start: records.Moment
    end: records.Moment
    new_start: records.Moment | None = None
    resources: tuple[str, ...] = ()
    new_resources: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Step:
    """The use of a pool in a step of time, without and with the change, in resource-hours."""

    start: records.Moment
    end: records.Moment
    capacity: float
    allocated: float
    new_capacity: float
    new_allocated: float


@dataclasses.dataclass(frozen=True)
class WhatIfAnswer:
    """The answer to a WhatIfQuestion.

    :ivar leases: the number of leases that use the pool during the time of the question.
    :ivar counts: {kind: {outcome: number of leases}}.
    :ivar dropped: the number of future leases that are left out because `demand_factor` is below 1.
    :ivar fates: the first affected leases, at most `limit`.
    """

    pool: str
    start: records.Moment
    end: records.Moment
    resources: int
    new_resources: int
    leases: int
    counts: dict[str, dict[str, int]]
    dropped: int
    fates: tuple[Fate, ...]
    steps: tuple[Step, ...]


def scaled(items: Iterable[_Item], factor: float) -> Iterator[tuple[_Item, int]]:
    """Yield (item, number of its copies), so that the total is multiplied by a factor.

    The copies are spread evenly: with a factor of 1.5 every other item has 2, with 0.5 every other
    item has 0. The total is rounded down.
    """
    for index, item in enumerate(items):
        yield item, math.floor((index + 1) * factor + 1e-9) - math.floor(index * factor + 1e-9)
