# SPDX-License-Identifier: Apache-2.0
"""The attachments of volumes to servers in the simulated cloud."""
from climate import errors
from climate.cloud import base
from climate.cloud.simulated import hosts
from climate.cloud.simulated import servers
from climate.cloud.simulated import storage


class Attachments(base.Attachments):
    """The volumes of servers under one identity.

    :param link: the Link of that identity.
    """

    def __init__(self, link):
        super().__init__(link.calls.trust_id)
        self._calls = link.calls
        self._lifecycle = link.lifecycle

    def attach(self, server_id, volume_id):
        def work(connection, project_id):
            volume = storage.find(connection, volume_id, project_id)
            if servers.find(connection, server_id, project_id) is None:
                raise errors.TargetGone(kind='server', target_id=server_id)
            if volume is None or volume['status'] != 'available':
                raise errors.StillBusy(service=self.service, reason=(
                    f'Invalid volume: volume {volume_id} status must be available.'))
            self._refuse_other_zone(connection, server_id, volume)
            self._begin(connection, volume_id, 'attaching', 'in-use', server_id)
        self._call('attach_volume', work)

    def detach(self, server_id, volume_id):
        def work(connection, project_id):
            volume = storage.find(connection, volume_id, project_id)
            if volume is None or volume['server_id'] != server_id:
                return
            if volume['status'] != 'in-use':
                raise errors.StillBusy(service=self.service, reason=(
                    f'Invalid volume: volume {volume_id} is {volume["status"]}.'))
            self._begin(connection, volume_id, 'detaching', 'available', server_id)
        self._call('detach_volume', work)

    def _refuse_other_zone(self, connection, server_id, volume):
        zones = (hosts.zone_of(connection, servers.find(connection, server_id)['host']),
                 storage.zone_of(connection, volume['backend']))
        if self._lifecycle.keeps_zones and zones[0] != zones[1]:
            raise errors.CloudError(service=self.service, reason=(
                f'Invalid volume: Instance {server_id} and volume {volume["id"]} are not in the '
                f'same availability_zone. Instance is in {zones[0]}. Volume is in {zones[1]}'))

    def _call(self, name, work):
        def settled(connection, project_id):
            storage.settle(connection, self._lifecycle.now)
            work(connection, project_id)
        self._calls.make(f'nova.{name}', settled, admin=False)

    def _begin(self, connection, volume_id, status, becomes, server_id):
        due = self._lifecycle.now + self._lifecycle.volume_seconds
        storage.begin(connection, volume_id, status, becomes, due, server_id=server_id)
