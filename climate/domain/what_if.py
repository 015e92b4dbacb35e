# SPDX-License-Identifier: Apache-2.0
"""The records of what-if questions and of their answers."""
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import math
from typing import TypeVar

from climate.domain import records

#: How a lease comes out: other resources, a later start, nothing, or served as asked.
MOVES, WAITS, REFUSED, SERVED = 'moves', 'waits', 'refused', 'served'
OUTCOMES = (MOVES, WAITS, REFUSED, SERVED)

#: Why a lease is looked at: it loses resources, waits in the queue now, or is demand to come.
DISPLACED, QUEUED, EXTRA = 'displaced', 'queued', 'extra'

_Item = TypeVar('_Item')


@dataclasses.dataclass(frozen=True)
class Added:
    """Resources that are added: `count` of them, with capacity and properties of `like`.

    :ivar like: the id or the name of a resource of the pool.
    """

    count: int
    like: str


@dataclasses.dataclass(frozen=True)
class Outage:
    """A time during which some resources, named by id or name, cannot be used."""

    resources: tuple[str, ...]
    start: records.Moment
    end: records.Moment


@dataclasses.dataclass(frozen=True)
class WhatIfQuestion:
    """What would become of the leases of a pool if it, or the demand, changed?

    :ivar start: the beginning of the time looked at; `end` is its end.
    :ivar remove: ids or names of the resources that are gone from `start` on.
    :ivar demand_factor: 1.5: half as many leases more; 0.5: every other lease of those to come.
    :ivar limit: the greatest number of leases that are listed.
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
    """What would become of one lease.

    :ivar kind: DISPLACED, QUEUED or EXTRA; an extra lease has the id of the lease that it copies.
    :ivar outcome: one of `OUTCOMES`.
    :ivar start: as asked for; `end` too.
    :ivar new_start: when it would start; None if it is refused.
    :ivar resources: names of what it has now; empty unless it is DISPLACED.
    :ivar new_resources: names of what it would get.
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
    """The use of a pool in a step of time, now and in the changed world, in resource-hours."""

    start: records.Moment
    end: records.Moment
    capacity: float
    allocated: float
    new_capacity: float
    new_allocated: float


@dataclasses.dataclass(frozen=True)
class WhatIfAnswer:
    """The answer to a WhatIfQuestion.

    :ivar leases: how many leases use the pool during the time.
    :ivar counts: {kind: {outcome: number of leases}}.
    :ivar dropped: how many leases to come are left out because demand shrinks.
    :ivar fates: the first leases that do not stay as they are, at most `limit`.
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
    """Yield each item with how many of it there are in total if demand is multiplied.

    The copies are spread evenly: with a factor of 1.5 every other item has 2, with 0.5 every other
    item has 0. The total is the number of items times the factor, rounded down.
    """
    for place, item in enumerate(items):
        yield item, math.floor((place + 1) * factor + 1e-9) - math.floor(place * factor + 1e-9)
