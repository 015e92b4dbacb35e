# SPDX-License-Identifier: Apache-2.0
"""The servers of the simulated Nova: the calls that read, mark and change them."""
from climate import errors
from climate.cloud import base
from climate.cloud.simulated import hosts
from climate.cloud.simulated import interface
from climate.cloud.simulated import lifecycle
from climate.cloud.simulated import server_rows


class SimulatedServers(interface.SimulatedInterface, base.CloudServers):
    """Servers under one identity."""

    def server(self, server_id):
        def work(connection, project_id):
            row = server_rows.find(connection, server_id, project_id)
            if row is None or row['status'] == 'SOFT_DELETED':
                return None
            return server_rows.record(row, server_rows.shown_flavor(row))
        return self._call('server', work)

    def marked(self, project_id, key, text):
        return self._admin_call('marked', lambda connection: server_rows.marked(
            connection, project_id, key, text))

    def ids(self):
        return self._admin_call('server_ids', lambda connection: frozenset(
            server.id for server in server_rows.every(connection)))

    def every(self):
        return self._admin_call('servers', server_rows.listed)

    def mark(self, server_id, metadata):
        def work(connection, project_id):
            row = server_rows.find(connection, server_id, project_id)
            if row is None:
                raise errors.TargetGone(kind='server', target_id=server_id)
            if server_rows.is_marked(row, metadata):
                return
            if row['status'] not in lifecycle.AWAKE:
                raise errors.StillBusy(service='Nova', reason=(
                    f"Cannot 'update_instance_metadata' instance {server_id} while it is "
                    f'{row["status"]}.'))
            server_rows.mark(connection, row, metadata)
        self._call('mark', work)

    def shelve(self, server_id):
        self._begin('shelve', server_id)

    def offload(self, server_id):
        self._begin('offload', server_id, admin=True)

    def unshelve(self, server_id, service_host=None, keeps_zone=False):
        def work(connection, project_id):
            if service_host is not None:
                self._refuse_host(connection, server_id, service_host)
                if not keeps_zone:
                    server_rows.unbind(connection, server_id)
            self._lifecycle.begin(connection, 'unshelve', server_id, project_id,
                                  service_host=service_host)
        self._call('unshelve', work, admin=service_host is not None)

    def suspend(self, server_id):
        self._begin('suspend', server_id)

    def unrescue(self, server_id):
        self._begin('unrescue', server_id)

    def stop(self, server_id):
        self._begin('stop', server_id)

    def migrate(self, server_id, service_host=None):
        def work(connection):
            if service_host is not None:
                _refuse_unknown(connection, service_host)
            self._lifecycle.migrate(connection, server_id, service_host)
        self._admin_call('migrate', work)

    def last_migration(self, server_id):
        return self._admin_call('migrations', lambda connection: server_rows.last_migration(
            connection, server_id))

    def failures(self, server_id, change, since):
        return self._admin_call('failures', lambda connection: connection.execute(
            'SELECT count(*) FROM failures WHERE server_id = ? AND change = ? AND at >= ?',
            (server_id, change, since.timestamp())).fetchone()[0])

    def create_image(self, server_id, name, key):
        return self._call('create_image', lambda connection, project_id: self._lifecycle.snapshot(
            connection, server_id, project_id, name, key))

    def _begin(self, change, server_id, admin=False):
        self._call(change, lambda connection, project_id: self._lifecycle.begin(
            connection, change, server_id, project_id), admin)

    @staticmethod
    def _refuse_host(connection, server_id, service_host):
        _refuse_unknown(connection, service_host)
        row = server_rows.find(connection, server_id)
        if row is not None and row['status'] != 'SHELVED_OFFLOADED':
            raise errors.StillBusy(service='Nova', reason=(
                f'Only an offloaded server can be unshelved to a host; {server_id} is '
                f'{row["status"]}.'))


def _refuse_unknown(connection, service_host):
    if not hosts.is_known(connection, service_host):
        raise errors.CloudError(
            service='Nova', reason=f'Compute host {service_host} could not be found.')
