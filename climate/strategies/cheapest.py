# SPDX-License-Identifier: Apache-2.0
"""The strategy "cheapest": a sum with the weights of [acquire]."""
from climate.strategies import base

_MB_OF_A_GB = 1024


class Cheapest(base.Strategy):
    """The weighted sum of the servers to migrate, the running ones, and their memory."""

    def cost(self, host):
        weights = self.conf.acquire
        running = [server for server in host.servers if server.running]
        copied_gb = sum(server.memory_mb for server in running) / _MB_OF_A_GB
        return (weights.weight_instances * len(host.servers)
                + weights.weight_running * len(running)
                + weights.weight_memory_gb * copied_gb,)
