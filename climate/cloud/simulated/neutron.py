# SPDX-License-Identifier: Apache-2.0
"""Neutron of the simulated cloud: networks, quotas and floating IPs."""
import dataclasses
import ipaddress
import json
import uuid

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud.simulated import interface
from climate.cloud.simulated import network_rows
from climate.cloud.simulated import neutron_networks

#: The external network that every simulated cloud has, and its subnet.
PUBLIC = '3f5b3a62-6d2e-4d8a-9d0c-6a8e0a1c7b11'
PUBLIC_SUBNET = '9b1c2f44-0c57-4b8e-8a43-2d5e6f7a8b22'

TABLES = (
    """CREATE TABLE IF NOT EXISTS networks (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, project_id TEXT NOT NULL,
        external INTEGER NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS subnets (
        id TEXT PRIMARY KEY, network_id TEXT NOT NULL, cidr TEXT NOT NULL, gateway TEXT,
        pools TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS ports (
        id TEXT PRIMARY KEY, network_id TEXT NOT NULL, project_id TEXT NOT NULL,
        owner TEXT NOT NULL, address TEXT NOT NULL, UNIQUE (network_id, address))""",
    """CREATE TABLE IF NOT EXISTS floating_ips (
        id TEXT PRIMARY KEY, network_id TEXT NOT NULL, address TEXT NOT NULL,
        project_id TEXT NOT NULL, port_id TEXT, description TEXT NOT NULL, tags TEXT NOT NULL,
        status TEXT NOT NULL DEFAULT 'DOWN', down_at REAL, UNIQUE (network_id, address))""",
    """CREATE TABLE IF NOT EXISTS network_quotas (
        project_id TEXT NOT NULL, name TEXT NOT NULL, most INTEGER NOT NULL,
        PRIMARY KEY (project_id, name))""",
    f"INSERT OR IGNORE INTO networks VALUES ('{PUBLIC}', 'public', 'admin', 1)",
    f"INSERT OR IGNORE INTO subnets VALUES ('{PUBLIC_SUBNET}', '{PUBLIC}', '172.24.4.0/24', "
    "'172.24.4.1', '[[\"172.24.4.10\", \"172.24.4.200\"]]')",
)


class SimulatedNetworks(interface.SimulatedInterface, base.Networks):
    """The networks under one identity."""

    def network(self, network_id):
        def work(connection, project_id):
            row = _row(connection, network_id)
            if row is None or not (row['external'] or project_id in (None, row['project_id'])):
                raise errors.ResourceNotFound(pool='network', resource=network_id)
            return _network(connection, row)
        return self._call('network', work)

    def used_addresses(self, network_id):
        return self._admin_call('ports', lambda connection: used(connection, network_id))

    def quota(self, project_id, name):
        return self._admin_call('quota', lambda connection: network_rows.quota(
            connection, project_id, name))


class SimulatedFloatingIPs(interface.SimulatedInterface, base.FloatingIPs):
    """The floating IPs under one identity."""

    def every(self):
        return self._admin_call('floating_ips', floating_ips)

    def of_project(self, project_id):
        return self._call('floating_ips', lambda connection, caller: [
            floating_ip for floating_ip in floating_ips(connection)
            if floating_ip.project_id == project_id and caller in (None, project_id)])

    def create(self, network_id, address, project_id, description=''):
        floating_ip = models.FloatingIP('', network_id, address, project_id,
                                        description=description)
        return self._admin_call('create_floating_ip', lambda connection: create(
            connection, floating_ip))

    def tag(self, floating_ip_id, tags):
        self._call('tag_floating_ip', lambda connection, project_id: connection.execute(
            'UPDATE floating_ips SET tags = ? WHERE id = ? AND project_id = '
            'coalesce(?, project_id)', (json.dumps(list(tags)), floating_ip_id, project_id)))

    def detach(self, floating_ip_id):
        down_at = self._lifecycle.due_in(self._lifecycle.options.floating_ip_seconds)

        def work(connection, project_id):
            connection.execute(
                'UPDATE floating_ips SET port_id = NULL, down_at = ? WHERE id = ? '
                'AND project_id = coalesce(?, project_id)', (down_at, floating_ip_id, project_id))
            self._settle(connection)
            return next((floating_ip for floating_ip in floating_ips(connection)
                         if floating_ip.id == floating_ip_id
                         and project_id in (None, floating_ip.project_id)), None)
        return self._call('detach_floating_ip', work)

    def delete(self, floating_ip_id):
        self._call('delete_floating_ip', lambda connection, project_id: connection.execute(
            'DELETE FROM floating_ips WHERE id = ? AND project_id = coalesce(?, project_id)',
            (floating_ip_id, project_id)))

    def _settle(self, connection):
        settle(connection, self._lifecycle.now)


