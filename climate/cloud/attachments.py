# SPDX-License-Identifier: Apache-2.0
"""Nova: the attachments of volumes to servers."""
import contextlib

from novaclient import exceptions as nova_errors

from climate import errors
from climate.cloud import base
from climate.cloud import nova


class Attachments(base.Attachments):
    """The volumes of servers under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        # From microversion 2.20 on, Nova also detaches from a server that is shelved and offloaded.
        self._client = nova.connected(link, nova.VERSION)

    def attach(self, server_id, volume_id):
        with self._or_busy():
            try:
                self._client.volumes.create_server_volume(server_id, volume_id)
            except nova_errors.NotFound as error:
                raise errors.TargetGone(kind='server', target_id=server_id) from error
            except nova_errors.BadRequest as error:
                # Nova answers this if the volume is not available, too.
                raise errors.StillBusy(service=self.service, reason=str(error)) from error

    def detach(self, server_id, volume_id):
        with self._or_busy(), contextlib.suppress(nova_errors.NotFound):
            self._client.volumes.delete_server_volume(server_id, volume_id)

    @contextlib.contextmanager
    def _or_busy(self):
        try:
            yield
        except nova_errors.Conflict as error:
            raise errors.StillBusy(service=self.service, reason=str(error)) from error
