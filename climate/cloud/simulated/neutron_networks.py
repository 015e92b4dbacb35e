# SPDX-License-Identifier: Apache-2.0
"""Neutron of the simulated cloud: networks on segments; subnets, ports, routers and trunks."""
import json

from climate import errors
from climate.cloud import base
from climate.cloud.simulated import interface
from climate.cloud.simulated import network_rows as rows


class _NetworkInterface(interface.SimulatedInterface):
    """An interface to the rows of networks."""

    def _settle(self, connection):
        rows.settle(connection, self._lifecycle.now)


class SimulatedSegments(_NetworkInterface, base.Segments):
    """The networks with their segments."""

    def knows(self, physical_network):
        return self._admin_call('knows', lambda _connection: (
            physical_network in rows.PHYSICAL_NETWORKS))

    def shared_ranges(self):
        return self._admin_call('segment_ranges', lambda connection: [
            ((row['physical_network'], row['network_type'], row['first']), row['last'])
            for row in connection.execute('SELECT * FROM segment_ranges ORDER BY rowid')])

    def every(self):
        return self._admin_call('networks', rows.networks)

    def of_project(self, project_id):
        return self._admin_call('networks', lambda connection: [
            network for network in rows.networks(connection) if network.project_id == project_id])

    def create(self, segment, project_id, name, description):
        return self._admin_call('create_network', lambda connection: rows.create_network(
            connection, segment, project_id, name, description))

    def tag(self, network_id, tags):
        self._call('tag_network', lambda connection, _: connection.execute(
            'UPDATE network_segments SET tags = ? WHERE network_id = ?',
            (json.dumps(list(tags)), network_id)))

    def delete(self, network_id):
        self._call('delete_network', lambda connection, project_id: rows.delete_network(
            connection, network_id, project_id))


class SimulatedNetworkParts(_NetworkInterface, base.NetworkParts):
    """The subnets, ports, routers and trunks."""

    def ports(self, network_id):
        return self._ports(lambda port: port.network_id == network_id)

    def every_port(self):
        return self._ports(lambda _port: True)

    def ports_of(self, device_id):
        return self._ports(lambda port: port.device_id == device_id)

    def delete_port(self, port_id):
        self._call('delete_port', lambda connection, project_id: rows.delete_port(
            connection, port_id, project_id))

    def trunks(self):
        return self._call('trunks', lambda connection, _: rows.trunks(connection))

    def delete_trunk(self, trunk_id):
        self._call('delete_trunk', lambda connection, _: connection.execute(
            'DELETE FROM trunks WHERE id = ?', (trunk_id,)))

    def remove_sub_ports(self, trunk_id, port_ids):
        def work(connection, _project_id):
            for trunk in rows.trunks(connection):
                if trunk.id == trunk_id:
                    kept = [port_id for port_id in trunk.sub_port_ids if port_id not in port_ids]
                    connection.execute('UPDATE trunks SET sub_port_ids = ? WHERE id = ?',
                                       (json.dumps(kept), trunk_id))
        self._call('remove_sub_ports', work)

    def create_subnet(self, network_id, cidr, name, description):
        def work(connection, project_id):
            network = next((network for network in rows.networks(connection)
                            if network.id == network_id
                            and project_id in (None, network.project_id)), None)
            if network is None:
                raise errors.CloudError(service='Neutron', reason=(
                    f'Network {network_id} could not be found.'))
            return rows.create_subnet(connection, network_id, cidr, network.project_id)
        return self._call('create_subnet', work)

    def routers(self, project_id=None):
        return self._call('routers', lambda connection, caller: [
            router for router in rows.routers(connection)
            if project_id in (None, router.project_id) and caller in (None, router.project_id)])

    def create_router(self, name, external_network_id, description):
        return self._call('create_router', lambda connection, project_id: rows.create_router(
            connection, name, project_id or 'service', external_network_id, description))

    def add_interface(self, router_id, subnet_id):
        self._call('add_interface', lambda connection, _: rows.add_interface(
            connection, router_id, subnet_id))

    def remove_interface(self, router_id, port_id):
        self._call('remove_interface', lambda connection, _: rows.remove_interface(
            connection, router_id, port_id))

    def delete_router(self, router_id):
        self._call('delete_router', lambda connection, _: rows.delete_router(
            connection, router_id))

    def _ports(self, matches):
        return self._call('ports', lambda connection, project_id: [
            port for port in rows.ports(connection)
            if matches(port) and project_id in (None, port.project_id)])
