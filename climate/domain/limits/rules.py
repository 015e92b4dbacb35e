# SPDX-License-Identifier: Apache-2.0
"""The records of the limit book, and the choice of the limits that apply to an owner."""
from collections.abc import Hashable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import decimal
import enum
from typing import Any
from typing import TypeVar

from climate.domain import peak_hours
from climate.domain import requirement as requirements

Moment = datetime.datetime
_Scoped = TypeVar('_Scoped', bound='Scoped')

#: The unit that counts a whole resource as 1, and a shared resource by its copies.
RESOURCES = 'resources'


class Measure(enum.StrEnum):
    """The kinds of limits."""

    RESOURCE_HOURS = 'resource_hours'
    RESOURCES = 'resources'
    POOL_SHARE = 'pool_share'
    OPEN_LEASES = 'open_leases'
    WAITING_LEASES = 'waiting_leases'
    HELD_OFFERS = 'held_offers'
    LEASE_LENGTH = 'lease_length'
    AHEAD = 'ahead'
    NOTICE = 'notice'
    PAUSE = 'pause'
    ROLES = 'roles'


#: Measures with a bound `least`. Except for ROLES, which has no bound, the others have `most`.
WITH_LEAST = frozenset({Measure.NOTICE, Measure.PAUSE})
#: Measures whose bound is a duration.
OF_DURATIONS = WITH_LEAST | {Measure.LEASE_LENGTH, Measure.AHEAD}
#: Measures that a single lease meets or breaks, whatever other leases its owner has.
OF_ONE_LEASE = frozenset({Measure.LEASE_LENGTH, Measure.AHEAD, Measure.NOTICE, Measure.ROLES})
#: Measures that count leases or offers.
OF_COUNTS = frozenset({Measure.OPEN_LEASES, Measure.WAITING_LEASES, Measure.HELD_OFFERS})
#: Measures of held resources, which have a unit and may have hours.
OF_AMOUNTS = frozenset({Measure.RESOURCE_HOURS, Measure.RESOURCES, Measure.POOL_SHARE})


class Period(enum.StrEnum):
    """The calendar periods of a limit of resource-hours."""

    MONTH = 'month'
    QUARTER = 'quarter'
    YEAR = 'year'


class Per(enum.StrEnum):
    """The owner whose leases a limit adds up."""

    PROJECT = 'project'
    USER = 'user'


@dataclasses.dataclass(frozen=True, order=True)
class Owner:
    """The owner whose leases are added up: a project or a user, with its id."""

    kind: Per
    id: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scoped:
    """A rule for some owners, and for resources of some type or pool.

    :ivar projects: the ids of the projects to which the rule applies.
    :ivar users: the ids of the users to which it applies. Without projects and users it applies to
        everybody. A rule does not have both.
    :ivar resource_type: the resource type to which the rule applies; None: all types.
    :ivar pool: the pool to which the rule applies; None: all pools.
    """

    name: str
    projects: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    resource_type: str | None = None
    pool: str | None = None

    @property
    def group(self) -> Hashable:
        """Return a key that is equal for rules that differ only in their scope and their bound."""
        return self.resource_type, self.pool

    def rank_for(self, project_id: str, user_id: str) -> int | None:
        """Return how specific the rule is for a caller: 2 user, 1 project, 0 everybody.

        None means that the rule does not apply to the caller.
        """
        if user_id in self.users:
            return 2
        if project_id in self.projects:
            return 1
        return None if self.users or self.projects else 0

    def shares_scope_with(self, other: 'Scoped') -> bool:
        """Return whether both rules apply to the same owner with the same rank."""
        everybody = not (self.users or self.projects or other.users or other.projects)
        return everybody or bool(self.users & other.users or self.projects & other.projects)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limit(Scoped):
    """A limit of the limit book, or of Keystone.

    :ivar most: the maximum, unless the bound is a duration: resource-hours in units of `unit`,
        units, percent of the capacity of the pool, leases or offers. 0 allows nothing.
    :ivar duration: the bound of a measure in OF_DURATIONS: the minimum for those in WITH_LEAST, and
        the maximum for the others.
    :ivar roles: the roles of which the caller must have one, for ROLES.
    :ivar unit: RESOURCES, or a name of a capacity, such as "vcpus"; ``Pool.unit_classes`` has its
        classes.
    :ivar window: the length of the rolling window of RESOURCE_HOURS; None: there is a `period`.
    :ivar period: the calendar period of RESOURCE_HOURS, in the time zone `zone`.
    :ivar per: the owner whose leases are added up.
    :ivar criteria: the requirement that resources must meet to count.
    :ivar hours: the hours of the week that count; None: all.
    """

    measure: Measure
    most: decimal.Decimal | None = None
    duration: datetime.timedelta | None = None
    roles: frozenset[str] = frozenset()
    unit: str = RESOURCES
    window: datetime.timedelta | None = None
    period: Period | None = None
    zone: datetime.tzinfo | None = None
    per: Per = Per.PROJECT
    criteria: requirements.Requirement = requirements.NOTHING
    hours: peak_hours.PeakHours | None = None

    @property
    def group(self) -> Hashable:
        return (self.measure, self.unit, self.window, self.period, self.zone, self.per,
                self.resource_type, self.pool, self.criteria, self.hours)

    def owner_of(self, project_id: str, user_id: str) -> Owner:
        """Return the Owner whose leases are added up for a lease of a user in a project."""
        return Owner(self.per, user_id if self.per is Per.USER else project_id)

    def counts(self, resource_type: str, pool: str, properties: Mapping[str, object]) -> bool:
        """Return whether a reservation of a type on a resource counts.

        :param properties: the property values of the resource, as criteria compare them.
        """
        return (self.resource_type in (None, resource_type) and self.pool in (None, pool)
                and requirements.matches(self.criteria, properties))

    @property
    def property_names(self) -> frozenset[str]:
        """Return the names of the properties that `counts` reads."""
        return requirements.names(self.criteria)


