# SPDX-License-Identifier: Apache-2.0
"""stopped-first: as few servers that run as possible are moved."""
from climate.strategies import base


class StoppedFirst(base.Strategy):
    """Counts the servers that run; of as many, the stopped ones too."""

    def cost(self, host):
        running = sum(server.running for server in host.servers)
        return running, len(host.servers) - running
