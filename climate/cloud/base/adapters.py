# SPDX-License-Identifier: Apache-2.0
"""Base classes of the real and the simulated adapters: the options and the probe of a service."""
from typing import Any

from climate.cloud.base import adapter
from climate.conf import cinder
from climate.conf import glance
from climate.conf import heat
from climate.conf import keystone
from climate.conf import magnum
from climate.conf import neutron
from climate.conf import nova
from climate.conf import placement


class Keystone(adapter.Adapter):
    """The adapter of Keystone, which is always connected."""

    options = keystone.CLIENT

    @staticmethod
    def probe(services: Any) -> object:
        return services.keystone.trusts()


class Nova(adapter.Adapter):
    """The adapter of Nova."""

    options = nova.CLIENT

    @staticmethod
    def probe(services: Any) -> object:
        # Only an administrator may make this call, and Climate must be one.
        return services.computes.of_hosts(['climate-status'])


class Placement(adapter.Adapter):
    """The adapter of Placement."""

    options = placement.CLIENT

    @staticmethod
    def probe(services: Any) -> object:
        return services.placement.classes()


class Glance(adapter.Adapter):
    """The adapter of Glance."""

    options = glance.CLIENT

    @staticmethod
    def probe(services: Any) -> object:
        return services.images.made('climate-status', 'climate-status')


class Neutron(adapter.Adapter):
    """The adapter of Neutron."""

    options = neutron.CLIENT

    @staticmethod
    def probe(services: Any) -> object:
        # Only an administrator may ask for the quota of another project.
        return services.networks.quota('climate-status', 'floatingip')


class Cinder(adapter.Adapter):
    """The adapter of Cinder."""

    options = cinder.CLIENT

    @staticmethod
    def probe(services: Any) -> object:
        # Only an administrator may make this call, and Climate must be one.
        return services.volumes.backends()


class Heat(adapter.Adapter):
    """The adapter of Heat."""

    options = heat.CLIENT

    @staticmethod
    def probe(services: Any) -> object:
        return services.stacks.find(None, 'climate-status')


class Magnum(adapter.Adapter):
    """The adapter of Magnum."""

    options = magnum.CLIENT

    @staticmethod
    def probe(services: Any) -> object:
        return services.clusters.names()
