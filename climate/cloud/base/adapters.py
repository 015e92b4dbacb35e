# SPDX-License-Identifier: Apache-2.0
"""Base classes of the real and the simulated adapters: the options and the probe of a service."""
from typing import Any

from climate.cloud.base import adapter
from climate.conf import services


class Keystone(adapter.Adapter):
    """The adapter of Keystone, which is always connected."""

    options = services.KEYSTONE

    @staticmethod
    def probe(services: Any) -> object:
        return services.keystone.trusts()


class Nova(adapter.Adapter):
    """The adapter of Nova."""

    options = services.NOVA

    @staticmethod
    def probe(services: Any) -> object:
        # Only an administrator may make this call, and Climate must be one.
        return services.computes.of_hosts(['climate-status'])


class Placement(adapter.Adapter):
    """The adapter of Placement."""

    options = services.PLACEMENT

    @staticmethod
    def probe(services: Any) -> object:
        return services.placement.classes()


class Glance(adapter.Adapter):
    """The adapter of Glance."""

    options = services.GLANCE

    @staticmethod
    def probe(services: Any) -> object:
        return services.images.made('climate-status', 'climate-status')


class Neutron(adapter.Adapter):
    """The adapter of Neutron."""

    options = services.NEUTRON

    @staticmethod
    def probe(services: Any) -> object:
        # Only an administrator may ask for the quota of another project.
        return services.networks.quota('climate-status', 'floatingip')


class Cinder(adapter.Adapter):
    """The adapter of Cinder."""

    options = services.CINDER

    @staticmethod
    def probe(services: Any) -> object:
        # Only an administrator may make this call, and Climate must be one.
        return services.volumes.backends()


class Heat(adapter.Adapter):
    """The adapter of Heat."""

    options = services.HEAT

    @staticmethod
    def probe(services: Any) -> object:
        return services.stacks.find(None, 'climate-status')


class Magnum(adapter.Adapter):
    """The adapter of Magnum."""

    options = services.MAGNUM

    @staticmethod
    def probe(services: Any) -> object:
        return services.clusters.names()
