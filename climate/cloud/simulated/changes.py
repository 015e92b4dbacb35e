# SPDX-License-Identifier: Apache-2.0
"""The simulated face for the servers: reading, marking and changing them."""
from climate import errors
from climate.cloud import base
from climate.cloud.simulated import hosts
from climate.cloud.simulated import lifecycle
from climate.cloud.simulated import moves
from climate.cloud.simulated import servers


class Servers(base.Servers):
    """Servers under one identity.

    :param link: the Link of that identity.
    """

    def __init__(self, link):
        super().__init__(link.calls.trust_id)
        self._calls = link.calls
        self._lifecycle = link.lifecycle

    def server(self, server_id):
        def work(connection, project_id):
            row = servers.find(connection, server_id, project_id)
            if row is None or row['status'] == 'SOFT_DELETED':
                return None
            return servers.record(row, servers.shown_flavor(row))
        return self._calls.make('nova.server', work, admin=False)

    def marked(self, project_id, key, text):
        return self._calls.make('nova.marked', lambda connection, _: servers.marked(
            connection, project_id, key, text))

    def ids(self):
        return self._calls.make('nova.server_ids', lambda connection, project_id: frozenset(
            server.id for server in servers.every(connection)))

    def every(self):
        return self._calls.make('nova.servers', lambda connection, project_id: servers.listed(
            connection))

    def mark(self, server_id, metadata):
        def work(connection, project_id):
            row = servers.find(connection, server_id, project_id)
            if row is None:
                raise errors.TargetGone(kind='server', target_id=server_id)
            if servers.is_marked(row, metadata):
                return
            if row['status'] not in lifecycle.AWAKE:
                raise errors.StillBusy(service='Nova', reason=(
                    f"Cannot 'update_instance_metadata' instance {server_id} while it is "
                    f'{row["status"]}.'))
            servers.mark(connection, row, metadata)
        self._calls.make('nova.mark', work, admin=False)

    def shelve(self, server_id):
        self._begin('shelve', server_id, admin=False)

    def offload(self, server_id):
        self._begin('offload', server_id)

    def unshelve(self, server_id, service_host=None, keeps_zone=False):
        def work(connection, project_id):
            if service_host is not None:
                self._refuse_host(connection, server_id, service_host)
                if not keeps_zone:
                    servers.unbind(connection, server_id)
            self._lifecycle.begin(connection, 'unshelve', server_id, project_id,
                                  service_host=service_host)
        self._calls.make('nova.unshelve', work, admin=service_host is not None)

    def suspend(self, server_id):
        self._begin('suspend', server_id, admin=False)

    def unrescue(self, server_id):
        self._begin('unrescue', server_id, admin=False)

    def stop(self, server_id):
        self._begin('stop', server_id, admin=False)

    def migrate(self, server_id, service_host=None):
        def work(connection, project_id):
            if service_host is not None and not hosts.is_known(connection, service_host):
                raise errors.CloudError(
                    service='Nova', reason=f'Compute host {service_host} could not be found.')
            self._lifecycle.migrate(connection, server_id, service_host)
        self._calls.make('nova.migrate', work)

    def last_move(self, server_id):
        return self._calls.make('nova.migrations', lambda connection, project_id: moves.last(
            connection, server_id))

    def failures(self, server_id, change, since):
        return self._calls.make(
            'nova.failures', lambda connection, project_id: connection.execute(
                'SELECT count(*) FROM failures WHERE server_id = ? AND change = ? AND at >= ?',
                (server_id, change, since.timestamp())).fetchone()[0])

    def create_image(self, server_id, name, key):
        return self._calls.make(
            'nova.create_image', lambda connection, project_id: self._lifecycle.snapshot(
                connection, server_id, project_id, name, key), admin=False)

    def _begin(self, change, server_id, admin=True):
        self._calls.make(f'nova.{change}', lambda connection, project_id: self._lifecycle.begin(
            connection, change, server_id, project_id), admin=admin)

    @staticmethod
    def _refuse_host(connection, server_id, service_host):
        if not hosts.is_known(connection, service_host):
            raise errors.CloudError(
                service='Nova', reason=f'Compute host {service_host} could not be found.')
        row = servers.find(connection, server_id)
        if row is not None and row['status'] != 'SHELVED_OFFLOADED':
            raise errors.StillBusy(service='Nova', reason=(
                f'Only an offloaded server can be unshelved to a host; {server_id} is '
                f'{row["status"]}.'))
