# SPDX-License-Identifier: Apache-2.0
"""least-memory: as little memory as possible is copied."""
from climate.strategies import base


class LeastMemory(base.Strategy):
    """Adds up the memory of the servers that run: that of a stopped one is not copied."""

    def cost(self, host):
        copied = sum(server.memory_mb for server in host.servers if server.running)
        return copied, len(host.servers)
