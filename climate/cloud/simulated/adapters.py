# SPDX-License-Identifier: Apache-2.0
"""The simulated adapters of all services."""
from climate.cloud.base import adapters
from climate.cloud.simulated import attachments
from climate.cloud.simulated import changes
from climate.cloud.simulated import cinder
from climate.cloud.simulated import cluster_work
from climate.cloud.simulated import computes
from climate.cloud.simulated import flavors
from climate.cloud.simulated import heat
from climate.cloud.simulated import images
from climate.cloud.simulated import interfaces
from climate.cloud.simulated import keystone
from climate.cloud.simulated import magnum
from climate.cloud.simulated import neutron
from climate.cloud.simulated import neutron_networks
from climate.cloud.simulated import neutron_rows
from climate.cloud.simulated import nova
from climate.cloud.simulated import placement
from climate.cloud.simulated import storage
from climate.cloud.simulated import storage_hosts


class Keystone(adapters.Keystone):
    faces = {'keystone': keystone.Keystone}


class Nova(adapters.Nova):
    faces = {'nova': nova.Nova, 'flavors': flavors.Flavors, 'servers': changes.Servers,
             'computes': computes.Computes, 'attachments': attachments.Attachments,
             'interfaces': interfaces.Interfaces}
    tables = storage.TABLES


class Placement(adapters.Placement):
    faces = {'placement': placement.Placement}


class Glance(adapters.Glance):
    faces = {'images': images.Images}


class Neutron(adapters.Neutron):
    faces = {'networks': neutron.Networks, 'floating_ips': neutron.FloatingIPs,
             'segments': neutron_networks.Segments,
             'network_parts': neutron_networks.NetworkParts}
    tables = (*neutron.TABLES, *neutron_rows.TABLES)


class Cinder(adapters.Cinder):
    faces = {'volumes': cinder.Volumes, 'storage_hosts': storage_hosts.StorageHosts}
    tables = storage.TABLES


class Heat(adapters.Heat):
    faces = {'stacks': heat.Stacks}
    tables = heat.TABLES


class Magnum(adapters.Magnum):
    faces = {'clusters': magnum.Clusters}
    tables = cluster_work.TABLES
