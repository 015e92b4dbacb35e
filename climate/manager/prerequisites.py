# SPDX-License-Identifier: Apache-2.0
"""The prerequisites of a manager, checked before it starts."""
from oslo_log import log

from climate import cloud as clouds
from climate import enforcement
from climate import forecasts
from climate import notifiers
from climate import power as power_drivers
from climate import strategies
from climate.db import migrate
from climate.manager import metrics_server
from climate.manager.idle import rules as idle_rules
from climate.manager.notifications import encryption
from climate.plugins import registry
from climate.plugins.health import sources as health_sources
from climate.rpc import bus

LOG = log.getLogger(__name__)


def check(conf):
    """Raise an error unless a manager can start with this configuration.

    Options of features that are off are not checked.

    :raises ClimateError: the configuration of the cloud cannot be used.
    :raises ConfigurationError: the database, a plugin, an adapter, a strategy, a notifier, a
        source of health, a power driver, an enforcement driver, an address of the bus, /metrics or
        [idle] cannot be used; the error says which.
    :raises LoginRefused: a bus refuses the login.
    """
    plugins = registry.Registry(conf)
    strategies.check(conf)
    forecasts.check(conf)
    metrics_server.check(conf)
    idle_rules.check(conf)
    encryption.KeyEncryption(conf)
    for notifier in notifiers.load(conf).values():
        notifier.check()
    health_sources.load(conf)
    cloud = clouds.build(conf, plugins.services)
    power_drivers.load(conf, cloud)
    enforcement.load(conf, cloud)
    for reach in (bus.reach, bus.reach_notifications):
        try:
            reach(conf, retries=0)
        except bus.LoginRefused:
            raise
        except bus.BusUnreachable as error:
            LOG.warning('The bus does not answer; the manager waits for it: %s', error)
    migrate.check(conf)
