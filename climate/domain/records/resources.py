# SPDX-License-Identifier: Apache-2.0
"""The records of resources and of their allocations."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import health
from climate.domain import maintenance

Moment = datetime.datetime


@dataclasses.dataclass(frozen=True)
class Allocation:
    """The allocation of a resource to a reservation from `start` to `end`.

    If not `whole`, it takes `amount`, {class: units}, for each of `copies`. `need` is the key of
    the need of the reservation's plugin that it serves. An allocation that was released early has
    `released_at` and does not count any more. Only lists have its `id`, and its `lease_id`. A new
    one has `promised_until` if it replaces one that was guaranteed for longer.
    """

    reservation_id: str
    resource_id: int
    start: Moment
    end: Moment
    whole: bool = True
    amount: Mapping[str, int] = dataclasses.field(default_factory=dict)
    copies: int = 1
    released_at: Moment | None = None
    lease_id: str | None = None
    need: str = ''
    id: int | None = None
    promised_until: Moment | None = None


def by_need(allocations: Iterable[Allocation],
            reservation_id: str) -> dict[str, tuple[int, ...]]:
    """Return the resources of a reservation, in the format of ``Reservation.allocated``."""
    by_key: dict[str, tuple[int, ...]] = {}
    for allocation in sorted(allocations, key=lambda allocation: allocation.resource_id):
        if allocation.reservation_id == reservation_id:
            by_key[allocation.need] = (by_key.get(allocation.need, ())
                                       + (allocation.resource_id,) * allocation.copies)
    return by_key


@dataclasses.dataclass(frozen=True)
class Resource:
    """A resource that can be reserved: a host, an address, a storage backend.

    `capacity` is {class: units}. `properties` come from operators, `facts` from the cloud.
    `held_by` is the reservation that holds all of it in the cloud now. `lent_to` is the only
    reservation that may use it; None: any may. `health_state` is one of ``health.STATES``,
    for `health_reason`. Only responses have its `verdict`, its `maintenances` and its
    `power_state`, one of ``sleep.STATES``; None: it never sleeps, or the state was not read.
    """

    id: int
    pool: str
    name: str
    capacity: Mapping[str, int]
    reservable: bool = True
    generation: int = 0
    held_by: str | None = None
    lent_to: str | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None
    health_state: str = health.WELL
    health_reason: str | None = None
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    verdict: health.HealthVerdict | None = None
    maintenances: tuple[maintenance.MaintenanceWindow, ...] = ()
    power_state: str | None = None
    power_since: Moment | None = None

    @property
    def is_well(self) -> bool:
        """Return whether no source of health and no operator reports that it does not work."""
        return self.health_state == health.WELL


@dataclasses.dataclass(frozen=True)
class Property:
    """A property of the resources of a pool; only admins see a private one."""

    id: int
    pool: str
    name: str
    private: bool = False
    values: tuple[str, ...] = ()
    created_at: Moment | None = None
    updated_at: Moment | None = None


@dataclasses.dataclass(frozen=True)
class AllocationQuery:
    """A query for the allocations of a pool. A filter that is None selects all."""

    pool: str
    lease_id: str | None = None
    reservation_id: str | None = None
