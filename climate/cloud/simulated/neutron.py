# SPDX-License-Identifier: Apache-2.0
"""Neutron of the simulated cloud: networks, ports, quotas and floating IPs."""
import ipaddress
import json
import uuid

from climate import errors
from climate.cloud import base
from climate.cloud import models

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


class Networks(base.Networks):
    """The networks under one identity.

    :param link: the Link of that identity.
    """

    def __init__(self, link):
        super().__init__(link.calls.trust_id)
        self._calls = link.calls

    def network(self, network_id):
        def work(connection, project_id):
            row = _row(connection, network_id)
            if row is None or not (row['external'] or project_id in (None, row['project_id'])):
                raise errors.ResourceNotFound(pool='network', resource=network_id)
            return _network(connection, row)
        return self._calls.make('neutron.network', work, admin=False)

    def used_addresses(self, network_id):
        return self._calls.make('neutron.ports', lambda connection, project_id: used(
            connection, network_id))

    def quota(self, project_id, name):
        return self._calls.make('neutron.quota', lambda connection, caller: quota(
            connection, project_id, name))


class FloatingIPs(base.FloatingIPs):
    """The floating IPs under one identity.

    :param link: the Link of that identity.
    """

    def __init__(self, link):
        super().__init__(link.calls.trust_id)
        self._calls = link.calls
        self._lifecycle = link.lifecycle

    def every(self):
        return self._read(lambda connection, project_id: floating_ips(connection), admin=True)

    def of_project(self, project_id):
        return self._read(lambda connection, caller: [
            each for each in floating_ips(connection)
            if each.project_id == project_id and caller in (None, project_id)], admin=False)

    def create(self, network_id, address, project_id, description=''):
        wanted = models.FloatingIP('', network_id, address, project_id, description=description)
        return self._calls.make('neutron.create_floating_ip', lambda connection, caller: (
            create(connection, wanted)))

    def tag(self, floating_ip_id, tags):
        self._change('neutron.tag_floating_ip', floating_ip_id, 'tags', json.dumps(list(tags)))

    def detach(self, floating_ip_id):
        down_at = self._lifecycle.now + self._lifecycle.floating_ip_seconds

        def work(connection, project_id):
            connection.execute(
                'UPDATE floating_ips SET port_id = NULL, down_at = ? WHERE id = ? '
                'AND project_id = coalesce(?, project_id)', (down_at, floating_ip_id, project_id))
            settle(connection, self._lifecycle.now)
            return next((each for each in floating_ips(connection)
                         if each.id == floating_ip_id and project_id in (None, each.project_id)),
                        None)
        return self._calls.make('neutron.detach_floating_ip', work, admin=False)

    def delete(self, floating_ip_id):
        def work(connection, project_id):
            connection.execute(
                'DELETE FROM floating_ips WHERE id = ? AND project_id = coalesce(?, project_id)',
                (floating_ip_id, project_id))
        self._calls.make('neutron.delete_floating_ip', work, admin=False)

    def _read(self, work, admin):
        def settled(connection, project_id):
            settle(connection, self._lifecycle.now)
            return work(connection, project_id)
        return self._calls.make('neutron.floating_ips', settled, admin)

    def _change(self, name, floating_ip_id, column, value):
        def work(connection, project_id):
            connection.execute(
                f'UPDATE floating_ips SET {column} = ? '
                'WHERE id = ? AND project_id = coalesce(?, project_id)',
                (value, floating_ip_id, project_id))
        self._calls.make(name, work, admin=False)


def create(connection, wanted):
    """Create a floating IP as an administrator; return the FloatingIP. Neutron's refusals apply.

    Like Neutron, it does not refuse the address of the gateway.
    """
    row = _row(connection, wanted.network_id)
    if row is None or not row['external']:
        raise errors.CloudError(service='Neutron', reason=(
            f'External network {wanted.network_id} could not be found.'))
    address = ipaddress.ip_address(wanted.address)
    if address.version != 4:
        raise errors.CloudError(service='Neutron', reason=(
            f'Unable to find any IP address on external network {wanted.network_id}.'))
    if not any(address in ipaddress.ip_network(each.cidr)
               for each in _network(connection, row).subnets):
        raise errors.CloudError(service='Neutron', reason=(
            f'IP address {wanted.address} is not a valid IP for any of the subnets on the '
            'specified network.'))
    if wanted.address in used(connection, wanted.network_id):
        raise errors.ResourceInUse(pool='address', resource=wanted.address,
                                   reason='Neutron has given it to somebody already.')
    room = quota(connection, wanted.project_id, 'floatingip')
    if room.limit is not None and room.used >= room.limit:
        raise errors.CloudError.plain('Neutron', (
            'the quota "floatingip" of your project is full: delete a floating IP, or ask for a '
            'greater quota.'))
    made = str(uuid.uuid4())
    connection.execute(
        'INSERT INTO floating_ips (id, network_id, address, project_id, description, tags) '
        "VALUES (?, ?, ?, ?, ?, '[]')",
        (made, wanted.network_id, wanted.address, wanted.project_id, wanted.description))
    [found] = [each for each in floating_ips(connection) if each.id == made]
    return found


def used(connection, network_id):
    """Return {address: what uses it, in words} of a network."""
    rows = connection.execute(
        "SELECT address, owner || ' ' || id AS what FROM ports WHERE network_id = ? "
        "UNION SELECT address, 'network:floatingip ' || id FROM floating_ips WHERE network_id = ?",
        (network_id, network_id))
    return {row['address']: row['what'] for row in rows}


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


def settle(connection, now):
    """Let the routers forget the floating IPs that were taken off their ports."""
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
        *(models.Subnet(each['id'], each['cidr'], each['gateway'],
                        tuple(map(tuple, json.loads(each['pools'])))) for each in subnets),))
