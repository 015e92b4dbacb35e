# SPDX-License-Identifier: Apache-2.0
"""Frozen records of objects of the cloud: hosts, servers, networks, stacks, clusters, trusts."""
import dataclasses
import datetime


@dataclasses.dataclass(frozen=True)
class Hypervisor:
    """A compute node.

    :ivar name: its hypervisor_hostname.
    :ivar service_host: the host of its nova-compute, which aggregates and servers refer to.
    :ivar cpu_info: JSON text; '{}' if Nova knows nothing.
    :ivar availability_zone: its current zone, or None if Nova lists no service for it.
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
class ComputeService:
    """A compute service.

    :ivar host: its service host.
    :ivar enabled: whether it takes new servers.
    :ivar reason: the reason given when it was disabled; None if none was given.
    :ivar answers: False if its cell does not answer. Nova then shows nothing else of it, and leaves
        its servers out of lists.
    """

    host: str
    enabled: bool
    up: bool
    reason: str | None = None
    answers: bool = True


@dataclasses.dataclass(frozen=True)
class KeystoneIdentity:
    """A user or a project of Keystone.

    :ivar enabled: whether it, and its domain, are enabled.
    """

    id: str
    name: str
    enabled: bool


@dataclasses.dataclass(frozen=True)
class Server:
    """An instance.

    :ivar host: its service host; None if it is not placed.
    :ivar status: Nova's status, such as ACTIVE.
    :ivar task: Nova's task state, such as shelving; None if no task is running.
    :ivar metadata: {key: text}, as users see it.
    :ivar flavor: the Flavor that Nova stores with the server, perhaps without its id; None if the
        call did not request it.
    :ivar locked: whether only administrators may change it.
    :ivar hypervisor: the hypervisor_hostname it is on; None if it is not placed, or Nova does not
        show it. A service host may have several.
    :ivar hints: the scheduler hints of its boot, {name: (texts)}; None if the call did not request
        them, or Nova does not show them.
    :ivar zone: the availability zone that its user requested, which it does not leave; None: none,
        or Nova does not show it.
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
    hypervisor: str | None = None
    hints: dict | None = None
    zone: str | None = None


@dataclasses.dataclass(frozen=True)
class ServerMigration:
    """Nova's record of the migration of a server from one host to another.

    :ivar id: increases with each migration.
    :ivar kind: Nova's type: live-migration, migration, resize, evacuation.
    :ivar status: Nova's status: queued, running, finished, confirmed, completed, error …
    :ivar source: the service host that the server leaves.
    :ivar target: the service host that it goes to; None if none was found.
    """

    id: int
    kind: str
    status: str
    source: str | None
    target: str | None

    @property
    def failed(self):
        """Return whether the migration failed and left the server on its source."""
        return self.status in ('error', 'failed', 'cancelled')


@dataclasses.dataclass(frozen=True)
class ServerGroup:
    """A server group: servers that are placed together, or apart.

    :ivar policy: affinity, anti-affinity, soft-affinity or soft-anti-affinity.
    :ivar members: the ids of its servers.
    """

    id: str
    name: str
    policy: str
    members: frozenset = frozenset()


@dataclasses.dataclass(frozen=True)
class Image:
    """An image of a server.

    :ivar status: Glance's status: queued, saving, active, killed …
    :ivar owner: the id of a project.
    :ivar server_id: the id of the server, if Climate asked for the image.
    """

    id: str
    name: str
    status: str
    owner: str
    server_id: str | None = None


@dataclasses.dataclass(frozen=True)
class Flavor:
    """A flavor: the sizes of a server and its extra specs.

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
    """A host aggregate at the moment when it was read.

    :ivar zone: its availability zone, or None.
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
    """A Keystone trust that a user gave to Climate.

    :ivar roles: names of roles; empty if Keystone does not show them, as in its list of trusts.
    :ivar expires_at: None: never.
    """

    id: str
    project_id: str
    trustor_id: str
    roles: tuple
    expires_at: datetime.datetime | None = None


