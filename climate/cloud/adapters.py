# SPDX-License-Identifier: Apache-2.0
"""The real adapters of the services, but those that need openstacksdk."""
from novaclient import exceptions as nova_errors

from climate.cloud import attachments
from climate.cloud import computes
from climate.cloud import flavors
from climate.cloud import heat
from climate.cloud import images
from climate.cloud import interfaces
from climate.cloud import keystone
from climate.cloud import magnum
from climate.cloud import nova
from climate.cloud import placement
from climate.cloud import servers
from climate.cloud.base import adapters


class Keystone(adapters.Keystone):
    faces = {'keystone': keystone.Keystone}


class Nova(adapters.Nova):
    """Nova, by novaclient."""

    faces = {'nova': nova.Nova, 'flavors': flavors.Flavors, 'servers': servers.Servers,
             'computes': computes.Computes, 'attachments': attachments.Attachments,
             'interfaces': interfaces.Interfaces}
    foreign = (nova_errors.ClientException, nova_errors.UnsupportedVersion)


class Placement(adapters.Placement):
    faces = {'placement': placement.Placement}


class Glance(adapters.Glance):
    faces = {'images': images.Images}


class Heat(adapters.Heat):
    faces = {'stacks': heat.Stacks}


class Magnum(adapters.Magnum):
    faces = {'clusters': magnum.Clusters}
