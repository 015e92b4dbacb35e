# SPDX-License-Identifier: Apache-2.0
"""Availability zones of the real cloud, as an administrator makes them for a while."""
import contextlib


@contextlib.contextmanager
def zones(scene, hosts_of, but=()):
    """Inside of the block the hosts are in these zones, and were enrolled there.

    :param hosts_of: {zone: its hosts}.
    :param but: hosts that are not enrolled inside of the block.
    """
    compute, hosts = scene.people['admin'].compute, scene.climate('admin').hosts
    moved = {name for names in hosts_of.values() for name in names}
    racks = {each['hypervisor_hostname']: each['rack'] for each in hosts.list()
             if each['hypervisor_hostname'] in moved}
    with contextlib.ExitStack() as after:
        for name, rack in racks.items():
            hosts.delete(hosts.find(name)['id'])
            after.callback(hosts.create, name, {'rack': rack})
        for zone, names in hosts_of.items():
            made = compute.create_aggregate(name=f'hosts of {zone}', availability_zone=zone)
            after.callback(compute.delete_aggregate, made)
            for name in names:
                compute.add_host_to_aggregate(made, name)
                after.callback(compute.remove_host_from_aggregate, made, name)
        for name in racks.keys() - set(but):
            hosts.create(name, {'rack': racks[name]})
            after.callback(lambda name=name: hosts.delete(hosts.find(name)['id']))
        yield


def of_nova(admin):
    """Return {zone: the hosts that Nova shows in it}."""
    found = {}
    for service in admin.compute.services(binary='nova-compute'):
        found.setdefault(service.availability_zone, set()).add(service.host)
    return found
