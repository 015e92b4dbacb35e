# SPDX-License-Identifier: Apache-2.0
"""The interface to Neutron's floating IPs."""
import abc

from climate.cloud import models
from climate.cloud.base import face


class FloatingIPs(face.Face):
    """The floating IPs of projects."""

    service = 'Neutron'

    @abc.abstractmethod
    @face.read
    def every(self) -> list[models.FloatingIP]:
        """Return the FloatingIPs of all projects. Only as Climate itself."""

    @abc.abstractmethod
    @face.read
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
        """Take a floating IP off its port, if it has one; return it, or None if there is none.

        Its status stays ACTIVE until its router does not serve it any more.
        """

    @abc.abstractmethod
    def delete(self, floating_ip_id: str) -> None:
        """Delete a floating IP. Do nothing if it does not exist."""
