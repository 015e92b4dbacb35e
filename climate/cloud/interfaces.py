# SPDX-License-Identifier: Apache-2.0
"""Nova: the network interfaces of servers."""
from novaclient import exceptions as nova_errors

from climate import errors
from climate.cloud import base
from climate.cloud import nova


class Interfaces(base.Interfaces):
    """The ports of servers under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._client = nova.connected(link, nova.VERSION)

    def detach(self, server_id, port_id):
        try:
            self._client.servers.interface_detach(server_id, port_id)
        except nova_errors.NotFound:
            return False
        except nova_errors.Conflict as error:
            raise errors.StillBusy(service=self.service, reason=str(error)) from error
        return True
