# SPDX-License-Identifier: Apache-2.0
"""The rows of networks, ports, routers and trunks of the simulated Neutron, and its refusals."""
import ipaddress
import json
import uuid

from climate import errors
from climate.cloud import models
from climate.cloud import network_models

#: The physical networks that every simulated cloud has.
PHYSICAL_NETWORKS = ('physnet1', 'leased')
_INTERFACE = 'network:router_interface'
# Neutron deletes these ports with their network.
_DHCP = 'network:dhcp'

TABLES = (
    # The columns of networks and ports that the tables of `neutron` lack.
    """CREATE TABLE IF NOT EXISTS network_segments (
        network_id TEXT PRIMARY KEY, physical_network TEXT NOT NULL, network_type TEXT NOT NULL,
        segmentation_id INTEGER NOT NULL, description TEXT NOT NULL, tags TEXT NOT NULL,
        UNIQUE (physical_network, network_type, segmentation_id))""",
    """CREATE TABLE IF NOT EXISTS port_devices (
        port_id TEXT PRIMARY KEY, device_id TEXT NOT NULL, gone_at REAL)""",
    """CREATE TABLE IF NOT EXISTS routers (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, project_id TEXT NOT NULL,
        external_network_id TEXT, description TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS trunks (
        id TEXT PRIMARY KEY, port_id TEXT NOT NULL, sub_port_ids TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS segment_ranges (
        physical_network TEXT NOT NULL, network_type TEXT NOT NULL, first INTEGER NOT NULL,
        last INTEGER NOT NULL)""",
)


def settle(connection, now):
    """Delete the ports that Nova has detached, and the ports of deleted servers."""
    connection.execute(
        'DELETE FROM ports WHERE id IN (SELECT port_id FROM port_devices WHERE gone_at <= ?)',
        (now,))
    connection.execute(
        "DELETE FROM ports WHERE owner LIKE 'compute:%' AND id IN (SELECT port_id FROM "
        'port_devices WHERE device_id NOT IN (SELECT id FROM servers))')
    connection.execute('DELETE FROM port_devices WHERE port_id NOT IN (SELECT id FROM ports)')


def release(connection, port_id, gone_at):
    """Begin to detach a port, which Nova completes at the moment `gone_at`."""
    connection.execute('UPDATE port_devices SET gone_at = coalesce(gone_at, ?) WHERE port_id = ?',
                       (gone_at, port_id))


def networks(connection):
    """Return the SegmentNetworks, oldest first."""
    subnets = {}
    for row in connection.execute('SELECT id, network_id FROM subnets ORDER BY rowid'):
        subnets.setdefault(row['network_id'], []).append(row['id'])
    return [network_models.SegmentNetwork(
        id=row['id'], name=row['name'], project_id=row['project_id'],
        segment=None if row['network_type'] is None else (
            row['physical_network'], row['network_type'], row['segmentation_id']),
        description=row['description'] or '', tags=tuple(json.loads(row['tags'] or '[]')),
        subnet_ids=tuple(subnets.get(row['id'], ())))
        for row in connection.execute(
            'SELECT networks.id, networks.name, networks.project_id, network_segments.* '
            'FROM networks LEFT JOIN network_segments ON network_id = networks.id '
            'ORDER BY networks.rowid')]


def create_network(connection, segment, project_id, name, description):
    """Create a network on a segment as an administrator; return the SegmentNetwork."""
    physical_network, network_type, segmentation_id = segment
    if physical_network not in PHYSICAL_NETWORKS:
        raise errors.CloudError(service='Neutron', reason=(
            f"Invalid input for operation: physical_network '{physical_network}' unknown for VLAN "
            'provider network.'))
    if any(network.segment == segment for network in networks(connection)):
        raise errors.ResourceInUse(pool='segment', resource=':'.join(map(str, segment)),
                                   reason='another network in Neutron is on it.')
    refuse_full(connection, project_id, 'network')
    network_id = str(uuid.uuid4())
    connection.execute('INSERT INTO networks VALUES (?, ?, ?, 0)', (network_id, name, project_id))
    connection.execute('INSERT INTO network_segments VALUES (?, ?, ?, ?, ?, ?)', (
        network_id, physical_network, network_type, segmentation_id, description, '[]'))
    return next(network for network in networks(connection) if network.id == network_id)


