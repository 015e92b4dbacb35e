# SPDX-License-Identifier: Apache-2.0
"""The free resources of the hypervisors of the simulated cloud, counted as Placement does."""
import collections
import json

from climate.cloud.simulated import hosts
from climate.cloud.simulated import server_rows


def suitable(connection, rows, flavor, server_id=None):
    """Return the rows of hypervisors that have the free resources and the traits for a Flavor.

    :param server_id: the id of an existing server, whose own resources do not count as used.
    """
    if flavor is None:
        return rows
    return _with_capacity(connection, rows, units(flavor), _traits(flavor), server_id)


def candidates(connection, shape):
    """Return {hypervisor name: {resource class: free units}} of hypervisors that fit a Shape."""
    rows = [row for row in hosts.every(connection) if not row['barred']]
    used = _used(connection)
    return {row['name']: {
        resource_class: count - used[row['service_host']][resource_class]
        for resource_class, count in _capacity(connection, row).items()}
        for row in _with_capacity(connection, rows, dict(shape.resources), shape.traits)}


def held(connection, row):
    """Return the allocations on a hypervisor, {server id: {resource class: units}}.

    A server that is being migrated counts on its target.
    """
    own = hosts.inventory(row)
    allocations = {}
    for server in connection.execute('SELECT * FROM servers WHERE coalesce(moves_to, host) = ?',
                                     (row['service_host'],)):
        flavor = server_rows.flavor(server)
        if flavor is not None:
            allocations[server['id']] = {name: count for name, count in units(flavor).items()
                                         if name in own and count}
    return allocations


def units(flavor):
    """Return {resource class: units that a server of the flavor takes}."""
    count = collections.Counter(
        VCPU=flavor.vcpus, MEMORY_MB=flavor.ram, DISK_GB=flavor.disk + flavor.ephemeral)
    for key, text in flavor.extra_specs.items():
        if key.startswith('resources:') and text.isdecimal():
            count[key.removeprefix('resources:')] = int(text)
    if flavor.extra_specs.get('hw:mem_encryption') == 'true':
        count['MEM_ENCRYPTION_CONTEXT'] = 1
    return count


def _traits(flavor):
    return {key.removeprefix('trait:') for key, text in flavor.extra_specs.items()
            if key.startswith('trait:') and text == 'required'}


def _with_capacity(connection, rows, needed, traits, server_id=None):
    used = _used(connection, server_id)
    return [row for row in rows
            if traits <= hosts.traits(row)
            and _fits(_capacity(connection, row), needed, used[row['service_host']])]


def _used(connection, but=None):
    """Return the resources of servers, {service host: {resource class: units}}.

    A server that is being migrated counts on both hosts.

    :param but: the id of a server that does not count.
    """
    used = collections.defaultdict(collections.Counter)
    for row in connection.execute(
            'SELECT * FROM servers WHERE host IS NOT NULL AND id IS NOT ?', (but,)):
        flavor = server_rows.flavor(row)
        if flavor is not None:
            for host in {row['host'], row['moves_to']} - {None}:
                used[host].update(units(flavor))
    return used


def _fits(capacity, needed, used):
    return all(used[name] + count <= capacity.get(name, 0) for name, count in needed.items())


def _capacity(connection, row):
    """Return the capacity of a hypervisor with its child providers, {resource class: units}."""
    inventories = [hosts.inventory(row)] + [
        json.loads(child['inventory']) for child in connection.execute(
            'SELECT inventory FROM providers WHERE parent = ?', (row['name'],))]
    return {name: int((has['total'] - has['reserved']) * has['allocation_ratio'])
            for inventory in inventories for name, has in inventory.items()}
