# SPDX-License-Identifier: Apache-2.0
"""The records of offers."""
import dataclasses
import datetime

from climate.domain import interval
from climate.domain import prices
from climate.domain.records import reservations
from climate.domain.records import resources

Moment = datetime.datetime


@dataclasses.dataclass(frozen=True)
class Offer:
    """An offer: resources from `start` to `end`, held for a project until `held_until`.

    Each part of `request` is validated and has the id that its reservation gets when the offer is
    taken. `allocations` are made for these reservations; empty if nothing is `held` any more.
    `price` is that of a lease that takes the offer now; None without a price book.
    """

    id: str
    project_id: str
    user_id: str
    start: Moment
    end: Moment
    request: tuple[reservations.ReservationRequest, ...]
    held_until: Moment
    created_at: Moment
    allocations: tuple[resources.Allocation, ...] = ()
    held: bool = True
    price: prices.LeasePrice | None = None

    @property
    def span(self) -> interval.Interval:
        return interval.Interval(self.start, self.end)