def delete_network(connection, network_id, project_id=None):
    """Delete a network with its subnets; Neutron refuses it while there are ports."""
    network = next((each for each in networks(connection) if each.id == network_id), None)
    if network is None or project_id not in (None, network.project_id):
        return
    own_ports = [each for each in ports(connection) if each.network_id == network_id]
    used = [each.id for each in own_ports if each.owner != _DHCP]
    if used:
        raise errors.StillBusy(service='Neutron', reason=(
            f'Unable to complete operation on network {network_id}. There are one or more ports '
            f'still in use on the network: {", ".join(used)}.'))
    for each in own_ports:
        remove_port(connection, each.id)
    remove_network(connection, network_id)


def remove_network(connection, network_id):
    """Delete the rows of a network and its subnets."""
    for table, column in (('subnets', 'network_id'), ('network_segments', 'network_id'),
                          ('networks', 'id')):
        connection.execute(f'DELETE FROM {table} WHERE {column} = ?', (network_id,))


def ports(connection):
    """Return all Ports, oldest first."""
    return [network_models.Port(
        id=row['id'], network_id=row['network_id'], project_id=row['project_id'],
        owner=row['owner'], device_id=row['device_id'] or '')
        for row in connection.execute(
            'SELECT ports.*, device_id FROM ports LEFT JOIN port_devices ON port_id = ports.id '
            'ORDER BY ports.rowid')]


def port(connection, port_id):
    """Return the Port of that id, or None."""
    return next((each for each in ports(connection) if each.id == port_id), None)


def add_port(connection, network_id, project_id, owner, address, device_id=''):
    """Add a port; return its id."""
    port_id = str(uuid.uuid4())
    connection.execute('INSERT INTO ports VALUES (?, ?, ?, ?, ?)',
                       (port_id, network_id, project_id, owner, address))
    if device_id:
        connection.execute('INSERT INTO port_devices VALUES (?, ?, NULL)', (port_id, device_id))
    return port_id


def delete_port(connection, port_id, project_id=None):
    """Delete a port; Neutron refuses it while a trunk or a router has it."""
    shown = port(connection, port_id)
    if shown is None or project_id not in (None, shown.project_id):
        return
    if any(port_id in (trunk.port_id, *trunk.sub_port_ids) for trunk in trunks(connection)):
        raise errors.StillBusy(service='Neutron', reason=f'Port {port_id} is in use by a trunk.')
    if shown.owner.startswith(_INTERFACE):
        raise errors.StillBusy(service='Neutron', reason=(
            f'Port {port_id} cannot be deleted directly via the port API: it has device owner '
            f'{shown.owner}.'))
    remove_port(connection, port_id)


def remove_port(connection, port_id):
    """Delete the rows of a port, and dissociate its floating IP."""
    connection.execute('UPDATE floating_ips SET port_id = NULL WHERE port_id = ?', (port_id,))
    connection.execute('DELETE FROM port_devices WHERE port_id = ?', (port_id,))
    connection.execute('DELETE FROM ports WHERE id = ?', (port_id,))


def create_subnet(connection, network_id, cidr, project_id):
    """Create a subnet; return the Subnet. Neutron refuses overlaps."""
    refuse_full(connection, project_id, 'subnet')
    network = ipaddress.ip_network(cidr)
    for row in connection.execute('SELECT cidr FROM subnets WHERE network_id = ?', (network_id,)):
        other = ipaddress.ip_network(row['cidr'])
        if other.version == network.version and other.overlaps(network):
            raise errors.CloudError(service='Neutron', reason=(
                f'Invalid input for operation: Requested subnet with cidr: {cidr} for network: '
                f'{network_id} overlaps with another subnet.'))
    subnet_id, gateway = str(uuid.uuid4()), str(network[1])
    pools = ((str(network[2]), str(network[-2])),) if network.num_addresses > 3 else ()
    connection.execute('INSERT INTO subnets VALUES (?, ?, ?, ?, ?)',
                       (subnet_id, network_id, cidr, gateway, json.dumps(pools)))
    return models.Subnet(subnet_id, cidr, gateway, pools)


