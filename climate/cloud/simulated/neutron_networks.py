# SPDX-License-Identifier: Apache-2.0
"""Neutron of the simulated cloud: networks on segments, and what is on networks."""
import json

from climate import errors
from climate.cloud import base
from climate.cloud.simulated import neutron_rows as rows


class _Calls:
    """The calls of a face, each on settled rows."""

    def __init__(self, link):
        super().__init__(link.calls.trust_id)
        self._calls = link.calls
        self._lifecycle = link.lifecycle

    def _call(self, name, work, admin=False):
        def settled(connection, project_id):
            rows.settle(connection, self._lifecycle.now)
            return work(connection, project_id)
        return self._calls.make(f'neutron.{name}', settled, admin=admin)


class Segments(_Calls, base.Segments):
    """The networks with their segments.

    :param link: the Link of one identity.
    """

    def knows(self, physical_network):
        return self._call('knows', lambda connection, _: (
            physical_network in rows.PHYSICAL_NETWORKS), admin=True)

    def shared_ranges(self):
        return self._call('segment_ranges', lambda connection, _: [
            ((row['physical_network'], row['network_type'], row['first']), row['last'])
            for row in connection.execute('SELECT * FROM segment_ranges ORDER BY rowid')],
            admin=True)

    def every(self):
        return self._call('networks', lambda connection, _: rows.networks(connection), admin=True)

    def of_project(self, project_id):
        return self._call('networks', lambda connection, _: [
            each for each in rows.networks(connection) if each.project_id == project_id],
            admin=True)

    def create(self, segment, project_id, name, description):
        return self._call('create_network', lambda connection, _: rows.create_network(
            connection, segment, project_id, name, description), admin=True)

    def tag(self, network_id, tags):
        self._call('tag_network', lambda connection, _: connection.execute(
            'UPDATE network_segments SET tags = ? WHERE network_id = ?',
            (json.dumps(list(tags)), network_id)))

    def delete(self, network_id):
        self._call('delete_network', lambda connection, project_id: rows.delete_network(
            connection, network_id, project_id))


class NetworkParts(_Calls, base.NetworkParts):
    """The subnets, ports, routers and trunks.

    :param link: the Link of one identity.
    """

    def ports(self, network_id):
        return self._ports(lambda each: each.network_id == network_id)

    def every_port(self):
        return self._ports(lambda each: True)

    def ports_of(self, device_id):
        return self._ports(lambda each: each.device_id == device_id)

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
            for each in rows.trunks(connection):
                if each.id == trunk_id:
                    left = [port_id for port_id in each.sub_port_ids if port_id not in port_ids]
                    connection.execute('UPDATE trunks SET sub_port_ids = ? WHERE id = ?',
                                       (json.dumps(left), trunk_id))
        self._call('remove_sub_ports', work)

    def create_subnet(self, network_id, cidr, name, description):
        def work(connection, project_id):
            [network] = [each for each in rows.networks(connection) if each.id == network_id
                         and project_id in (None, each.project_id)] or [None]
            if network is None:
                raise errors.CloudError(service='Neutron', reason=(
                    f'Network {network_id} could not be found.'))
            return rows.create_subnet(connection, network_id, cidr, network.project_id)
        return self._call('create_subnet', work)

    def routers(self, project_id=None):
        return self._call('routers', lambda connection, caller: [
            each for each in rows.routers(connection)
            if each.project_id in {project_id or each.project_id}
            & {caller or each.project_id}])

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

    def _ports(self, wanted):
        return self._call('ports', lambda connection, project_id: [
            each for each in rows.ports(connection)
            if wanted(each) and project_id in (None, each.project_id)])
