# SPDX-License-Identifier: Apache-2.0
"""The changes of users and administrators in the simulated Neutron, outside Climate."""
import json
import uuid

from climate.cloud import models
from climate.cloud.simulated import network_rows
from climate.cloud.simulated import neutron


class NetworkControl:
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

    def add_port(self, network_id, address, project_id='admin', owner='compute:nova',
                 device_id=''):
        """Add a port with an address, for a server or router if one is named; return its id."""
        with self._transaction() as connection:
            return network_rows.add_port(connection, network_id, project_id, owner, address,
                                         device_id)

    def delete_network(self, network_id):
        """Delete a network with its subnets."""
        with self._transaction() as connection:
            network_rows.remove_network(connection, network_id)

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
        """Associate the floating IP with that address with a port, as its owner can."""
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

    def networks(self):
        """Return the SegmentNetworks, oldest first, without the network PUBLIC."""
        with self._transaction() as connection:
            return [network for network in network_rows.networks(connection)
                    if network.id != neutron.PUBLIC]

    def take_segment(self, segment, project_id='admin'):
        """Create a network on a segment, as an administrator can; return it."""
        with self._transaction() as connection:
            return network_rows.create_network(connection, segment, project_id, 'taken', '')

    def share_range(self, segment, last):
        """Allow Neutron to allocate the segments from `segment` up to the id `last` to users."""
        with self._transaction() as connection:
            connection.execute('INSERT INTO segment_ranges VALUES (?, ?, ?, ?)', (*segment, last))

    def unmark(self, network_id):
        """Remove tags and description of a network, as its owner can."""
        with self._transaction() as connection:
            connection.execute("UPDATE network_segments SET tags = '[]', description = '' "
                               'WHERE network_id = ?', (network_id,))

    def describe(self, object_id, description):
        """Set the description of a network or a router, as its owner can."""
        with self._transaction() as connection:
            for table, column in (('network_segments', 'network_id'), ('routers', 'id')):
                connection.execute(f'UPDATE {table} SET description = ? WHERE {column} = ?',
                                   (description, object_id))

    def ports(self, network_id):
        """Return the Ports of a network, oldest first."""
        with self._transaction() as connection:
            return [port for port in network_rows.ports(connection)
                    if port.network_id == network_id]

    def delete_port(self, port_id):
        """Delete a port, as its owner can."""
        with self._transaction() as connection:
            network_rows.remove_port(connection, port_id)

    def routers(self):
        """Return all Routers, oldest first."""
        with self._transaction() as connection:
            return network_rows.routers(connection)

    def add_router(self, project_id, subnet_id=None):
        """Add a router, connected to a subnet if one is named; return it."""
        with self._transaction() as connection:
            router = network_rows.create_router(connection, 'mine', project_id, None, '')
            if subnet_id is not None:
                network_rows.add_interface(connection, router.id, subnet_id)
            return router

    def connect(self, router_id, network_id, cidr):
        """Connect a router to a new subnet of a network; return the id of its port there."""
        with self._transaction() as connection:
            subnet = network_rows.create_subnet(connection, network_id, cidr, 'demo')
            network_rows.add_interface(connection, router_id, subnet.id)
            return next(port.id for port in network_rows.ports(connection)
                        if port.device_id == router_id and port.network_id == network_id)

    def add_trunk(self, port_id, sub_port_ids=()):
        """Add a trunk on a port."""
        with self._transaction() as connection:
            connection.execute('INSERT INTO trunks VALUES (?, ?, ?)', (
                str(uuid.uuid4()), port_id, json.dumps(list(sub_port_ids))))

    def trunks(self):
        """Return all Trunks."""
        with self._transaction() as connection:
            return network_rows.trunks(connection)

    def _set(self, address, column, value):
        with self._transaction() as connection:
            connection.execute(f'UPDATE floating_ips SET {column} = ? WHERE address = ?',
                               (value, address))
