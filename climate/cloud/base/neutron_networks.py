# SPDX-License-Identifier: Apache-2.0
"""The interfaces to Neutron's networks on segments, and to subnets, ports, routers and trunks."""
import abc
from collections.abc import Collection

from climate.cloud import models
from climate.cloud import network_models
from climate.cloud.base import interface


class Segments(interface.ServiceInterface):
    """The networks with their segments. Only as Climate itself: users neither see nor choose them.

    Neutron never lets two networks be on one segment.
    """

    service = 'Neutron'

    @abc.abstractmethod
    @interface.read
    def knows(self, physical_network: str) -> bool:
        """Return whether VLANs of a physical network of that name can be used."""

    @abc.abstractmethod
    @interface.read
    def shared_ranges(self) -> list[tuple[network_models.Segment, int]]:
        """Return the ranges from which Neutron takes the segments of all users' networks.

        :returns: pairs (the first Segment, the last id); empty if Neutron does not show them.
        """

    @abc.abstractmethod
    @interface.read
    def every(self) -> list[network_models.SegmentNetwork]:
        """Return all SegmentNetworks."""

    @abc.abstractmethod
    @interface.read
    def of_project(self, project_id: str) -> list[network_models.SegmentNetwork]:
        """Return the SegmentNetworks of a project."""

    @abc.abstractmethod
    def create(self, segment: network_models.Segment, project_id: str, name: str,
               description: str) -> network_models.SegmentNetwork:
        """Create a network of a project on exactly this segment; return the SegmentNetwork.

        The description is set by the same call, the tags by `tag`.

        :raises ResourceInUse: another network is on the segment.
        :raises CloudError: a quota is full, or Neutron does not know the physical network.
        """

    @abc.abstractmethod
    def tag(self, network_id: str, tags: tuple[str, ...]) -> None:
        """Replace the tags of a network. Do nothing if it does not exist."""

    @abc.abstractmethod
    def delete(self, network_id: str) -> None:
        """Delete a network with its subnets. Do nothing if it does not exist.

        :raises StillBusy: it still has ports.
        """


class NetworkParts(interface.ServiceInterface):
    """The subnets, ports, routers and trunks that an identity can see."""

    service = 'Neutron'

    @abc.abstractmethod
    @interface.read
    def ports(self, network_id: str) -> list[network_models.Port]:
        """Return the Ports of a network; as Climate itself also those of other projects."""

    @abc.abstractmethod
    @interface.read
    def every_port(self) -> list[network_models.Port]:
        """Return the Ports of all projects. Only as Climate itself."""

    @abc.abstractmethod
    @interface.read
    def ports_of(self, device_id: str) -> list[network_models.Port]:
        """Return the Ports that a server or a router uses."""

    @abc.abstractmethod
    def delete_port(self, port_id: str) -> None:
        """Delete a port. Do nothing if it does not exist.

        :raises StillBusy: another object uses it and must be deleted first.
        """

    @abc.abstractmethod
    @interface.read
    def trunks(self) -> list[network_models.Trunk]:
        """Return the Trunks; none if Neutron has no trunks."""

    @abc.abstractmethod
    def delete_trunk(self, trunk_id: str) -> None:
        """Delete a trunk, but not its ports. Do nothing if it does not exist.

        :raises StillBusy: a server uses it.
        """

    @abc.abstractmethod
    def remove_sub_ports(self, trunk_id: str, port_ids: Collection[str]) -> None:
        """Remove ports from a trunk. Do nothing if the trunk does not exist.

        :raises StillBusy: the state of the trunk does not allow it.
        """

    @abc.abstractmethod
    def create_subnet(self, network_id: str, cidr: str, name: str,
                      description: str) -> models.Subnet:
        """Create a subnet; return the Subnet.

        :raises CloudError: a quota is full, or another subnet has some of the addresses.
        """

    @abc.abstractmethod
    @interface.read
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
