# SPDX-License-Identifier: Apache-2.0
"""The interfaces to Neutron's networks, to quotas there, and to floating IPs."""
import abc
from typing import Any

from climate.cloud import models
from climate.cloud.base import interface
from climate.conf import services


class Networks(interface.ServiceInterface):
    """The networks with their subnets, the addresses in use, and the quotas."""

    service = 'Neutron'

    @abc.abstractmethod
    @interface.read
    def network(self, network_id: str) -> models.Network:
        """Return the Network of that id, with its subnets.

        :raises ResourceNotFound: there is none.
        """

    @abc.abstractmethod
    @interface.read
    def used_addresses(self, network_id: str) -> dict[str, str]:
        """Return {address: its user, in words} of a network. Only as Climate itself.

        Floating IPs have a port in their network, so they are among these.
        """

    @abc.abstractmethod
    @interface.read
    def quota(self, project_id: str, name: str) -> models.Quota:
        """Return the Quota of a project for objects of that name, such as "floatingip"."""


class FloatingIPs(interface.ServiceInterface):
    """The floating IPs of projects."""

    service = 'Neutron'

    @abc.abstractmethod
    @interface.read
    def every(self) -> list[models.FloatingIP]:
        """Return the FloatingIPs of all projects. Only as Climate itself."""

    @abc.abstractmethod
    @interface.read
    def of_project(self, project_id: str) -> list[models.FloatingIP]:
        """Return the FloatingIPs of a project."""

    @abc.abstractmethod
    def create(self, network_id: str, address: str, project_id: str,
               description: str = '') -> models.FloatingIP:
        """Create a floating IP of a project, with exactly this address; return the FloatingIP.

        Only as Climate itself, because users cannot choose an address. The description is set by
        the same call, the tags by `tag`.

        :raises ResourceInUse: the address is taken.
        :raises CloudError: the quota of the project is full, or the network has no such address.
        """

    @abc.abstractmethod
    def tag(self, floating_ip_id: str, tags: tuple[str, ...]) -> None:
        """Replace the tags of a floating IP. Do nothing if it does not exist."""

    @abc.abstractmethod
    def detach(self, floating_ip_id: str) -> models.FloatingIP | None:
        """Dissociate a floating IP from its port, if it has one; return it, or None if it is gone.

        Its status stays ACTIVE until its router stops serving it.
        """

    @abc.abstractmethod
    def delete(self, floating_ip_id: str) -> None:
        """Delete a floating IP. Do nothing if it does not exist."""


class NeutronAdapter(interface.Adapter):
    """The options and the probe of Neutron."""

    options = services.NEUTRON

    @staticmethod
    def probe(services: Any) -> object:
        # Only an administrator may ask for the quota of another project.
        return services.networks.quota('climate-status', 'floatingip')
