# SPDX-License-Identifier: Apache-2.0
"""The strategy "fewest-instances": migrate as few servers as possible."""
from climate.strategies import base


class FewestInstances(base.Strategy):
    """The number of servers to migrate, then their memory."""

    def cost(self, host):
        return len(host.servers), sum(server.memory_mb for server in host.servers)
