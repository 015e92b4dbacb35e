# SPDX-License-Identifier: Apache-2.0
"""The hosts of storage back ends of the simulated cloud."""
from climate import errors
from climate.cloud import base
from climate.cloud import volume_models as models
from climate.cloud.simulated import interface
from climate.cloud.simulated import storage
from climate.cloud.simulated import storage_services


class SimulatedStorageHosts(interface.SimulatedInterface, base.StorageHosts):
    """The hosts of storage back ends under one identity."""

    def services(self):
        return self._admin_call('services', storage_services.every)

    def volumes_on(self, host):
        return self._admin_call('volumes_on', lambda connection: [
            storage.record(connection, row) for row in storage.rows(connection)
            if row['backend'] is not None and storage_services.is_on(row['backend'], host)])

    def snapshots_on(self, host):
        return self._admin_call('snapshots_on', lambda connection: [
            models.VolumeSnapshot(row['id'], row['name'], row['status'])
            for row in connection.execute(
                'SELECT s.*, v.backend FROM volume_snapshots s JOIN volumes v '
                'ON v.id = s.volume_id ORDER BY s.rowid')
            if row['backend'] is not None and storage_services.is_on(row['backend'], host)])

    def unplaced_volumes(self):
        return self._admin_call('unplaced_volumes', lambda connection: [
            storage.record(connection, row) for row in storage.rows(connection)
            if row['status'] == 'retyping'
            or (row['status'] == 'creating' and row['backend'] is None)])

    def disable(self, service_host, reason):
        def work(connection):
            service = storage_services.find(connection, service_host)
            if service is None:
                raise errors.ResourceNotFound(pool='backend', resource=service_host)
            if service.enabled:
                storage_services.mark(connection, service_host, enabled=False, reason=reason)
                return True
            return service.reason == reason
        return self._admin_call('disable_service', work)

    def enable(self, service_host, reason):
        def work(connection):
            service = storage_services.find(connection, service_host)
            if service is None or (not service.enabled and service.reason != reason):
                return False
            if not service.enabled:
                storage_services.mark(connection, service_host, enabled=True)
            return True
        return self._admin_call('enable_service', work)

    def _settle(self, connection):
        storage.settle(connection, self._lifecycle.now)
