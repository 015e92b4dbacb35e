# SPDX-License-Identifier: Apache-2.0
"""What somebody asks of the future, and what is answered, as frozen records."""
from collections.abc import Mapping
import dataclasses
from typing import Any

from climate.domain import records


@dataclasses.dataclass(frozen=True)
class Query:
    """When can these reservations be had together for `duration_seconds`?

    The whole time lies from `earliest` (None: now) to `latest` (None: a month later). `limit` is
    how many openings are answered at most. `hold` of them are to be held, for `hold_seconds` each,
    as long as the project holds no more than `hold_most`.
    """

    reservations: tuple[records.ReservationRequest, ...]
    duration_seconds: int
    earliest: records.Moment | None = None
    latest: records.Moment | None = None
    limit: int = 5
    hold: int = 0
    hold_seconds: int = 0
    hold_most: int = 0


@dataclasses.dataclass(frozen=True)
class Group:
    """So many resources that look alike: their properties, and their names for some eyes."""

    count: int
    properties: Mapping[str, Any]
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Share:
    """What one reservation gets: how many copies, on which resources."""

    resource_type: str
    count: int
    groups: tuple[Group, ...] = ()


@dataclasses.dataclass(frozen=True)
class Opening:
    """A time at which it can be had. It may begin until `last_start` and get as much.

    `id` and `held_until` are those of the offer by which it is held; None where it is not.
    """

    start: records.Moment
    end: records.Moment
    last_start: records.Moment
    shares: tuple[Share, ...]
    id: str | None = None
    held_until: records.Moment | None = None


@dataclasses.dataclass(frozen=True)
class Criterion:
    """One of the conditions: how many resources meet it, and how many meet it and those before."""

    criterion: str
    met_by: int
    remaining: int


@dataclasses.dataclass(frozen=True)
class Considered:
    """What was looked at for one reservation.

    `enrolled` resources of the pool, of which `matching` meet all criteria; `free` copies have room
    at the best moment for this reservation alone, `wanted` are needed at least.
    """

    resource_type: str
    pool: str
    wanted: int
    enrolled: int
    matching: int
    free: int
    criteria: tuple[Criterion, ...] = ()

    @property
    def sentence(self) -> str:
        """How far it would go round, in words."""
        text = f'{self.resource_type}: {self.enrolled} {self.pool}s are enrolled'
        for place, each in enumerate(self.criteria):
            text += f', {each.remaining} {"of them " if place else ""}with {each.criterion}'
        return f'{text}; {self.wanted} wanted, at the best time there is room for {self.free}.'


@dataclasses.dataclass(frozen=True)
class Alternative:
    """Something near that can be had: `kind` is how it differs: shorter, fewer or later.

    `counts` says how many each of the reservations would get, in their order.
    """

    kind: str
    start: records.Moment
    end: records.Moment
    counts: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Answer:
    """The openings, the best first; where there are none, the alternatives.

    :ivar complete: False where it was not looked at all moments, for there were too many.
    """

    earliest: records.Moment
    latest: records.Moment
    duration_seconds: int
    openings: tuple[Opening, ...] = ()
    considered: tuple[Considered, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    complete: bool = True
