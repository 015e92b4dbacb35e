# SPDX-License-Identifier: Apache-2.0
"""The resources that clients lease besides hosts, their pools, and their rows in the cloud.

A further type needs a line in TYPES and in `wanted`, in POOLS if it has a pool, and in TABLES.
"""
from climate.cloud.simulated import neutron

TYPES = ('virtual:floatingip', 'virtual:network', 'virtual:volume', 'virtual:stack',
         'virtual:cluster')
#: {pool: the bodies that enrol its resources}.
POOLS = {
    'address': [{'name': f'172.24.4.{number}', 'network_id': neutron.PUBLIC}
                for number in range(210, 213)],
    'backend': [{'name': 'storage@ssd#ssd'}],
    'segment': [{'name': f'physnet1:vlan:{number}'} for number in range(3000, 3003)],
}
#: {table of the cloud: which of its rows were made for leases}.
TABLES = {'floating_ips': '1', 'networks': 'NOT external', 'network_segments': '1',
          'routers': '1', 'volumes': '1', 'volume_types': 'NOT is_public',
          'volume_quotas': '1', 'stacks': '1', 'clusters': '1', 'cluster_nodes': '1'}
_TEMPLATE = {'heat_template_version': '2021-04-16', 'resources': {
    'word': {'type': 'OS::Heat::RandomString'}}}


def hosts(most):
    """Return a reservation of hosts, as a body has it."""
    return {'resource_type': 'physical:host', 'min': 1, 'max': most}


def wanted(chances):
    """Return one to three reservations that belong together, as a body has them."""
    some = [
        {'resource_type': 'virtual:floatingip', 'network_id': neutron.PUBLIC,
         'amount': chances.choice((1, 1, 2))},
        {'resource_type': 'virtual:network', 'subnet': '10.42.0.0/24', 'router': True,
         'external_network': neutron.PUBLIC},
        {'resource_type': 'virtual:volume', 'size_gb': 60, 'on_end': 'delete',
         'give': chances.choice(('volumes', 'type'))},
        {'resource_type': 'virtual:stack', 'template': _TEMPLATE},
        {'resource_type': 'virtual:cluster', 'cluster_template_id': 'kubernetes',
         'node_count': chances.choice((1, 2))},
        hosts(1),
    ]
    return chances.sample(some, chances.randint(1, 3))
