# SPDX-License-Identifier: Apache-2.0
"""fewest-instances: as few servers as possible are moved."""
from climate.strategies import base


class FewestInstances(base.Strategy):
    """Counts the servers; of as many, those with less memory are moved."""

    def cost(self, host):
        return len(host.servers), sum(server.memory_mb for server in host.servers)
