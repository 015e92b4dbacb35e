# SPDX-License-Identifier: Apache-2.0
"""The paths of the pools and of /os-hosts in the OpenAPI document."""
from climate.api import operations
from climate.api import os_hosts
from climate.api import schemas
from climate.api import serializers
from climate.plugins import registry

_NUMBER = operations.in_path(pattern='^[0-9]{1,18}$')
_PROPERTY = operations.in_path(maxLength=255)
_FILTERS = (operations.query('search', maxLength=255), operations.query('criteria'),
            operations.flag('state'))


def of(plugins):
    """Make the paths of every pool.

    :param plugins: {resource type: plugin class}.
    :returns: {path: its operations}.
    """
    paths = of_pool('/os-hosts', os_hosts.HostSerializer())
    for name, pool in sorted(registry.pools_of(plugins).items()):
        paths |= of_pool(f'/resources/{name}', serializers.ResourceSerializer(pool))
        if pool.view is not None:
            paths |= _paths_of_view(serializers.ViewSerializer(pool))
    return paths


def _paths_of_view(serializer):
    place, operation = f'/{serializer.many}', operations.operation
    return {
        place: {
            'get': operation(f'List the {serializer.many} that can be leased',
                             query=[*_FILTERS, *operations.paging()]),
            'post': operation(f'Add a resource to {serializer.many}',
                              serializer.create_schemas[1], 201),
        },
        f'{place}/{{id}}': {
            'parameters': [_NUMBER],
            'get': operation(f'Show a resource of {serializer.many}'),
            'delete': operation(f'Remove a resource from {serializer.many}', status=204,
                                query=[operations.flag('dry_run')]),
        },
    }


def of_pool(place, serializer):
    """Make the paths of one pool below `place`."""
    pool, operation = serializer.pool, operations.operation
    filters = [operations.query('lease_id'), operations.query('reservation_id')]
    return {
        place: {
            'get': operation(f'List the resources of the pool {pool}',
                             query=[*_FILTERS, *operations.paging()]),
            'post': operation(f'Enrol a resource in the pool {pool}',
                              serializer.create_schemas[1], 201),
        },
        f'{place}/{{id}}': {
            'parameters': [_NUMBER],
            'get': operation(f'Show a resource of the pool {pool}'),
            'put': operation(f'Change a resource of the pool {pool}', serializer.update_schemas[1]),
            'delete': operation(f'Remove a resource from the pool {pool}', status=204,
                                query=[operations.flag('dry_run')]),
        },
        f'{place}/properties': {
            'get': operation(f'List properties of the pool {pool}',
                             query=[operations.flag('detail'), operations.flag('all')])},
        f'{place}/properties/{{id}}': {
            'parameters': [_PROPERTY],
            'patch': operation(f'Make a property of the pool {pool} private or public',
                               schemas.PROPERTY_UPDATE[1])},
        f'{place}/allocations': {
            'get': operation(f'List the allocations of the pool {pool}',
                             query=[*filters, *operations.paging()])},
        f'{place}/calendar': {
            'get': operation(f'Show how many resources of the pool {pool} are free, and when',
                             query=[operations.query('start', format='moment'),
                                    operations.query('end', format='moment'),
                                    *operations.paging()])},
        f'{place}/facets': {
            'get': operation(f'Count the resources of the pool {pool} by their properties',
                             query=operations.query_of(schemas.FACETS))},
        f'{place}/{{id}}/power': {
            'parameters': [_NUMBER],
            'post': operation(f'Wake a resource of the pool {pool}, or put it to sleep',
                              schemas.POWER[1], 202)},
        f'{place}/{{id}}/allocation': {
            'parameters': [_NUMBER],
            'get': operation(f'Show the allocations of a resource of the pool {pool}',
                             query=filters)},
    }
