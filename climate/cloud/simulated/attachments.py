# SPDX-License-Identifier: Apache-2.0
"""The volumes and ports that are attached to servers in the simulated cloud."""
from climate import errors
from climate.cloud import base
from climate.cloud.simulated import hosts
from climate.cloud.simulated import interface
from climate.cloud.simulated import network_rows
from climate.cloud.simulated import server_rows
from climate.cloud.simulated import storage


class SimulatedAttachments(interface.SimulatedInterface, base.Attachments):
    """The volumes and the ports of servers under one identity."""

    def attach_volume(self, server_id, volume_id):
        def work(connection, project_id):
            volume = storage.find(connection, volume_id, project_id)
            if server_rows.find(connection, server_id, project_id) is None:
                raise errors.TargetGone(kind='server', target_id=server_id)
            if volume is None or volume['status'] != 'available':
                raise errors.StillBusy(service=self.service, reason=(
                    f'Invalid volume: volume {volume_id} status must be available.'))
            self._refuse_other_zone(connection, server_id, volume)
            self._begin(connection, volume_id, 'attaching', 'in-use', server_id)
        self._call('attach_volume', work)

    def detach_volume(self, server_id, volume_id):
        def work(connection, project_id):
            volume = storage.find(connection, volume_id, project_id)
            if volume is None or volume['server_id'] != server_id:
                return
            if volume['status'] != 'in-use':
                raise errors.StillBusy(service=self.service, reason=(
                    f'Invalid volume: volume {volume_id} is {volume["status"]}.'))
            self._begin(connection, volume_id, 'detaching', 'available', server_id)
        self._call('detach_volume', work)

    def detach_port(self, server_id, port_id):
        def work(connection, _project_id):
            network_rows.settle(connection, self._lifecycle.now)
            port = network_rows.port(connection, port_id)
            if port is None or port.device_id != server_id:
                return False
            network_rows.release(connection, port_id,
                                 self._lifecycle.due_in(self._lifecycle.options.port_seconds))
            return True
        return self._call('detach_port', work)

    def _settle(self, connection):
        storage.settle(connection, self._lifecycle.now)

    def _refuse_other_zone(self, connection, server_id, volume):
        zones = (hosts.zone_of(connection, server_rows.find(connection, server_id)['host']),
                 storage.zone_of(connection, volume['backend']))
        if self._lifecycle.keeps_zones and zones[0] != zones[1]:
            raise errors.CloudError(service=self.service, reason=(
                f'Invalid volume: Instance {server_id} and volume {volume["id"]} are not in the '
                f'same availability_zone. Instance is in {zones[0]}. Volume is in {zones[1]}'))

    def _begin(self, connection, volume_id, status, becomes, server_id):
        storage.begin(connection, volume_id, status, becomes,
                      self._lifecycle.due_in(self._lifecycle.options.volume_seconds),
                      server_id=server_id)
