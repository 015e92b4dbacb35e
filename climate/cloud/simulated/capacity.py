# SPDX-License-Identifier: Apache-2.0
"""The free resources of the hypervisors of the simulated cloud, counted as Placement does."""
import collections
import json

from climate.cloud.simulated import hosts
from climate.cloud.simulated import servers


def suitable(connection, rows, flavor, server_id=None):
    """Return the hypervisors that have the free resources and the traits for a Flavor.

    :param server_id: the id of a server that exists; the resources it has do not count as taken.
    """
    if flavor is None:
        return rows
    return _with_capacity(connection, rows, units(flavor), _traits(flavor), server_id)


def candidates(connection, shape):
    """Return {hypervisor name: {resource class: free units}} of those that fit a Shape."""
    rows = [row for row in hosts.every(connection) if not row['barred']]
    taken = _taken(connection)
    return {row['name']: {
        each: count - taken[row['service_host']][each]
        for each, count in _capacity(connection, row).items()}
        for row in _with_capacity(connection, rows, dict(shape.resources), shape.traits)}


def held(connection, row):
    """Return the allocations on a hypervisor, {server id: {resource class: units}}.

    A server that is being migrated counts on its target.
    """
    own = hosts.inventory(row)
    found = {}
    for each in connection.execute('SELECT * FROM servers WHERE coalesce(moves_to, host) = ?',
                                   (row['service_host'],)):
        flavor = servers.flavor(each)
        if flavor is not None:
            found[each['id']] = {name: count for name, count in units(flavor).items()
                                 if name in own and count}
    return found


def units(flavor):
    """Return {resource class: units that a server of the flavor takes}."""
    found = collections.Counter(
        VCPU=flavor.vcpus, MEMORY_MB=flavor.ram, DISK_GB=flavor.disk + flavor.ephemeral)
    for key, text in flavor.extra_specs.items():
        if key.startswith('resources:') and text.isdecimal():
            found[key.removeprefix('resources:')] = int(text)
    if flavor.extra_specs.get('hw:mem_encryption') == 'true':
        found['MEM_ENCRYPTION_CONTEXT'] = 1
    return found


def _traits(flavor):
    return {key.removeprefix('trait:') for key, text in flavor.extra_specs.items()
            if key.startswith('trait:') and text == 'required'}


def _with_capacity(connection, rows, wanted, traits, server_id=None):
    taken = _taken(connection, server_id)
    return [row for row in rows
            if traits <= hosts.traits(row)
            and _fits(_capacity(connection, row), wanted, taken[row['service_host']])]


def _taken(connection, but=None):
    """Return what servers take, {service host: {resource class: units}}.

    A server that is being migrated counts on both hosts.

    :param but: the id of a server that does not count.
    """
    taken = collections.defaultdict(collections.Counter)
    for row in connection.execute(
            'SELECT * FROM servers WHERE host IS NOT NULL AND id IS NOT ?', (but,)):
        flavor = servers.flavor(row)
        if flavor is not None:
            for host in {row['host'], row['moves_to']} - {None}:
                taken[host].update(units(flavor))
    return taken


def _fits(capacity, wanted, taken):
    return all(taken[each] + count <= capacity.get(each, 0) for each, count in wanted.items())


def _capacity(connection, row):
    """Return the capacity of a hypervisor with its child providers, {resource class: units}."""
    inventories = [hosts.inventory(row)] + [
        json.loads(child['inventory']) for child in connection.execute(
            'SELECT inventory FROM providers WHERE parent = ?', (row['name'],))]
    return {each: int((has['total'] - has['reserved']) * has['allocation_ratio'])
            for inventory in inventories for each, has in inventory.items()}
