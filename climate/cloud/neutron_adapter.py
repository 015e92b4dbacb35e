# SPDX-License-Identifier: Apache-2.0
"""The real adapter of Neutron, by openstacksdk."""
from openstack import exceptions

from climate.cloud import neutron
from climate.cloud.base import adapters


class Neutron(adapters.Neutron):
    """Neutron, by openstacksdk, which is loaded only if a plugin uses Neutron."""

    faces = {'networks': neutron.Networks, 'floating_ips': neutron.FloatingIPs}
    foreign = (exceptions.SDKException,)
