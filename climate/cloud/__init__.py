# SPDX-License-Identifier: Apache-2.0
"""The cloud that Climate works with, real or simulated, behind one face."""
import importlib

from climate.cloud import base

Cloud = base.Cloud
Services = base.Services

# By name, so that a trial without a cloud does not load the SDKs.
_DRIVERS = {
    'openstack': ('climate.cloud.openstack', 'OpenStackCloud'),
    'simulated': ('climate.cloud.simulated', 'SimulatedCloud'),
}


def build(conf):
    """The Cloud that [cloud] driver names. Nothing is called before it is used.

    :raises CloudError: the configuration lacks the login.
    """
    module, name = _DRIVERS[conf.cloud.driver]
    return getattr(importlib.import_module(module), name)(conf)