def routers(connection):
    """Return all Routers, oldest first."""
    return [network_models.Router(**dict(row))
            for row in connection.execute('SELECT * FROM routers ORDER BY rowid')]


def create_router(connection, name, project_id, external_network_id, description):
    """Create a router; return the Router."""
    refuse_full(connection, project_id, 'router')
    if external_network_id is not None and connection.execute(
            'SELECT 1 FROM networks WHERE id = ? AND external', (
                external_network_id,)).fetchone() is None:
        raise errors.CloudError(service='Neutron', reason=(
            f'External network {external_network_id} could not be found.'))
    router = network_models.Router(str(uuid.uuid4()), name, project_id, external_network_id,
                                   description)
    connection.execute('INSERT INTO routers VALUES (?, ?, ?, ?, ?)', (
        router.id, name, project_id, external_network_id, description))
    return router


def add_interface(connection, router_id, subnet_id):
    """Connect a router to a subnet, at the gateway's address."""
    [router] = [router for router in routers(connection) if router.id == router_id]
    row = connection.execute('SELECT * FROM subnets WHERE id = ?', (subnet_id,)).fetchone()
    if row is None or connection.execute(
            'SELECT 1 FROM ports WHERE network_id = ? AND address = ?',
            (row['network_id'], row['gateway'])).fetchone():
        raise errors.CloudError(service='Neutron', reason=(
            f'Bad router request: Router already has a port on subnet {subnet_id}.'))
    add_port(connection, row['network_id'], router.project_id, _INTERFACE, row['gateway'],
             router_id)


def remove_interface(connection, router_id, port_id):
    """Disconnect a router; Neutron refuses it while floating IPs need the interface."""
    shown = port(connection, port_id)
    if shown is None or shown.device_id != router_id:
        return
    if connection.execute(
            'SELECT 1 FROM floating_ips WHERE port_id IN '
            '(SELECT id FROM ports WHERE network_id = ?)', (shown.network_id,)).fetchone():
        raise errors.StillBusy(service='Neutron', reason=(
            f'Router interface for router {router_id} cannot be deleted, as it is required by one '
            'or more floating IPs.'))
    remove_port(connection, port_id)


def delete_router(connection, router_id):
    """Delete a router; Neutron refuses it while it has interfaces."""
    if any(shown.device_id == router_id for shown in ports(connection)):
        raise errors.StillBusy(service='Neutron', reason=f'Router {router_id} still has ports.')
    connection.execute('DELETE FROM routers WHERE id = ?', (router_id,))


def trunks(connection):
    """Return all Trunks."""
    return [network_models.Trunk(row['id'], row['port_id'], tuple(json.loads(row['sub_port_ids'])))
            for row in connection.execute('SELECT * FROM trunks ORDER BY rowid')]


def refuse_full(connection, project_id, name, noun=None):
    """Refuse one object more than the quota of a project allows.

    :param noun: the name of an object of the quota, if it is another one.
    :raises CloudError: the quota is full.
    """
    limit = quota(connection, project_id, name)
    if limit.free == 0:
        raise errors.CloudError.plain('Neutron', (
            f'the quota "{name}" of your project is full: delete a {noun or name}, or ask for a '
            'greater quota.'))


def quota(connection, project_id, name):
    """Return the Quota of a project; without a limit unless one was set."""
    row = connection.execute('SELECT most FROM network_quotas WHERE project_id = ? AND name = ?',
                             (project_id, name)).fetchone()
    table = {
        'floatingip': 'floating_ips', 'network': 'networks', 'port': 'ports', 'router': 'routers',
        'subnet': '(SELECT project_id FROM subnets JOIN networks ON networks.id = network_id)',
    }[name]
    [count] = connection.execute(f'SELECT count(*) FROM {table} WHERE project_id = ?',
                                 (project_id,)).fetchone()
    return models.Quota(limit=None if row is None or row['most'] < 0 else row['most'], used=count)