class TotalFrom(enum.StrEnum):
    """The moment from which the longest total of an extension is measured."""

    START = 'start'
    NOW = 'now'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Extension(Scoped):
    """A rule of extensions. A bound that is None does not restrict them.

    :ivar within: extensions are allowed within this last part of a lease.
    :ivar within_percent: the same as a percentage of the duration of the lease.
    :ivar most: the maximum duration of one extension.
    :ivar times: the maximum number of extensions of one lease.
    :ivar total: the maximum duration until the new end, from the start of the lease or from now.
    """

    within: datetime.timedelta | None = None
    within_percent: decimal.Decimal | None = None
    most: datetime.timedelta | None = None
    times: int | None = None
    total: datetime.timedelta | None = None
    total_from: TotalFrom = TotalFrom.START


@dataclasses.dataclass(frozen=True)
class StoredLimitBook:
    """A version of the limit book as an administrator added it, with its number.

    The next version begins at `valid_until`; None: there is none.
    """

    version: int
    valid_from: Moment
    document: Mapping[str, Any]
    created_at: Moment
    created_by: str
    valid_until: Moment | None = None


@dataclasses.dataclass(frozen=True)
class LimitBook:
    """A version of the limit book, valid from `valid_from` until the next version is valid."""

    version: int
    valid_from: Moment
    limits: tuple[Limit, ...] = ()
    extensions: tuple[Extension, ...] = ()

    def limits_for(self, project_id: str, user_id: str) -> tuple[Limit, ...]:
        """Return the limits that apply to a user in a project, in their order.

        Among limits that differ only in their scope, the one with the most specific scope applies:
        one for the user, then one for the project, then one for everybody.
        """
        return most_specific(self.limits, project_id, user_id)

    def extensions_for(self, project_id: str, user_id: str) -> tuple[Extension, ...]:
        """Return the rules of extensions that apply, in their order; see `limits_for`."""
        return most_specific(self.extensions, project_id, user_id)


def most_specific(rules: Sequence[_Scoped], project_id: str, user_id: str
                  ) -> tuple[_Scoped, ...]:
    """Return the rules that apply to a user in a project, one of each group, in their order."""
    best: dict[Hashable, tuple[int, _Scoped]] = {}
    for rule in rules:
        rank = rule.rank_for(project_id, user_id)
        if rank is not None and (rule.group not in best or rank > best[rule.group][0]):
            best[rule.group] = rank, rule
    chosen = {id(rule) for _, rule in best.values()}
    return tuple(rule for rule in rules if id(rule) in chosen)
