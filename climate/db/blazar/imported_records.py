# SPDX-License-Identifier: Apache-2.0
"""The records of an import from Blazar: converted objects, overlaps and problems."""
import dataclasses
import datetime
import hashlib

from climate.domain import records

HOST, ADDRESS = 'host', 'address'
#: What happens to an object that cannot be imported.
LEFT_OUT = 'It is left out.'


@dataclasses.dataclass(frozen=True)
class Problem:
    """An object that cannot be imported unchanged.

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
        """True if a lease, a resource or a property is left out."""
        return self.happens == LEFT_OUT


@dataclasses.dataclass(frozen=True)
class Overlap:
    """Two leases that have the same resource at the same time.

    :ivar kept: (id, name, project id) of the lease that was created first. It keeps the resource.
    :ivar lost: (id, name, project id) of the lease that loses the resource.
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
    """A lease and its allocations. The `resource_id` of an allocation is (pool, source id).

    :ivar fingerprint: a hash of Blazar's rows of the lease.
    """

    lease: records.Lease
    allocations: tuple
    fingerprint: str


def fingerprint(facts):
    """Return a short hash of a text with all facts of a lease."""
    return hashlib.sha256(facts.encode()).hexdigest()[:16]


@dataclasses.dataclass(frozen=True)
class Conversion:
    """The objects to import, and the overlaps and problems for the operator."""

    resources: tuple
    leases: tuple
    overlaps: tuple
    problems: tuple
