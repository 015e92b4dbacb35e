# SPDX-License-Identifier: Apache-2.0
"""The contract of a pool whose resources can be cleared for a lease.

The resources are hosts. Host clearing moves the servers of a host away, and keeps new servers off
the host until the lease gets it. A host has two names: the name of its resource, and its *service
host*, the name by which the cloud schedules servers.
"""
import abc
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
from typing import Any
from typing import ClassVar
from typing import Protocol

from climate.domain import audit
from climate.domain.clearing import choice
from climate.plugins import base
from climate.plugins import cloud as clouds


class State(Protocol):
    """The state of a host: whether it accepts new servers.

    :ivar reason: why the host was disabled; None if no reason was given.
    :ivar answers: False if the host's other fields and its servers are not known at the moment.
    """

    enabled: bool
    up: bool
    reason: str | None
    answers: bool


class HostedServer(Protocol):
    """A server that is on a host or leaves it.

    :ivar host: its service host; None if it is on no host.
    :ivar status: its status; ``domain.clearing.steps`` names the relevant ones.
    :ivar task: the change in progress; None if there is none.
    """

    id: str
    host: str | None
    project_id: str
    status: str
    task: str | None


class Migration(Protocol):
    """A migration of a server, begun by Climate or by somebody else.

    :ivar id: a number; later migrations have greater numbers.
    """

    id: int
    kind: str
    failed: bool


@dataclasses.dataclass(frozen=True)
class Node:
    """A host of the cloud.

    :ivar name: the name of its resource, even if it is not enrolled.
    :ivar zone: its availability zone, or None.
    :ivar is_target: whether servers that must leave another host may go to it.
    """

    name: str
    zone: str | None
    is_target: bool


@dataclasses.dataclass(frozen=True)
class Lent:
    """The hosts that are lent to best effort, and all hosts to which their servers may go.

    :ivar hosts: {service host: reason} of the lent hosts, in order. The reason says why the host
        itself cannot be cleared, whatever servers are on it; None if it can be cleared.
    :ivar nodes: {service host: Node} of all hosts except those whose name is not known.
    """

    hosts: Mapping[str, str | None]
    nodes: Mapping[str, Node]


@dataclasses.dataclass(frozen=True)
class Destinations:
    """The possible destinations of the servers of some hosts.

    :ivar servers: {server id: choice.MovableServer} of the hosts that are not in `unknown`.
    :ivar unknown: {host name: why the destinations of its servers are not known}.
    :ivar free: {host name: {resource class: free units}} of the hosts that may take servers.
    """

    servers: Mapping[str, choice.MovableServer]
    unknown: Mapping[str, str]
    free: Mapping[str, Mapping[str, int]]


class Clearable(abc.ABC):
    """The methods of a pool that host clearing uses. Only one enabled pool may have them.

    `cloud` is as in the other methods of a pool. Every change of the cloud is repeatable, because a
    manager may be killed after any call.
    """

    #: The name of the service that clears the hosts, for messages.
    cleared_by: ClassVar[str] = ''

    @abc.abstractmethod
    def lent(self, cloud: clouds.Cloud, reason: str) -> Lent:
        """Return the hosts that are lent to best effort, as Lent. Changes nothing.

        :param reason: the reason that Climate sets when it disables hosts for the lease. A host
            that is disabled with this reason can still be cleared.
        """

    @abc.abstractmethod
    def servers_on(self, cloud: clouds.Cloud,
                   service_hosts: Sequence[str]) -> Sequence[HostedServer]:
        """Return the HostedServers of all projects on these hosts. Changes nothing."""

    @abc.abstractmethod
    def server(self, cloud: clouds.Cloud, server_id: str) -> HostedServer | None:
        """Return the HostedServer, or None if it does not exist. Changes nothing."""

    @abc.abstractmethod
    def refusals(self, cloud: clouds.Cloud, servers: Iterable[HostedServer], project_id: str,
                 leased: Collection[str], waited_for: Collection[str]) -> dict[str, str]:
        """Return {server id: why it must stay} of the servers that must stay on their hosts.

        Changes nothing.

        :param servers: the result of `servers_on`, read a moment ago.
        :param project_id: the project of the lease; only servers of other projects are moved.
        :param leased: the ids of leased servers.
        :param waited_for: the ids of servers whose present status is ignored, because Climate
            waits for it to change.
        """

    @abc.abstractmethod
    def destinations(self, cloud: clouds.Cloud, lent: Lent,
                     servers: Mapping[str, Sequence[HostedServer]],
                     tried: Mapping[str, Collection[str]]) -> Destinations:
        """Return the Destinations of the servers of some hosts. Changes nothing.

        :param servers: {host name: the HostedServers that must leave it}.
        :param tried: {server id: the service hosts to which it cannot go}.
        """

    @abc.abstractmethod
    def states(self, cloud: clouds.Cloud) -> dict[str, State]:
        """Return {service host: its State} of all hosts. Changes nothing."""

    @abc.abstractmethod
    def barred(self, cloud: clouds.Cloud, hosts: Mapping[str, str]) -> frozenset[str]:
        """Return the service hosts on which the cloud places no servers although they are enabled.

        Changes nothing. Disabling and enabling such a host may repair it.

        :param hosts: {host name: service host} of enabled hosts.
        """

    @abc.abstractmethod
    def last_migration(self, cloud: clouds.Cloud, server_id: str) -> Migration | None:
        """Return the latest Migration of a server, or None. Changes nothing."""

    @abc.abstractmethod
    def disable(self, cloud: clouds.Cloud, service_host: str, reason: str) -> bool:
        """Disable an enabled host for new servers. Repeatable.

        A host that is disabled for another reason keeps that reason.

        :returns: True if the host is now disabled for exactly `reason`.
        :raises ResourceNotFound: the cloud does not know the host.
        """

    @abc.abstractmethod
    def enable(self, cloud: clouds.Cloud, service_host: str, reason: str) -> None:
        """Enable a host if it is disabled for exactly `reason`. Repeatable."""

    @abc.abstractmethod
    def migrate(self, cloud: clouds.Cloud, server_id: str, service_host: str) -> None:
        """Begin to migrate a server to a host; `last_migration` shows the progress.

        :raises StillBusy: another change of the server is in progress.
        :raises TargetGone: the server does not exist.
        :raises CloudError: the server cannot be migrated to that host.
        """

    @abc.abstractmethod
    def confirm_migration(self, cloud: clouds.Cloud, server_id: str) -> None:
        """Confirm the migration of a stopped server, which completes it.

        :raises StillBusy: another change of the server is in progress.
        :raises TargetGone: the server does not exist.
        """

    @abc.abstractmethod
    def as_enabled(self, cloud: clouds.Cloud, found: base.Found) -> base.Found:
        """Return the Found that a disabled host will have when it is enabled. Pure."""

    @abc.abstractmethod
    def disabled(self, observed: Any) -> list[audit.Disabled]:
        """Return the hosts that are disabled for present or past leases. Pure.

        :param observed: the recent result of ``observe`` of the pool.
        """
