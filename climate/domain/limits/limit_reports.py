# SPDX-License-Identifier: Apache-2.0
"""A report for a project: its limits, how much of them is used, and the rules for extensions."""
import dataclasses
import datetime

Moment = datetime.datetime

#: The sources of limits: the limit book of Climate, and the unified limits of Keystone.
LIMIT_BOOK, KEYSTONE = 'limit_book', 'keystone'
#: The unit of lengths.
SECONDS = 'seconds'


@dataclasses.dataclass(frozen=True)
class ReportedLimit:
    """A limit of an owner, and how much of it is used.

    :ivar source: LIMIT_BOOK or KEYSTONE.
    :ivar description: the limit in words, such as "leases of at most 7 days".
    :ivar applies_to: "everybody", "project" or "user": the scope that selected the limit.
    :ivar per: "project" or "user": the owner whose leases are added up.
    :ivar unit: the unit of the numbers, such as "vcpus", "leases" or SECONDS; None: no numbers.
    :ivar most: the greatest allowed value; None: there is none.
    :ivar least: the least allowed value; None: there is none.
    :ivar used: the value now; None: the measure has none, or it is the value of a user and the
        report is not about a user.
    :ivar remaining: None if `used` is None.
    :ivar until: when some of the used part is available again; None: it is not known.
    :ivar roles: the roles of which the caller must have one.
    :ivar allowed: whether the caller has one of the roles; None: there are no roles, or the report
        is about somebody else.
    """

    name: str
    source: str
    measure: str
    description: str
    applies_to: str
    per: str
    unit: str | None = None
    most: float | None = None
    least: float | None = None
    used: float | None = None
    remaining: float | None = None
    until: Moment | None = None
    resource_type: str | None = None
    pool: str | None = None
    criteria: str | None = None
    roles: tuple[str, ...] = ()
    allowed: bool | None = None


@dataclasses.dataclass(frozen=True)
class ExtensionRule:
    """A rule for extensions that applies to the leases of an owner.

    :ivar description: the rule in words.
    :ivar within_seconds: a lease may be extended within this last part of it; None: in any part.
    :ivar within_percent: the same as a percentage of the duration of the lease.
    """

    name: str
    description: str
    resource_type: str | None = None
    pool: str | None = None
    within_seconds: int | None = None
    within_percent: float | None = None


@dataclasses.dataclass(frozen=True)
class LimitReport:
    """The limits of a project, and of a user of the project.

    :ivar user_id: None: the report has no use of a user.
    :ivar version: the version of the limit book that is valid now; None: there is none.
    """

    project_id: str
    user_id: str | None
    version: int | None
    limits: tuple[ReportedLimit, ...] = ()
    extensions: tuple[ExtensionRule, ...] = ()
