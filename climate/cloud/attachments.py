# SPDX-License-Identifier: Apache-2.0
"""Nova: the volumes and ports that it attaches to servers."""
import contextlib

from novaclient import exceptions as nova_errors

from climate import errors
from climate.cloud import base
from climate.cloud import nova_client


class NovaAttachments(nova_client.NovaInterface, base.Attachments):
    """The volumes and the ports of servers under one identity."""

    def attach_volume(self, server_id, volume_id):
        try:
            self._client.volumes.create_server_volume(server_id, volume_id)
        except nova_errors.NotFound as error:
            raise errors.TargetGone(kind='server', target_id=server_id) from error
        except (nova_errors.BadRequest, nova_errors.Conflict) as error:
            # Nova answers 400 if the volume is not available.
            raise self._busy(error) from error

    def detach_volume(self, server_id, volume_id):
        try:
            with contextlib.suppress(nova_errors.NotFound):
                self._client.volumes.delete_server_volume(server_id, volume_id)
        except nova_errors.Conflict as error:
            raise self._busy(error) from error

    def detach_port(self, server_id, port_id):
        try:
            self._client.servers.interface_detach(server_id, port_id)
        except nova_errors.NotFound:
            return False
        except nova_errors.Conflict as error:
            raise self._busy(error) from error
        return True
