# SPDX-License-Identifier: Apache-2.0
"""The records of queries for availability and of their answers."""
from collections.abc import Mapping
import dataclasses
from typing import Any

from climate.domain import prices
from climate.domain import records
from climate.domain import texts


@dataclasses.dataclass(frozen=True)
class AvailabilityQuery:
    """A query: when are the resources of these reservations free together for `duration_seconds`?

    The whole duration must lie between `earliest` (None: now) and `latest` (None: a month later).
    At most `limit` openings are returned. `hold` of them are held as offers for `hold_seconds`
    each, unless the project would then hold more than `hold_most` offers. `hidden_criteria` is as
    in a LeaseRequest.
    """

    reservations: tuple[records.ReservationRequest, ...]
    duration_seconds: int
    earliest: records.Moment | None = None
    latest: records.Moment | None = None
    limit: int = 5
    hold: int = 0
    hold_seconds: int = 0
    hold_most: int = 0
    hidden_criteria: bool = True


@dataclasses.dataclass(frozen=True)
class ResourceGroup:
    """A number of resources with equal properties; `names` are shown only to some callers."""

    count: int
    properties: Mapping[str, Any]
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class ReservationShare:
    """The share of one reservation: the number of copies, and the resources in groups."""

    resource_type: str
    count: int
    groups: tuple[ResourceGroup, ...] = ()


@dataclasses.dataclass(frozen=True)
class AvailableTime:
    """A time at which the resources are free.

    A lease of the same duration and resources may start at any moment from `start` to `last_start`.
    `id` and `held_until` are those of the offer that holds it; None if it is not held. `price` is
    that of a lease from `start` to `end`; None without a price book.
    """

    start: records.Moment
    end: records.Moment
    last_start: records.Moment
    shares: tuple[ReservationShare, ...]
    id: str | None = None
    held_until: records.Moment | None = None
    price: prices.LeasePrice | None = None


@dataclasses.dataclass(frozen=True)
class Criterion:
    """A criterion: how many resources meet it, and how many meet it and all criteria before it."""

    criterion: str
    met_by: int
    remaining: int


@dataclasses.dataclass(frozen=True)
class Considered:
    """The numbers that explain the answer for one reservation.

    The pool has `enrolled` resources; `matching` of them meet all criteria. At the best moment
    `free` copies are free for this reservation alone, of those that it wants; it needs at least
    `wanted`. At the earliest moment `free_at_earliest` copies are free in total.
    """

    resource_type: str
    pool: str
    wanted: int
    enrolled: int
    matching: int
    free: int
    free_at_earliest: int
    criteria: tuple[Criterion, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the numbers as a sentence."""
        text = f'{self.resource_type}: {self.enrolled} {texts.plural(self.pool)} are enrolled'
        for place, each in enumerate(self.criteria):
            text += f', {each.remaining} {"of them " if place else ""}with {each.criterion}'
        return f'{text}; {self.wanted} wanted, at the best time {self.free} fit.'


@dataclasses.dataclass(frozen=True)
class Alternative:
    """A similar lease that is possible; `kind` is how it differs: shorter, fewer or later.

    `counts` are the copies that each reservation would get, in the order of the query.
    """

    kind: str
    start: records.Moment
    end: records.Moment
    counts: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class CalendarSpan:
    """A time during which `free` of the `total` resources of a pool are free as a whole."""

    start: records.Moment
    end: records.Moment
    free: int
    total: int


@dataclasses.dataclass(frozen=True)
class AvailabilityAnswer:
    """The answer to a query: the openings, best first, or the alternatives if there are none.

    :ivar complete: False if there were too many moments to check all of them.
    """

    earliest: records.Moment
    latest: records.Moment
    duration_seconds: int
    openings: tuple[AvailableTime, ...] = ()
    considered: tuple[Considered, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    complete: bool = True
