# SPDX-License-Identifier: Apache-2.0
"""What the cloud answers with, as frozen records."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Hypervisor:
    """A compute node.

    :ivar name: its hypervisor_hostname.
    :ivar service_host: the host of its nova-compute; aggregates and servers name this one.
    :ivar cpu_info: JSON text; '{}' where Nova knows nothing.
    :ivar availability_zone: the zone it is in now, or None where Nova lists no service for it.
    """

    name: str
    service_host: str
    vcpus: int
    memory_mb: int
    disk_gb: int
    hypervisor_type: str
    hypervisor_version: int
    cpu_info: str
    availability_zone: str | None
    up: bool
    enabled: bool


@dataclasses.dataclass(frozen=True)
class Compute:
    """A compute service.

    :ivar host: its service host.
    :ivar enabled: it takes new servers.
    :ivar reason: why it is disabled, as whoever did that said it; None where nothing was said.
    """

    host: str
    enabled: bool
    up: bool
    reason: str | None = None


@dataclasses.dataclass(frozen=True)
class Server:
    """An instance.

    :ivar host: the service host it is on; None for one that is not placed.
    :ivar status: Nova's word, such as ACTIVE.
    :ivar task: what Nova does to it just now, such as shelving; None where it is left alone.
    :ivar metadata: {key: text}, as users see it.
    :ivar flavor: the Flavor that it has, as Nova keeps it with the server (its id may be empty,
        for Nova shows the name alone); None where the call did not ask for it.
    :ivar locked: its user, or an administrator, lets nobody but administrators change it.
    """

    id: str
    name: str
    host: str | None
    project_id: str
    status: str
    task: str | None = None
    metadata: dict = dataclasses.field(default_factory=dict)
    flavor: 'Flavor | None' = None
    locked: bool = False


@dataclasses.dataclass(frozen=True)
class Move:
    """A move of a server from one host to another, as Nova keeps it.

    :ivar id: rises with each move.
    :ivar kind: Nova's word: live-migration, migration, resize, evacuation.
    :ivar status: Nova's word, such as queued, running, finished, confirmed, completed, error.
    :ivar source: the service host that it was on.
    :ivar target: the service host that it goes to; None where none was found.
    """

    id: int
    kind: str
    status: str
    source: str | None
    target: str | None

    @property
    def failed(self):
        """True for one that came to nothing: the server is where it was."""
        return self.status in ('error', 'failed', 'cancelled')


@dataclasses.dataclass(frozen=True)
class ServerGroup:
    """Servers that are to be near each other, or apart.

    :ivar policy: affinity, anti-affinity, soft-affinity or soft-anti-affinity.
    :ivar members: the ids of its servers.
    """

    id: str
    name: str
    policy: str
    members: frozenset = frozenset()


@dataclasses.dataclass(frozen=True)
class Shape:
    """What Placement must find for a server on a host.

    :ivar resources: pairs (resource class, units), sorted.
    :ivar traits: the names of those that the host must have.
    """

    resources: tuple
    traits: frozenset = frozenset()


@dataclasses.dataclass(frozen=True)
class Image:
    """An image of a server.

    :ivar status: Glance's word: queued, saving, active, killed …
    :ivar owner: the id of a project.
    """

    id: str
    name: str
    status: str
    owner: str


@dataclasses.dataclass(frozen=True)
class Flavor:
    """How large a server is, and what Nova must observe when it places one.

    :ivar extra_specs: {key: text}.
    """

    id: str
    name: str
    vcpus: int
    ram: int
    disk: int
    ephemeral: int = 0
    swap: int = 0
    extra_specs: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """A host aggregate, as it was when it was read.

    :ivar zone: its availability zone or None.
    :ivar hosts: service hosts, sorted.
    :ivar metadata: {key: text}, without the zone.
    """

    id: int
    name: str
    zone: str | None
    hosts: tuple
    metadata: dict


@dataclasses.dataclass(frozen=True)
class Trust:
    """What a user delegated to Climate.

    :ivar roles: names; empty where Keystone does not tell them, as in its list.
    """

    id: str
    project_id: str
    trustor_id: str
    roles: tuple


def named(aggregates, name):
    """That one of the Aggregates, or None."""
    return next((each for each in aggregates if each.name == name), None)