def create(connection, requested):
    """Create a FloatingIP as an administrator; return it with its id. Neutron's refusals apply.

    Like Neutron, it does not refuse the address of the gateway.
    """
    row = _row(connection, requested.network_id)
    if row is None or not row['external']:
        raise errors.CloudError(service='Neutron', reason=(
            f'External network {requested.network_id} could not be found.'))
    address = ipaddress.ip_address(requested.address)
    if address.version != 4:
        raise errors.CloudError(service='Neutron', reason=(
            f'Unable to find any IP address on external network {requested.network_id}.'))
    if not any(address in ipaddress.ip_network(subnet.cidr)
               for subnet in _network(connection, row).subnets):
        raise errors.CloudError(service='Neutron', reason=(
            f'IP address {requested.address} is not a valid IP for any of the subnets on the '
            'specified network.'))
    if requested.address in used(connection, requested.network_id):
        raise errors.ResourceInUse(pool='address', resource=requested.address,
                                   reason='Neutron has given it to somebody already.')
    network_rows.refuse_full(connection, requested.project_id, 'floatingip', 'floating IP')
    floating_ip_id = str(uuid.uuid4())
    connection.execute(
        'INSERT INTO floating_ips (id, network_id, address, project_id, description, tags) '
        "VALUES (?, ?, ?, ?, ?, '[]')",
        (floating_ip_id, requested.network_id, requested.address, requested.project_id,
         requested.description))
    return dataclasses.replace(requested, id=floating_ip_id)


def used(connection, network_id):
    """Return {address: its user, in words} of a network."""
    rows = connection.execute(
        "SELECT address, owner || ' ' || id AS what FROM ports WHERE network_id = ? "
        "UNION SELECT address, 'network:floatingip ' || id FROM floating_ips WHERE network_id = ?",
        (network_id, network_id))
    return {row['address']: row['what'] for row in rows}


def settle(connection, now):
    """Complete the removal of dissociated floating IPs from their routers."""
    connection.execute("UPDATE floating_ips SET status = 'DOWN', down_at = NULL "
                       'WHERE down_at <= ?', (now,))


def floating_ips(connection):
    """Return all FloatingIPs, oldest first."""
    return [models.FloatingIP(
        id=row['id'], network_id=row['network_id'], address=row['address'],
        project_id=row['project_id'], port_id=row['port_id'], description=row['description'],
        tags=tuple(json.loads(row['tags'])), status=row['status'])
        for row in connection.execute('SELECT * FROM floating_ips ORDER BY rowid')]


def _row(connection, network_id):
    return connection.execute('SELECT * FROM networks WHERE id = ?', (network_id,)).fetchone()


def _network(connection, row):
    subnets = connection.execute('SELECT * FROM subnets WHERE network_id = ? ORDER BY rowid',
                                 (row['id'],))
    return models.Network(id=row['id'], name=row['name'], external=bool(row['external']), subnets=(
        *(models.Subnet(subnet['id'], subnet['cidr'], subnet['gateway'],
                        tuple(map(tuple, json.loads(subnet['pools'])))) for subnet in subnets),))


class SimulatedNeutronAdapter(base.NeutronAdapter):
    """Neutron of the simulated cloud."""

    interfaces = {'networks': SimulatedNetworks, 'floating_ips': SimulatedFloatingIPs,
                  'segments': neutron_networks.SimulatedSegments,
                  'network_parts': neutron_networks.SimulatedNetworkParts}
    tables = (*TABLES, *network_rows.TABLES)
