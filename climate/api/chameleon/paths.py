# SPDX-License-Identifier: Apache-2.0
"""The controllers and operations of Chameleon's paths."""
from climate.api import operations
from climate.api import os_hosts
from climate.api import pool_paths
from climate.api import serializers
from climate.api.chameleon import flavor_instances
from climate.api.chameleon import lease_resources
from climate.api.chameleon import networks
from climate.api.chameleon import reallocation
from climate.api.controllers import resources
from climate.plugins import registry
from climate.plugins.network import address_pool


class AddressSerializer(serializers.ResourceSerializer):
    """Has the rules of addresses for the list of their allocations, which REST 1.0 serves, too."""

    since_1_1 = False


def add(v1, parts):
    """Add the controllers to the tree below /v1.

    :param v1: the ``controllers.root.V1Controller``.
    :param parts: the ``controllers.base.Parts`` of the API process.
    """
    leases, visible = v1.leases, v1.leases.visible
    hosts = getattr(v1, 'os-hosts')
    hosts.allocation = reallocation.ReallocationController(
        parts, os_hosts.HostSerializer(), visible)
    leases.hosts = lease_resources.LeaseResourcesController(
        parts, visible, os_hosts.HostSerializer())
    leases.networks = lease_resources.LeaseResourcesController(
        parts, visible, networks.NetworkSerializer())
    leases.devices = lease_resources.LeaseDevicesController(parts, visible)
    if flavor_instances.TYPE in parts.plugins:
        # Python has no attribute syntax for a name with a dash.
        setattr(v1, 'flavor-instances', flavor_instances.FlavorInstancesController(parts))
    addresses = parts.pools.get(address_pool.AddressPool.name)
    if addresses:
        v1.floatingips.allocations = resources.AllocationsController(
            parts, AddressSerializer(addresses))
    if networks.NetworkSerializer().pool in parts.pools:
        v1.networks = resources.PoolController(parts, networks.NetworkSerializer())


def of(plugins):
    """Return the operations on these paths, {path: operations}.

    :param plugins: {resource type: plugin class}.
    """
    serializer, allocation = networks.NetworkSerializer(), '/os-hosts/{id}/allocation'
    of_hosts = pool_paths.of_pool('/os-hosts', os_hosts.HostSerializer())
    paths = {allocation: {**of_hosts[allocation], 'put': reallocation.OPERATION}}
    for name in ('hosts', serializer.many, 'devices'):
        paths[f'/leases/{{id}}/{name}'] = {
            'parameters': [operations.ID],
            'get': operations.operation(f'List the {name} of a lease')}
    if flavor_instances.TYPE in plugins:
        paths['/flavor-instances/availability'] = {'get': flavor_instances.OPERATION}
    if address_pool.AddressPool.name in registry.pools_of(plugins):
        name = f'/{address_pool.AddressPool.view.path}/allocations'
        of_addresses = pool_paths.of_pool('', AddressSerializer(address_pool.AddressPool))
        paths[name] = of_addresses['/allocations']
    if serializer.pool in registry.pools_of(plugins):
        paths |= pool_paths.of_pool('/networks', serializer)
    return paths
