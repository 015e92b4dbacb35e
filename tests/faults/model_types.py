# SPDX-License-Identifier: Apache-2.0
"""Invariants of addresses, networks, volumes, stacks and clusters, after each step.

A further type needs a line in model_things.KINDS, a pool in model_world.POOLS if it has one of its
own, and here the calls of its service that may fail and the tables of what is made for leases.
"""
import re

from climate.domain import lifecycle
from climate.plugins.network import reservation_marks
from climate.plugins.network import segment_pool

#: The calls of their services that may fail.
CALLS = (
    'neutron.create_floating_ip', 'neutron.tag_floating_ip', 'neutron.floating_ips',
    'neutron.delete_floating_ip', 'neutron.detach_floating_ip', 'neutron.quota',
    'neutron.network', 'neutron.networks', 'neutron.create_network', 'neutron.tag_network',
    'neutron.create_subnet', 'neutron.create_router', 'neutron.add_interface', 'neutron.ports',
    'neutron.routers', 'neutron.trunks', 'neutron.remove_interface', 'neutron.delete_port',
    'neutron.delete_router', 'neutron.delete_network', 'nova.detach_port',
    'cinder.create_volume', 'cinder.create_type', 'cinder.allow_type', 'cinder.set_quota',
    'cinder.delete_volume', 'cinder.delete_type', 'cinder.volume', 'cinder.volumes',
    'cinder.upload_to_image', 'cinder.create_snapshot', 'cinder.quotas', 'cinder.services',
    'cinder.disable_service', 'cinder.enable_service', 'cinder.volumes_on', 'cinder.backends',
    'heat.preview', 'heat.create', 'heat.find', 'heat.delete', 'heat.suspend', 'heat.resume',
    'magnum.create_cluster', 'magnum.cluster', 'magnum.clusters', 'magnum.delete_cluster',
    'magnum.resize_cluster', 'magnum.node_groups')
#: The tables of the simulated cloud whose rows name the reservation that they were made for.
MADE = ('floating_ips', 'network_segments', 'routers', 'volume_types', 'volume_type_access',
        'volume_quotas', 'volumes', 'stacks', 'clusters', 'flavors', 'flavor_access')
#: What users have beside leases: {type: its table}.
OWN = {'virtual:volume': 'volumes', 'virtual:stack': 'stacks', 'virtual:network': 'networks'}
# The tables of what may have data of users, and which column has its id.
_WITH_DATA = {'volumes': 'id', 'stacks': 'id', 'stack_parts': 'stack_id', 'clusters': 'id',
              'node_groups': 'cluster_id', 'cluster_nodes': 'group_id'}

_ID = re.compile(r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')


def check(cloud, recorded, own):
    """Check what is true of all types in the cloud.

    :param own: {id: table} of what users have beside leases.
    """
    left = cloud.leftovers()
    what_was_made_is_of_somebody(left, recorded)
    nothing_of_users_was_deleted(left, own)
    each_address_was_allocated(cloud, recorded)
    each_segment_was_allocated(cloud, recorded)
    no_back_end_has_more_than_it_can_hold(left, recorded)


def what_was_made_is_of_somebody(left, recorded):
    """Objects made for a reservation are deleted before the reservation is over."""
    for table in MADE:
        for row in left[table]:
            for found in _ID.findall(' '.join(str(each) for each in row)):
                owner = recorded.reservations.get(found)
                assert owner is None or found == owner.leased_id or (
                    owner.state != lifecycle.RESERVATION_DELETED), (
                        f'{owner} is over, and {table} has {row}.')


def nothing_of_users_was_deleted(left, own):
    there = {table: {row[0] for row in left[table]} for table in set(own.values())}
    lost = {each: table for each, table in own.items() if each not in there[table]}
    assert not lost, f'Users have lost {lost}.'


def each_address_was_allocated(cloud, recorded):
    """A floating IP of a reservation has an address that was allocated to it, in its project."""
    numbers = {each.name.partition('@')[0]: each.id for each in recorded.resources.values()
               if each.pool == 'address' and each.withdrawn_at is None}
    given = {(each.reservation_id, each.resource_id) for each in recorded.allocations}
    for each in cloud.network.floating_ips():
        for found in reservation_marks.of(each):
            assert (found, numbers[each.address]) in given, f'{each} is of {found}.'
            assert each.project_id == 'demo', each


def each_segment_was_allocated(cloud, recorded):
    """A network of a reservation is on a segment that was allocated to it, in its project."""
    names = {each.name: each.id for each in recorded.resources.values() if each.pool == 'segment'}
    given = {(each.reservation_id, each.resource_id) for each in recorded.allocations}
    for each in cloud.network.networks():
        for found in reservation_marks.of(each):
            assert (found, names[segment_pool.text(each.segment)]) in given, (
                f'{each} is of {found}.')
            assert each.project_id == 'demo', each


def no_back_end_has_more_than_it_can_hold(left, recorded):
    for resource in recorded.resources.values():
        if resource.pool == 'backend':
            taken = sum(row[2] for row in left['volumes'] if row[6] == resource.name)
            assert taken <= resource.capacity['gb'], f'{resource.name} has {taken} GB.'


def servers_of(cloud):
    """Return {server id: reservation id} of the servers that stacks and clusters have."""
    with cloud.state() as connection:
        rows = [*connection.execute(
            'SELECT server_id, stacks.name FROM stack_parts JOIN stacks ON stacks.id = stack_id '
            'WHERE server_id IS NOT NULL'), *connection.execute(
            'SELECT server_id, clusters.name FROM cluster_nodes '
            'JOIN node_groups ON node_groups.id = group_id '
            'JOIN clusters ON clusters.id = cluster_id')]
        return {server_id: _ID.findall(name)[0] for server_id, name in
                ((row[0], row[1]) for row in rows) if _ID.findall(name)}


def take_what_came_too_late(cloud, own):
    """Delete what one who stood still has made for leases that were over; return how much.

    Repairs remove no volume, no stack and no cluster: a person must look whether there are data.
    """
    with cloud.state() as connection:
        return sum(connection.execute(
            f'DELETE FROM {table} WHERE {key} NOT IN ({", ".join("?" for _ in own)})',
            tuple(own)).rowcount for table, key in _WITH_DATA.items())


def nothing_is_left(left, at_first):
    """Check that the cloud has of all types what it had at first."""
    for table in (*MADE, 'networks', 'subnets', 'ports', 'stack_parts', 'node_groups',
                  'cluster_nodes'):
        assert left[table] == at_first[table], (table, left[table])