def named(aggregates, name):
    """Return the Aggregate of that name, or None."""
    return next((aggregate for aggregate in aggregates if aggregate.name == name), None)


@dataclasses.dataclass(frozen=True)
class Subnet:
    """A subnet of a network.

    :ivar cidr: its addresses, such as 172.24.4.0/24.
    :ivar gateway: the address of its gateway; None: it has none.
    :ivar pools: pairs (first, last) of the addresses that Neutron allocates itself.
    """

    id: str
    cidr: str
    gateway: str | None = None
    pools: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True)
class Network:
    """A network with its subnets.

    :ivar external: whether floating IPs can be created on it.
    """

    id: str
    name: str
    external: bool
    subnets: tuple[Subnet, ...] = ()


@dataclasses.dataclass(frozen=True)
class FloatingIP:
    """A floating IP of a project.

    :ivar id: empty if it does not exist yet.
    :ivar port_id: the port that it points to; None: no port.
    :ivar status: ACTIVE while a router serves it; DOWN.
    """

    id: str
    network_id: str
    address: str
    project_id: str
    port_id: str | None = None
    description: str = ''
    tags: tuple[str, ...] = ()
    status: str = 'DOWN'


@dataclasses.dataclass(frozen=True)
class StackPart:
    """A resource of a stack.

    :ivar kind: its type in Heat, such as OS::Nova::Server.
    :ivar properties: {name: value}, resolved; only a preview has them.
    :ivar status: such as DELETE_FAILED; only a stack that exists has it.
    :ivar reason: Heat's text about the status.
    """

    name: str
    kind: str
    properties: dict = dataclasses.field(default_factory=dict)
    status: str = ''
    reason: str = ''


@dataclasses.dataclass(frozen=True)
class StackPreview:
    """The parameters and the parts that a stack would have.

    :ivar parameters: {name: value} of all parameters that the template declares.
    :ivar parts: all StackParts, those of nested stacks too.
    """

    parameters: dict
    parts: tuple


@dataclasses.dataclass(frozen=True)
class Stack:
    """A stack of Heat.

    :ivar action: Heat's action, such as CREATE.
    :ivar progress: IN_PROGRESS, COMPLETE or FAILED.
    :ivar reason: Heat's text about them.
    """

    id: str
    name: str
    action: str
    progress: str
    reason: str = ''

    @property
    def status(self):
        """Return the status as users read it, such as CREATE_COMPLETE."""
        return f'{self.action}_{self.progress}'


@dataclasses.dataclass(frozen=True)
class ClusterTemplate:
    """A template of clusters of Magnum.

    :ivar flavor_id: the id or the name of the flavor of workers, or None.
    :ivar master_flavor_id: the id or the name of the flavor of masters, or None.
    """

    id: str
    name: str
    flavor_id: str | None
    master_flavor_id: str | None


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A cluster of Magnum.

    :ivar status: Magnum's status, such as CREATE_COMPLETE.
    :ivar reason: Magnum's text about the status; empty if there is none.
    :ivar flavor_id: the id or the name of the flavor of its first workers, or None.
    """

    id: str
    name: str
    project_id: str
    status: str
    reason: str = ''
    flavor_id: str | None = None


@dataclasses.dataclass(frozen=True)
class NodeGroup:
    """A group of nodes of a cluster that have one flavor.

    :ivar status: Magnum's status, such as CREATE_COMPLETE.
    :ivar reason: Magnum's text about the status; empty if there is none.
    :ivar role: 'worker' or 'master', or another text that the owner chose for workers.
    :ivar is_default: whether it was created with the cluster; such a group cannot be deleted.
    """

    id: str
    name: str
    status: str
    reason: str
    role: str
    node_count: int
    is_default: bool


@dataclasses.dataclass(frozen=True)
class Quota:
    """A quota of a project.

    :ivar limit: None: without a limit.
    :ivar used: the amount that is in use or reserved.
    """

    limit: int | None
    used: int

    @property
    def free(self) -> int | None:
        """Return the amount that is left; None: without a limit."""
        return None if self.limit is None else max(0, self.limit - self.used)
