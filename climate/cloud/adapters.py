# SPDX-License-Identifier: Apache-2.0
"""The real adapters of the services."""
from novaclient import exceptions as nova_errors
from openstack import exceptions as sdk_errors

from climate.cloud import attachments
from climate.cloud import cinder
from climate.cloud import computes
from climate.cloud import flavors
from climate.cloud import heat
from climate.cloud import images
from climate.cloud import keystone
from climate.cloud import nova
from climate.cloud import placement
from climate.cloud import servers
from climate.cloud.base import adapters


class Keystone(adapters.Keystone):
    faces = {'keystone': keystone.Keystone}


class Nova(adapters.Nova):
    """Nova, by novaclient."""

    faces = {'nova': nova.Nova, 'flavors': flavors.Flavors, 'servers': servers.Servers,
             'computes': computes.Computes, 'attachments': attachments.Attachments}
    foreign = (nova_errors.ClientException, nova_errors.UnsupportedVersion)


class Placement(adapters.Placement):
    faces = {'placement': placement.Placement}


class Glance(adapters.Glance):
    faces = {'images': images.Images}


class Cinder(adapters.Cinder):
    """Cinder, by openstacksdk."""

    faces = {'volumes': cinder.Volumes}
    foreign = (sdk_errors.SDKException,)


class Heat(adapters.Heat):
    faces = {'stacks': heat.Stacks}
