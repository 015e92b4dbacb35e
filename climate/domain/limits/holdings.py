# SPDX-License-Identifier: Apache-2.0
"""The records of the leases and offers that limits count, and of the resources that they hold."""
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
import enum
from typing import Any

from climate.domain.limits import rules

Moment = datetime.datetime


class Kind(enum.StrEnum):
    """The kinds of holdings."""

    LEASE = 'lease'
    WAITING = 'waiting'
    OFFER = 'offer'
    #: A lease that is over. Only its resources count.
    OVER = 'over'


@dataclasses.dataclass(frozen=True)
class HeldResource:
    """A resource, or a part of one, that a lease or an offer holds from `start` to `end`.

    :ivar units: {unit: number of units of one copy}; a whole resource has its capacity.
    :ivar properties: the property values of the resource, as criteria compare them.
    """

    reservation_id: str
    resource_type: str
    pool: str
    resource_id: int
    start: Moment
    end: Moment
    units: Mapping[str, int] = dataclasses.field(default_factory=dict)
    copies: int = 1
    properties: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def amount(self, unit: str) -> int:
        """Return the number of units that the lease or offer holds."""
        if unit == rules.RESOURCES:
            return self.copies
        return self.units.get(unit, 0) * self.copies


@dataclasses.dataclass(frozen=True)
class Holding:
    """A lease or an offer of an owner, with the resources that it holds, held or will hold.

    :ivar pools: {resource type: names of its pools} of its reservations.
    :ivar latest_start: the latest start of a waiting lease; None: there is none.
    :ivar held_until: the moment until which an offer is held; None: this is a lease.
    """

    id: str
    kind: Kind
    project_id: str
    user_id: str
    start: Moment
    end: Moment
    pools: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    resources: tuple[HeldResource, ...] = ()
    latest_start: Moment | None = None
    held_until: Moment | None = None

    def is_of(self, owner: rules.Owner) -> bool:
        """Return whether the holding counts for an owner."""
        return owner.id == (self.user_id if owner.kind is rules.Per.USER else self.project_id)

    def counted(self, limit: rules.Limit) -> tuple[HeldResource, ...]:
        """Return the resources that a limit counts."""
        return tuple(held for held in self.resources
                     if limit.counts(held.resource_type, held.pool, held.properties))

    def may_count(self, limit: rules.Limit) -> bool:
        """Return whether the limit counts the holding as a whole.

        A lease that has no resources counts by its types, as it may get resources that count.
        """
        if self.resources:
            return bool(self.counted(limit))
        return any(limit.resource_type in (None, resource_type)
                   and (limit.pool is None or limit.pool in pools)
                   for resource_type, pools in self.pools.items())


@dataclasses.dataclass(frozen=True)
class PoolPart:
    """A number of enrolled resources of a pool with equal capacities and properties."""

    pool: str
    count: int
    units: Mapping[str, int] = dataclasses.field(default_factory=dict)
    properties: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Request:
    """A request of an owner: one lease or offer before and after it, beside all others.

    :ivar before: the Holding before the request; None: a new lease or offer.
    :ivar after: the Holding after the request; None: the request deletes it.
    :ivar others: the other Holdings of the project and of the user.
    :ivar parts: the PoolParts of the pools with a limit of their share.
    :ivar candidates: the resources that a new waiting lease may get, for limits with criteria.
    :ivar roles: the roles of the caller; None: roles do not matter.
    :ivar is_attempt: Climate itself tries to acquire the resources of a waiting lease, so the rules
        about the time between a request and a start do not apply.
    """

    now: Moment
    before: Holding | None = None
    after: Holding | None = None
    others: tuple[Holding, ...] = ()
    parts: tuple[PoolPart, ...] = ()
    candidates: tuple[HeldResource, ...] = ()
    roles: frozenset[str] | None = None
    is_attempt: bool = False

    def others_of(self, limit: rules.Limit) -> list[Holding]:
        """Return the other Holdings that a limit adds up."""
        subject = self.after or self.before
        if subject is None:
            return list(self.others)
        owner = limit.owner_of(subject.project_id, subject.user_id)
        return [each for each in self.others if each.is_of(owner)]

    def may_count(self, limit: rules.Limit) -> bool:
        """Return whether a limit counts the lease, or a resource that it may get if it waits."""
        after = self.after
        if after is None or after.resources or not self.candidates:
            return after is not None and after.may_count(limit)
        return any(limit.counts(held.resource_type, held.pool, held.properties)
                   for held in self.candidates)

    def before_of(self, limit: rules.Limit) -> Holding | None:
        """Return the Holding before the request, if a limit counts it for the owner of the lease.

        The result is None for an offer of another owner, such as another user of the project: the
        lease that takes it adds its resources to those of its own user.
        """
        before, after = self.before, self.after
        if before is None or after is None:
            return before
        if limit.measure is rules.Measure.ROLES and before.user_id != after.user_id:
            return None
        owners = {limit.owner_of(each.project_id, each.user_id) for each in (before, after)}
        return before if len(owners) == 1 else None


def capacity(limit: rules.Limit, parts: Iterable[PoolPart]) -> int:
    """Return the enrolled capacity of which a limit of a share allows a percentage."""
    return sum(part.count * (1 if limit.unit == rules.RESOURCES else part.units.get(limit.unit, 0))
               for part in parts if part.pool == limit.pool
               and limit.counts(limit.resource_type or '', part.pool, part.properties))
