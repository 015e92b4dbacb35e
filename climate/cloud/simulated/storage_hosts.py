# SPDX-License-Identifier: Apache-2.0
"""The hosts of storage back ends of the simulated cloud."""
from climate import errors
from climate.cloud import base
from climate.cloud import volume_models as models
from climate.cloud.simulated import storage
from climate.cloud.simulated import storage_services


class StorageHosts(base.StorageHosts):
    """The hosts of storage back ends under one identity.

    :param link: the Link of that identity.
    """

    def __init__(self, link):
        super().__init__(link.calls.trust_id)
        self._calls = link.calls
        self._lifecycle = link.lifecycle

    def services(self):
        return self._call('services', storage_services.every)

    def volumes_on(self, host):
        return self._call('volumes_on', lambda connection: [
            storage.record(connection, row) for row in storage.rows(connection)
            if row['backend'] is not None and storage_services.is_on(row['backend'], host)])

    def snapshots_on(self, host):
        return self._call('snapshots_on', lambda connection: [
            models.Snapshot(row['id'], row['name'], row['status']) for row in connection.execute(
                'SELECT s.*, v.backend FROM volume_snapshots s JOIN volumes v '
                'ON v.id = s.volume_id ORDER BY s.rowid')
            if row['backend'] is not None and storage_services.is_on(row['backend'], host)])

    def volumes_to_come(self):
        return self._call('volumes_to_come', lambda connection: [
            storage.record(connection, row) for row in storage.rows(connection)
            if row['status'] == 'retyping'
            or (row['status'] == 'creating' and row['backend'] is None)])

    def disable(self, service_host, reason):
        def work(connection):
            found = storage_services.find(connection, service_host)
            if found is None:
                raise errors.ResourceNotFound(pool='backend', resource=service_host)
            if found.enabled:
                storage_services.mark(connection, service_host, enabled=False, reason=reason)
                return True
            return found.reason == reason
        return self._call('disable_service', work)

    def enable(self, service_host, reason):
        def work(connection):
            found = storage_services.find(connection, service_host)
            if found is None or (not found.enabled and found.reason != reason):
                return False
            if not found.enabled:
                storage_services.mark(connection, service_host, enabled=True)
            return True
        return self._call('enable_service', work)

    def _call(self, name, work):
        def settled(connection, _project_id):
            storage.settle(connection, self._lifecycle.now)
            return work(connection)
        return self._calls.make(f'cinder.{name}', settled)
