# SPDX-License-Identifier: Apache-2.0
"""Fill the cloud: flavors, images, networks, volume types, the aggregate of free hosts.

Usage: bootstrap_resources.py CLOUDS_YAML [BACKEND...]. Each BACKEND of Cinder gets a volume type;
the type of the first one is public. The program can be repeated.
"""
import sys

import openstack

# (name, id, MiB of memory, VCPUs, GB of disk)
FLAVORS = (('m1.nano', '42', 128, 1, 1), ('m1.micro', '84', 256, 1, 1),
           ('m1.small', '2', 2048, 1, 10), ('m1.medium', '3', 4096, 2, 20))
# {name: properties}; Magnum needs the name of the distribution.
IMAGES = {'tiny': {}, 'tiny-alt': {}, 'tiny-coe': {'os_distro': 'ubuntu'}}
AGGREGATE = 'freepool'


def main(clouds, *backends):
    admin = openstack.config.OpenStackConfig(config_files=[clouds]).get_one('admin')
    admin = openstack.connection.Connection(config=admin)
    for name, identifier, memory, vcpus, disk in FLAVORS:
        if not admin.compute.find_flavor(name):
            admin.compute.create_flavor(name=name, id=identifier, ram=memory, vcpus=vcpus,
                                        disk=disk)
    for name, properties in IMAGES.items():
        if not admin.image.find_image(name):
            admin.image.create_image(name=name, container_format='bare', disk_format='raw',
                                     visibility='public', data=b'x' * 1024, **properties)
    if not admin.compute.find_aggregate(AGGREGATE):
        admin.compute.create_aggregate(name=AGGREGATE)
    ensure_networks(admin.network)
    if backends:
        ensure_types(admin.block_storage, backends)


def ensure_types(storage, backends):
    """Create a volume type for each back end, and remove the default quotas."""
    for name in backends:
        if not storage.find_type(name):
            storage.create_type(name=name, is_public=name == backends[0],
                                extra_specs={'volume_backend_name': name})
    # A new Cinder has this type. Without a back end, its volumes could be created on any of them.
    unnamed = storage.find_type('__DEFAULT__')
    if unnamed:
        storage.update_type_extra_specs(unnamed, volume_backend_name=backends[0])
    # A new Cinder has this quota class in its tables, and prefers it to cinder.conf.
    storage.put('/os-quota-class-sets/default', json={
        'quota_class_set': dict.fromkeys(('volumes', 'gigabytes', 'snapshots'), -1)})


def ensure_networks(network):
    """An external network with floating addresses and a shared one, with a router between."""
    public = network.find_network('public') or network.create_network(
        name='public', is_router_external=True, provider_network_type='flat',
        provider_physical_network='public', is_shared=False)
    if not network.find_subnet('public-subnet'):
        network.create_subnet(
            name='public-subnet', network_id=public.id, ip_version=4, cidr='172.24.4.0/24',
            gateway_ip='172.24.4.1', is_dhcp_enabled=False,
            allocation_pools=[{'start': '172.24.4.10', 'end': '172.24.4.200'}])
    private = network.find_network('private') or network.create_network(
        name='private', is_shared=True)
    inner = network.find_subnet('private-subnet') or network.create_subnet(
        name='private-subnet', network_id=private.id, ip_version=4, cidr='10.99.0.0/24')
    if not network.find_router('router'):
        router = network.create_router(name='router',
                                       external_gateway_info={'network_id': public.id})
        network.add_interface_to_router(router, subnet_id=inner.id)


if __name__ == '__main__':
    main(*sys.argv[1:])
