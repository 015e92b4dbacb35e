# SPDX-License-Identifier: Apache-2.0
"""The interface to what is on Neutron's networks: subnets, ports, routers and trunks."""
import abc
from collections.abc import Collection

from climate.cloud import models
from climate.cloud import network_models
from climate.cloud.base import face


class NetworkParts(face.Face):
    """The subnets, ports, routers and trunks that an identity can see."""

    service = 'Neutron'

    @abc.abstractmethod
    @face.read
    def ports(self, network_id: str) -> list[network_models.Port]:
        """Return the Ports of a network; as Climate itself also those of other projects."""

    @abc.abstractmethod
    @face.read
    def every_port(self) -> list[network_models.Port]:
        """Return the Ports of all projects. Only as Climate itself."""

    @abc.abstractmethod
    @face.read
    def ports_of(self, device_id: str) -> list[network_models.Port]:
        """Return the Ports that a server or a router uses."""

    @abc.abstractmethod
    def delete_port(self, port_id: str) -> None:
        """Delete a port. Do nothing if it does not exist.

        :raises StillBusy: something uses it that must go first.
        """

    @abc.abstractmethod
    @face.read
    def trunks(self) -> list[network_models.Trunk]:
        """Return the Trunks; none if Neutron has no trunks."""

    @abc.abstractmethod
    def delete_trunk(self, trunk_id: str) -> None:
        """Delete a trunk, but not its ports. Do nothing if it does not exist.

        :raises StillBusy: a server uses it.
        """

    @abc.abstractmethod
    def remove_sub_ports(self, trunk_id: str, port_ids: Collection[str]) -> None:
        """Take ports out of a trunk. Do nothing if the trunk does not exist.

        :raises StillBusy: the state of the trunk does not allow it.
        """

    @abc.abstractmethod
    def create_subnet(self, network_id: str, cidr: str, name: str,
                      description: str) -> models.Subnet:
        """Create a subnet; return the Subnet.

        :raises CloudError: a quota is full, or another subnet has some of the addresses.
        """

    @abc.abstractmethod
    @face.read
    def routers(self, project_id: str | None = None) -> list[network_models.Router]:
        """Return the Routers of a project, or of all projects."""

    @abc.abstractmethod
    def create_router(self, name: str, external_network_id: str | None,
                      description: str) -> network_models.Router:
        """Create a router, with a gateway if a network for it is given; return the Router.

        :raises CloudError: a quota is full, or the network cannot be used as a gateway.
        """

    @abc.abstractmethod
    def add_interface(self, router_id: str, subnet_id: str) -> None:
        """Connect a router to a subnet.

        :raises CloudError: it is connected already, or cannot be.
        """

    @abc.abstractmethod
    def remove_interface(self, router_id: str, port_id: str) -> None:
        """Disconnect a router from a subnet, by its port there. Do nothing if it is not connected.

        :raises StillBusy: floating IPs or routes need the interface.
        """

    @abc.abstractmethod
    def delete_router(self, router_id: str) -> None:
        """Delete a router with its gateway. Do nothing if it does not exist.

        :raises StillBusy: it still has interfaces.
        """
