# SPDX-License-Identifier: Apache-2.0
"""The interface to the volumes and ports that Nova attaches to servers."""
import abc

from climate.cloud.base import interface


class Attachments(interface.ServiceInterface):
    """The volumes and the ports of servers.

    Cinder itself refuses to detach a volume that Nova uses. A port that is deleted in Neutron alone
    stays in Nova's records for long.
    """

    service = 'Nova'

    @abc.abstractmethod
    def attach_volume(self, server_id: str, volume_id: str) -> None:
        """Begin to attach a volume to a server.

        :raises TargetGone: the server or the volume does not exist.
        :raises StillBusy: the state of the server or of the volume does not allow it.
        """

    @abc.abstractmethod
    def detach_volume(self, server_id: str, volume_id: str) -> None:
        """Begin to detach a volume from a server. Do nothing if it is not attached to it.

        :raises StillBusy: the state of the server does not allow it.
        """

    @abc.abstractmethod
    def detach_port(self, server_id: str, port_id: str) -> bool:
        """Begin to detach a port from a server, which takes a while.

        :returns: False if Nova knows no such server, or the server has no such port.
        :raises StillBusy: the state of the server does not allow it.
        """
