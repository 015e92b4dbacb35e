# SPDX-License-Identifier: Apache-2.0
"""What users and administrators do in Neutron of the simulated cloud, beside Climate."""
import json
import uuid

from climate.cloud import models
from climate.cloud.simulated import neutron


class NetworkHands:
    """Changes of networks by others, for demonstrations and tests.

    They take no time and pass no fault points.

    :param transaction: callable that returns a context with a connection to the state.
    """

    def __init__(self, transaction):
        self._transaction = transaction

    def add_network(self, name, cidr=None, gateway=None, pools=(), external=True,
                    project_id='admin'):
        """Add a network, with a subnet if a `cidr` is given; return its id."""
        network_id = str(uuid.uuid4())
        with self._transaction() as connection:
            connection.execute('INSERT INTO networks VALUES (?, ?, ?, ?)',
                               (network_id, name, project_id, int(external)))
            if cidr is not None:
                connection.execute('INSERT INTO subnets VALUES (?, ?, ?, ?, ?)', (
                    str(uuid.uuid4()), network_id, cidr, gateway, json.dumps(list(pools))))
        return network_id

    def set_pools(self, network_id, pools):
        """Set the allocation pools of all subnets of a network, as pairs (first, last)."""
        with self._transaction() as connection:
            connection.execute('UPDATE subnets SET pools = ? WHERE network_id = ?',
                               (json.dumps(list(pools)), network_id))

    def add_port(self, network_id, address, project_id='admin', owner='compute:nova'):
        """Add a port with an address; return its id."""
        port_id = str(uuid.uuid4())
        with self._transaction() as connection:
            connection.execute('INSERT INTO ports VALUES (?, ?, ?, ?, ?)',
                               (port_id, network_id, project_id, owner, address))
        return port_id

    def delete_network(self, network_id):
        """Delete a network with its subnets."""
        with self._transaction() as connection:
            connection.execute('DELETE FROM subnets WHERE network_id = ?', (network_id,))
            connection.execute('DELETE FROM networks WHERE id = ?', (network_id,))

    def set_quota(self, project_id, name, most):
        """Set a quota of a project; -1: without a limit."""
        with self._transaction() as connection:
            connection.execute('INSERT OR REPLACE INTO network_quotas VALUES (?, ?, ?)',
                               (project_id, name, most))

    def floating_ips(self):
        """Return all FloatingIPs, oldest first."""
        with self._transaction() as connection:
            return neutron.floating_ips(connection)

    def take_address(self, network_id, address, project_id='admin'):
        """Create a floating IP with that address, as an administrator can; return it."""
        with self._transaction() as connection:
            return neutron.create(connection, models.FloatingIP('', network_id, address,
                                                                project_id))

    def associate(self, address, port_id):
        """Let the floating IP with that address point to a port, as its owner can."""
        self._set(address, 'port_id', port_id)
        self._set(address, 'status', 'ACTIVE')

    def mark(self, address, description):
        """Give the floating IP with that address a description, as its owner can."""
        self._set(address, 'description', description)

    def untag(self, address):
        """Remove tags and description of a floating IP, as its owner can."""
        self._set(address, 'tags', '[]')
        self._set(address, 'description', '')

    def delete_floating_ip(self, address):
        """Delete the floating IP with that address, as its owner can."""
        with self._transaction() as connection:
            connection.execute('DELETE FROM floating_ips WHERE address = ?', (address,))

    def _set(self, address, column, value):
        with self._transaction() as connection:
            connection.execute(f'UPDATE floating_ips SET {column} = ? WHERE address = ?',
                               (value, address))
