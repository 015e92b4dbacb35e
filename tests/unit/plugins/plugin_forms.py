# SPDX-License-Identifier: Apache-2.0
"""Further requests for each plugin, in addition to its example, and resources of each pool."""
from climate.cloud.simulated import neutron

_TEMPLATE = {'heat_template_version': '2021-04-16', 'parameters': {
    'size': {'type': 'string', 'default': 'm1.tiny'}}, 'resources': {
        name: {'type': 'OS::Nova::Server', 'properties': {'flavor': {'get_param': 'size'}}}
        for name in 'ab'}}


def _leased_server(cloud, _trust_id, _example):
    server = cloud.boot('demo', 'vm', host='compute-8', flavor='2')
    return {'resource_id': server.id, 'on_end': 'migrate'}


def _volume_type(_cloud, _trust_id, _example):
    return {'size_gb': 100, 'give': 'type', 'on_end': 'delete'}


def _leased_volume(cloud, trust_id, _example):
    volumes = cloud.as_user(trust_id).volumes
    return {'resource_id': volumes.create('data', 5, 'ordinary', {}), 'on_end': 'keep'}


def _stack_with_capacity(_cloud, _trust_id, _example):
    return {'template': _TEMPLATE, 'flavor_parameter': 'size'}


def _stack_of_two_flavors(_cloud, _trust_id, _example):
    parameters = {name: {'type': 'string', 'default': name} for name in ('m1.tiny', 'm1.small')}
    return {'flavor_parameter': list(parameters), 'template': {
        'heat_template_version': '2021-04-16', 'parameters': parameters, 'resources': {
            name.replace('.', ''): {'type': 'OS::Nova::Server', 'properties': {
                'flavor': {'get_param': name}}} for name in parameters}}}


def _existing_stack(cloud, trust_id, example):
    stacks = cloud.as_user(trust_id).stacks
    return {'resource_id': stacks.create({'name': 'mine', 'template': example['template']}),
            'on_end': 'suspend'}


def _further_nodes(cloud, trust_id, _example):
    clusters = cloud.as_user(trust_id).clusters
    # Hosts with servers cannot be enrolled.
    for name in names(cloud, 'host'):
        cloud.mark_host(name, enabled=False)
    cluster_id = clusters.create('mine', {
        'cluster_template_id': 'kubernetes', 'node_count': 1, 'master_count': 1,
        'flavor_id': '1', 'master_flavor_id': '1'})
    clusters.resize(cluster_id, clusters.groups(cluster_id)[-1].id, 1)
    assert clusters.cluster(cluster_id).status == 'UPDATE_COMPLETE'
    for name in names(cloud, 'host'):
        cloud.mark_host(name, enabled=True)
    return {'resource_id': cluster_id, 'node_count': 2}


def _bare_network(_cloud, _trust_id, _example):
    return {'network_name': 'bare', 'on_end': 'wait'}


# {form: (type, callable that prepares the cloud and returns the request)}. The callable gets the
# cloud, the id of a trust and the plugin's example.
FORMS = {
    'a leased server': ('virtual:instance', _leased_server),
    'a volume type': ('virtual:volume', _volume_type),
    'a leased volume': ('virtual:volume', _leased_volume),
    'a network without a subnet': ('virtual:network', _bare_network),
    'a stack with capacity': ('virtual:stack', _stack_with_capacity),
    'a stack of two flavors': ('virtual:stack', _stack_of_two_flavors),
    'an existing stack': ('virtual:stack', _existing_stack),
    'further nodes of a cluster': ('virtual:cluster', _further_nodes),
}


def names(cloud, pool):
    """Return the names of at most two resources that may be enrolled in a pool."""
    if pool == 'address':
        return [f'172.24.4.{number}@{neutron.PUBLIC}' for number in (210, 211)]
    if pool == 'segment':
        return ['physnet1:vlan:3000', 'physnet1:vlan:3001']
    if pool == 'backend':
        return [each.name for each in cloud.as_service().volumes.backends()
                if each.backend_name != 'plain'][:2]
    return sorted(cloud.host_names())[:2]
