# SPDX-License-Identifier: Apache-2.0
"""The records of resources and of their allocations."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

from climate.domain import health
from climate.domain import maintenance_windows

Moment = datetime.datetime


@dataclasses.dataclass(frozen=True)
class LeaseLabel:
    """The name and the owner of a lease, in lists of other objects.

    `user_name` and `project_name` are None if they are not known.
    """

    name: str
    project_id: str
    user_id: str
    project_name: str | None = None
    user_name: str | None = None


@dataclasses.dataclass(frozen=True)
class Allocation:
    """The allocation of a resource to a reservation from `start` to `end`.

    A `whole` allocation takes the entire resource. Otherwise each of the `copies` takes `amount`,
    {class: units}. `need` is the key of the plugin's need that the allocation serves. An allocation
    that was released early has `released_at`, and does not count any more. `id`, `lease_id` and
    `lease` are set only in lists. `promised_until` is the end of the guarantee that the allocation
    inherited from one that it replaces; None: its own end.
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
    lease: LeaseLabel | None = None


def by_need(allocations: Iterable[Allocation],
            reservation_id: str) -> dict[str, tuple[int, ...]]:
    """Return the resources of one reservation in the format of ``Reservation.allocated``."""
    by_key: dict[str, tuple[int, ...]] = {}
    for allocation in sorted(allocations, key=lambda allocation: allocation.resource_id):
        if allocation.reservation_id == reservation_id:
            known = by_key.get(allocation.need, ())
            # A host that is sub-leased for a part of the time has several allocations.
            if not allocation.whole or known[-1:] != (allocation.resource_id,):
                by_key[allocation.need] = known + (allocation.resource_id,) * allocation.copies
    return by_key


@dataclasses.dataclass(frozen=True)
class ResourceLease:
    """A lease that has a resource now, until `end`; the names of owners as in LeaseLabel.

    `waits` says that the resource is only held back for the lease, which waits for more.
    """

    id: str
    name: str
    project_id: str
    user_id: str
    end: Moment
    project_name: str | None = None
    user_name: str | None = None
    waits: bool = False


@dataclasses.dataclass(frozen=True)
class Resource:
    """A resource that can be reserved: a host, an address, a storage backend.

    `capacity` is {class: units}. `properties` come from operators, `facts` from the cloud.
    `held_by` is the reservation that has the whole resource in the cloud now. `lent_to` is the only
    reservation that may use the resource; None: all may. `health_state` is one of
    ``health.STATES``, and `health_reason` is its reason. `verdict`, `maintenances`, `power_state`
    and `leases` are set only in responses. `power_state` is one of ``sleep.STATES``; None: the
    resource never sleeps, or its state was not read. `leases` has the first leases that have the
    resource now; None: they were not read.
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
    maintenances: tuple[maintenance_windows.MaintenanceWindow, ...] = ()
    power_state: str | None = None
    power_since: Moment | None = None
    leases: tuple[ResourceLease, ...] | None = None

    @property
    def is_well(self) -> bool:
        """Return whether the resource counts as healthy, so that new leases may use it."""
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
class ResourceQuery:
    """A query for the resources of a pool. A filter that is None selects all.

    :ivar search: a part of the name, in small or capital letters.
    :ivar criteria: criteria as JSON text.
    :ivar with_leases: whether to read the leases that have the resources now.
    :ivar hidden: whether the criteria may name resources and use private properties.
    """

    search: str | None = None
    criteria: str | None = None
    with_leases: bool = False
    hidden: bool = False


@dataclasses.dataclass(frozen=True)
class AllocationQuery:
    """A query for the allocations of a pool. A filter that is None selects all."""

    pool: str
    lease_id: str | None = None
    reservation_id: str | None = None
