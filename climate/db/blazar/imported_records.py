# SPDX-License-Identifier: Apache-2.0
"""The records of what is imported from Blazar, and of what cannot be."""
import dataclasses
import datetime
import hashlib

from climate.domain import records

HOST, ADDRESS = 'host', 'address'
#: What happens to an object that cannot be imported.
LEFT_OUT = 'It is left out.'


@dataclasses.dataclass(frozen=True)
class Problem:
    """Something that is not imported as it is.

    :ivar what: the object, such as "lease 1b49ee80… (demo) of project p1".
    :ivar why: what is wrong, as a sentence.
    :ivar happens: what the import does with it, as a sentence.
    :ivar advice: what to do, as a sentence.
    """

    what: str
    why: str
    happens: str
    advice: str = ''

    @property
    def is_loss(self):
        """True if a lease or a resource is left out."""
        return self.happens == LEFT_OUT


@dataclasses.dataclass(frozen=True)
class Overlap:
    """Two leases that have the same resource at the same time.

    :ivar kept: (id, name, project id) of the lease that keeps the resource: that made first.
    :ivar lost: the same of the other one.
    """

    resource: str
    start: datetime.datetime
    end: datetime.datetime
    kept: tuple
    lost: tuple


@dataclasses.dataclass(frozen=True)
class ImportedResource:
    """A resource with its properties. `id` is None if Climate chooses it."""

    pool: str
    name: str
    id: int | None
    source_id: str
    capacity: dict
    reservable: bool
    properties: dict
    facts: dict
    private: tuple = ()


@dataclasses.dataclass(frozen=True)
class ImportedLease:
    """A lease with its allocations, whose `resource_id` is (pool, source id).

    :ivar fingerprint: a hash of all that Blazar has of it.
    """

    lease: records.Lease
    allocations: tuple
    fingerprint: str


def fingerprint(facts):
    """Return a short hash of a text with all facts of a lease."""
    return hashlib.sha256(facts.encode()).hexdigest()[:16]


@dataclasses.dataclass(frozen=True)
class Conversion:
    """Everything that is imported, and all that an operator must know about it."""

    resources: tuple
    leases: tuple
    overlaps: tuple
    problems: tuple
