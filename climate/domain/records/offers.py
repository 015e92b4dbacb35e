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

    Each item of `request` is validated. Its id becomes the id of the reservation when the offer is
    taken. `allocations` hold the resources under these ids; they are empty if the offer is not
    `held` any more. `price` is the price of the lease if the offer is taken now; None without a
    price book.
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
