# SPDX-License-Identifier: Apache-2.0
"""The strategy "stopped-first": migrate as few running servers as possible."""
from climate.strategies import base


class StoppedFirst(base.Strategy):
    """The number of running servers, then the number of stopped ones."""

    def cost(self, host):
        running = sum(server.running for server in host.servers)
        return running, len(host.servers) - running
