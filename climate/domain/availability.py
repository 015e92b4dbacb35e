# SPDX-License-Identifier: Apache-2.0
"""The records of availability queries and of their answers."""
from collections.abc import Mapping
import dataclasses
from typing import Any

from climate.domain import facets
from climate.domain import prices
from climate.domain import records
from climate.domain import texts


@dataclasses.dataclass(frozen=True)
class AvailabilityQuery:
    """A query for the times at which the resources of all `reservations` are free together.

    They must be free for `duration_seconds` between `earliest` (None: now) and `latest` (None: a
    month later). The answer has at most `limit` openings. Climate holds the first `hold` of them as
    offers for `hold_seconds`; the project may hold at most `hold_most` offers. For
    `hidden_criteria` see LeaseRequest.
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
    """A number of resources with equal properties; only some callers get their `names`."""

    count: int
    properties: Mapping[str, Any]
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class ReservationShare:
    """The number of copies, and the groups of resources, that one reservation would get."""

    resource_type: str
    count: int
    groups: tuple[ResourceGroup, ...] = ()


@dataclasses.dataclass(frozen=True)
class AvailableTime:
    """A time at which the resources are free.

    A lease with the same duration may start at any moment from `start` to `last_start`. `id` and
    `held_until` belong to the offer that holds the resources; None: no offer holds them. `price` is
    the price of a lease from `start` to `end`; None without a price book.
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
    """A criterion. `met_by` resources meet it, `remaining` of them all criteria before it too."""

    criterion: str
    met_by: int
    remaining: int


@dataclasses.dataclass(frozen=True)
class Considered:
    """The numbers that explain the answer for one reservation.

    The pool has `enrolled` resources; `matching` of them meet all criteria. The reservation needs
    at least `wanted` copies. If it were the only one of the query, it would get `free` copies at
    the best moment. `free_at_earliest` copies are free at the earliest moment; this number may
    exceed the request. `values` has the existing values of the properties in criteria that too few
    resources meet, if every caller may read them.
    """

    resource_type: str
    pool: str
    wanted: int
    enrolled: int
    matching: int
    free: int
    free_at_earliest: int
    criteria: tuple[Criterion, ...] = ()
    values: Mapping[str, list[str]] = dataclasses.field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """Return the numbers as a sentence."""
        text = f'{self.resource_type}: {self.enrolled} {texts.plural(self.pool)} are enrolled'
        for index, criterion in enumerate(self.criteria):
            text += (f', {criterion.remaining} {"of them " if index else ""}'
                     f'with {criterion.criterion}')
        return (f'{text}; {self.wanted} wanted, at the best time {self.free} fit.'
                f'{facets.in_words(self.values)}')


@dataclasses.dataclass(frozen=True)
class Alternative:
    """A similar lease that is possible. Its `kind` is its difference: shorter, fewer or later.

    `counts` has the copies that each reservation would get, in the order of the query.
    """

    kind: str
    start: records.Moment
    end: records.Moment
    counts: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class CalendarSpan:
    """A time during which `free` of the `total` resources of a pool are entirely free.

    For a reservation of an amount, both count its copies.
    """

    start: records.Moment
    end: records.Moment
    free: int
    total: int


@dataclasses.dataclass(frozen=True)
class KindCalendar:
    """The number of free copies of one kind of a type, such as one flavor, over time.

    :ivar kind: the id of the kind.
    """

    kind: str
    spans: tuple[CalendarSpan, ...]


@dataclasses.dataclass(frozen=True)
class AvailabilityAnswer:
    """The answer to a query: the openings, best first, or the alternatives if there are none.

    :ivar complete: whether all possible moments were checked; False if there were too many.
    """

    earliest: records.Moment
    latest: records.Moment
    duration_seconds: int
    openings: tuple[AvailableTime, ...] = ()
    considered: tuple[Considered, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    complete: bool = True
