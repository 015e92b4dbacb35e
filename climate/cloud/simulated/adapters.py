# SPDX-License-Identifier: Apache-2.0
"""The simulated adapters of Keystone, Nova, Placement, Glance and Heat."""
from climate.cloud.base import adapters
from climate.cloud.simulated import changes
from climate.cloud.simulated import computes
from climate.cloud.simulated import flavors
from climate.cloud.simulated import heat
from climate.cloud.simulated import images
from climate.cloud.simulated import keystone
from climate.cloud.simulated import nova
from climate.cloud.simulated import placement


class Keystone(adapters.Keystone):
    faces = {'keystone': keystone.Keystone}


class Nova(adapters.Nova):
    faces = {'nova': nova.Nova, 'flavors': flavors.Flavors, 'servers': changes.Servers,
             'computes': computes.Computes}


class Placement(adapters.Placement):
    faces = {'placement': placement.Placement}


class Glance(adapters.Glance):
    faces = {'images': images.Images}


class Heat(adapters.Heat):
    faces = {'stacks': heat.Stacks}
    tables = heat.TABLES
