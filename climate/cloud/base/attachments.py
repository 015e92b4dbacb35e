# SPDX-License-Identifier: Apache-2.0
"""The interface to Nova's attachments of volumes to servers."""
import abc

from climate.cloud.base import face


class Attachments(face.Face):
    """The volumes of servers. Cinder itself refuses to detach a volume that Nova uses."""

    service = 'Nova'

    @abc.abstractmethod
    def attach(self, server_id: str, volume_id: str) -> None:
        """Begin to attach a volume to a server.

        :raises TargetGone: one of the two does not exist.
        :raises StillBusy: the state of one of the two does not allow it.
        """

    @abc.abstractmethod
    def detach(self, server_id: str, volume_id: str) -> None:
        """Begin to detach a volume from a server. Do nothing if it is not attached to it.

        :raises StillBusy: the state of the server does not allow it.
        """
