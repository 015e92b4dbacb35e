# SPDX-License-Identifier: Apache-2.0
"""The real adapters that need openstacksdk, which is loaded only if a plugin uses one of them."""
from openstack import exceptions

from climate.cloud import cinder
from climate.cloud import neutron
from climate.cloud import neutron_networks
from climate.cloud import storage_hosts
from climate.cloud.base import adapters


class Neutron(adapters.Neutron):
    faces = {'networks': neutron.Networks, 'floating_ips': neutron.FloatingIPs,
             'segments': neutron_networks.Segments,
             'network_parts': neutron_networks.NetworkParts}
    foreign = (exceptions.SDKException,)


class Cinder(adapters.Cinder):
    faces = {'volumes': cinder.Volumes, 'storage_hosts': storage_hosts.StorageHosts}
    foreign = (exceptions.SDKException,)
