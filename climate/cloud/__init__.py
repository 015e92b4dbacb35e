# SPDX-License-Identifier: Apache-2.0
"""The cloud that Climate works with, real or simulated, behind one interface."""
import importlib

from climate.cloud import base
from climate.cloud import registry

CloudDriver = base.CloudDriver

# Names, so that the simulated cloud works without loading the SDKs.
_DRIVERS = {
    'openstack': ('climate.cloud.openstack', 'OpenStackCloud'),
    'simulated': ('climate.cloud.simulated', 'SimulatedCloud'),
}


def build(conf, users=None):
    """Return the CloudDriver that [cloud] driver names. No service is called until it is used.

    :param users: {name of an adapter: the plugins that use it}; None: all installed adapters.
        Adapters that Climate itself uses are always connected.
    :raises CloudError: the configuration has no login.
    :raises ConfigurationError: an adapter is missing or does not load.
    """
    module, name = _DRIVERS[conf.cloud.driver]
    adapters = registry.load(conf, conf.cloud.driver, users)
    return getattr(importlib.import_module(module), name)(conf, adapters=adapters)
