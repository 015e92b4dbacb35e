# SPDX-License-Identifier: Apache-2.0
"""Tenants who boot a server on the leased hosts of each lease; the lease owes it an image."""
import contextlib
import threading

from oslo_config import cfg

from climate import conf as configuration
from climate import errors
from climate.cloud import simulated
from climate.plugins import registry

NAME = 'of a tenant'
_PLUGINS = ['physical:host']
_PAUSE_SECONDS = 0.2


class Tenants(threading.Thread):
    """Boots one server for each reservation that has hosts, until the signal to stop.

    :param state: the path of the state of the cloud.
    """

    def __init__(self, state):
        super().__init__(daemon=True)
        conf = configuration.register(cfg.ConfigOpts())
        registry.register_options(conf, registry.load(_PLUGINS))
        conf([], project='climate', default_config_files=[], default_config_dirs=[])
        conf.set_override('state', str(state), group='simulated')
        self._stopping = threading.Event()
        self._owner_key = conf.nova.aggregate_owner_key
        self._cloud = simulated.SimulatedCloud(conf)
        self._served = set()

    def run(self):
        while not self._stopping.wait(_PAUSE_SECONDS):
            for each in self._cloud.aggregates():
                owner = each.metadata.get(self._owner_key)
                if each.zone and owner and each.hosts and each.name not in self._served:
                    self._boot(owner, each.name)

    def stop(self):
        """Return when it has booted its last server."""
        self._stopping.set()
        self.join(60)
        self._cloud.close()

    def _boot(self, owner, reservation_id):
        with contextlib.suppress(errors.Conflict):
            self._cloud.boot(owner, NAME, {'reservation': reservation_id})
            self._served.add(reservation_id)
