# SPDX-License-Identifier: Apache-2.0
"""The interface to the network interfaces of Nova's servers."""
import abc

from climate.cloud.base import face


class Interfaces(face.Face):
    """The ports of servers. A port that Neutron deletes alone stays in Nova's records for long."""

    service = 'Nova'

    @abc.abstractmethod
    def detach(self, server_id: str, port_id: str) -> bool:
        """Begin to detach a port from a server, which takes a while.

        :returns: False if Nova knows no such server, or the server has no such port.
        :raises StillBusy: the state of the server does not allow it.
        """
