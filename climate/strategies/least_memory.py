# SPDX-License-Identifier: Apache-2.0
"""The strategy "least-memory": copy as little memory as possible."""
from climate.strategies import base


class LeastMemory(base.Strategy):
    """The memory of the running servers; the memory of stopped ones is not copied."""

    def cost(self, host):
        copied = sum(server.memory_mb for server in host.servers if server.running)
        return copied, len(host.servers)
