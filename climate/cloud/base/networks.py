# SPDX-License-Identifier: Apache-2.0
"""The interface to Neutron's networks, and to the quotas of projects there."""
import abc

from climate.cloud import models
from climate.cloud.base import face


class Networks(face.Face):
    """The networks with their subnets, the addresses in use, and the quotas."""

    service = 'Neutron'

    @abc.abstractmethod
    @face.read
    def network(self, network_id: str) -> models.Network:
        """Return the Network of that id, with its subnets.

        :raises ResourceNotFound: there is none.
        """

    @abc.abstractmethod
    @face.read
    def used_addresses(self, network_id: str) -> dict[str, str]:
        """Return {address: what uses it, in words} of a network. Only as Climate itself.

        Floating IPs have a port in their network, so they are among these.
        """

    @abc.abstractmethod
    @face.read
    def quota(self, project_id: str, name: str) -> models.Quota:
        """Return the Quota of a project for objects of that name, such as "floatingip"."""
