# SPDX-License-Identifier: Apache-2.0
"""Lease with python-chi as a notebook of Chameleon does, and print what it shows, as JSON.

The arguments are the name of a story below, and the name of a lease.
"""
import datetime
import json
import os
import sys

from chi import context
from chi import exception
from chi import hardware
from chi import lease as leases

HOUR = datetime.timedelta(hours=1)
LOGIN = ('auth_url', 'username', 'password', 'project_name', 'user_domain_name',
         'project_domain_name')


def create(name):
    """Lease a host, an address, instances of a flavor and a network, from now on."""
    lease = leases.Lease(name, duration=HOUR)
    lease.add_node_reservation(amount=1, node_type='compute_skylake')
    lease.add_fip_reservation(1)
    lease.add_flavor_reservation(name='m1.nano', amount=2)
    lease.add_network_reservation(f'{name}-net')
    lease.submit(wait_for_active=True)
    again = leases.get_lease(name)
    return {
        'id': again.id, 'status': lease.status, 'created': again.id == lease.id,
        'reservations': [[each['id'] for each in group] for group in (
            again.node_reservations, again.fip_reservations, again.flavor_reservations,
            again.network_reservations)],
        'addresses': again.get_reserved_floating_ips(),
        'flavors': [flavor.name for flavor in again.get_reserved_flavors()],
        'listed': [each.name for each in leases.list_leases()]}


def nodes(name):
    """Show the nodes without a lease, and whether the first one is free for an hour from now."""
    free = hardware.get_nodes(all_sites=True, filter_reserved=True)
    start, _ = free[0].next_free_timeslot(1)
    return {'free': sorted(node.name for node in free),
            'is_free_now': start <= datetime.datetime.now(datetime.UTC)}


def delete(name):
    """Delete a lease by its name."""
    lease = leases.get_lease(name)
    lease.delete()
    return lease.status


def later(name):
    """Lease a host for later as notebooks of earlier releases do, and submit the lease again."""
    made = leases.create_lease(
        name, [{'resource_type': 'physical:host', 'min': '1', 'max': '1',
                'resource_properties': '', 'hypervisor_properties': ''}],
        start_date='2031-01-01 10:00', end_date='2031-01-01 12:00')
    again = leases.Lease(name, duration=HOUR)
    again.submit(wait_for_active=False, idempotent=True)
    return {'id': made['id'], 'again': again.id, 'status': again.status}


def refused(name):
    """Ask for more nodes than there are."""
    lease = leases.Lease(name, duration=HOUR)
    lease.add_node_reservation(amount=99, node_type='compute_skylake')
    try:
        lease.submit(wait_for_active=False)
    except exception.ResourceError as error:
        return str(error)
    return lease.id


if __name__ == '__main__':
    context.set('auth_type', 'v3password')
    for key in LOGIN:
        context.set(key, os.environ[f'OS_{key.upper()}'])
    context.set('region_name', os.environ['OS_REGION_NAME'])
    story = {'create': create, 'nodes': nodes, 'delete': delete, 'later': later,
             'refused': refused}[sys.argv[1]]
    print(json.dumps(story(sys.argv[2])))
