# SPDX-License-Identifier: Apache-2.0
"""The network interfaces of servers in the simulated cloud."""
from climate.cloud import base
from climate.cloud.simulated import neutron_rows


class Interfaces(base.Interfaces):
    """The ports of servers under one identity.

    :param link: the Link of that identity.
    """

    def __init__(self, link):
        super().__init__(link.calls.trust_id)
        self._calls = link.calls
        self._lifecycle = link.lifecycle

    def detach(self, server_id, port_id):
        def work(connection, project_id):
            now = self._lifecycle.now
            neutron_rows.settle(connection, now)
            port = neutron_rows.port(connection, port_id)
            if port is None or port.device_id != server_id:
                return False
            neutron_rows.release(connection, port_id, now + self._lifecycle.port_seconds)
            return True
        return self._calls.make('nova.detach_port', work, admin=False)
