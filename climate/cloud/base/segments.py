# SPDX-License-Identifier: Apache-2.0
"""The interface to Neutron's networks on segments that an administrator chooses."""
import abc

from climate.cloud import network_models as models
from climate.cloud.base import face


class Segments(face.Face):
    """The networks with their segments. Only as Climate itself: users neither see nor choose them.

    Neutron never lets two networks be on one segment.
    """

    service = 'Neutron'

    @abc.abstractmethod
    @face.read
    def knows(self, physical_network: str) -> bool:
        """Return whether VLANs of a physical network of that name can be used."""

    @abc.abstractmethod
    @face.read
    def shared_ranges(self) -> list[tuple[models.Segment, int]]:
        """Return the ranges from which Neutron takes the segments of all users' networks.

        :returns: pairs (the first Segment, the last id); empty if Neutron does not tell them.
        """

    @abc.abstractmethod
    @face.read
    def every(self) -> list[models.SegmentNetwork]:
        """Return all SegmentNetworks."""

    @abc.abstractmethod
    @face.read
    def of_project(self, project_id: str) -> list[models.SegmentNetwork]:
        """Return the SegmentNetworks of a project."""

    @abc.abstractmethod
    def create(self, segment: models.Segment, project_id: str, name: str,
               description: str) -> models.SegmentNetwork:
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
