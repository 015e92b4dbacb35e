# SPDX-License-Identifier: Apache-2.0
"""The volumes of the simulated cloud: Cinder under one identity."""
import json
import uuid

from climate import errors
from climate.cloud import base
from climate.cloud import volume_models as models
from climate.cloud.simulated import images
from climate.cloud.simulated import interface
from climate.cloud.simulated import storage
from climate.cloud.simulated import storage_hosts
from climate.cloud.simulated import storage_services

_SETTLED = ('available', 'in-use', 'error')
_DELETABLE = ('available', 'error', 'error_restoring', 'error_extending', 'error_managing',
              'error_deleting')


class SimulatedVolumes(interface.SimulatedInterface, base.Volumes):
    """Cinder under one identity."""

    def backends(self):
        def work(connection):
            open_hosts = storage_services.open_hosts(connection)
            return [models.Backend(row['name'], row['backend_name'], models.usable_gb(
                {'total_capacity_gb': row['total_gb']}))
                for row in connection.execute('SELECT * FROM backends ORDER BY name').fetchall()
                if storage_services.service_host(row['name']) in open_hosts]
        return self._admin_call('backends', work)

    def types(self):
        return self._admin_call('types', lambda connection: [
            models.VolumeType(row['id'], row['name'], bool(row['is_public']),
                              json.loads(row['extra_specs']))
            for row in connection.execute('SELECT * FROM volume_types ORDER BY name')])

    def ensure_type(self, name, extra_specs):
        self._admin_call('create_type', lambda connection: storage.add_type(
            connection, name, extra_specs, is_public=False))

    def allow(self, type_name, project_id):
        def work(connection):
            if storage.find_type(connection, type_name) is None:
                self._refuse(f'volume type {type_name} could not be found.')
            connection.execute('INSERT OR IGNORE INTO volume_type_access VALUES (?, ?)',
                               (type_name, project_id))
        self._admin_call('allow_type', work)

    def forbid(self, type_name, project_id):
        self._admin_call('forbid_type', lambda connection: connection.execute(
            'DELETE FROM volume_type_access WHERE type_name = ? AND project_id = ?',
            (type_name, project_id)))

    def delete_type(self, type_name):
        def work(connection):
            if any(row['type_name'] == type_name for row in storage.rows(connection)):
                raise errors.StillBusy(service=self.service,
                                       reason='Target volume type is still in use.')
            connection.execute('DELETE FROM volume_types WHERE name = ?', (type_name,))
            connection.execute('DELETE FROM volume_type_access WHERE type_name = ?', (type_name,))
            connection.execute('DELETE FROM volume_quotas WHERE name IN (?, ?)',
                               (f'gigabytes_{type_name}', f'volumes_{type_name}'))
        self._admin_call('delete_type', work)

    def quotas(self, project_id):
        return self._admin_call('quotas', lambda connection: storage.quotas(
            connection, project_id))

    def limit(self, project_id, type_name, gigabytes, volumes):
        def work(connection):
            quotas = storage.quotas(connection, project_id)
            for name, most in (('gigabytes', gigabytes), ('volumes', volumes)):
                quota = quotas.get(f'{name}_{type_name}')
                if quota is not None and quota.used > most:
                    self._refuse(f'Quota {name}_{type_name} limit must be equal or greater than '
                                 f'existing resources. Current usage is {quota.used} and the '
                                 f'requested limit is {most}.')
                connection.execute('INSERT OR REPLACE INTO volume_quotas VALUES (?, ?, ?)',
                                   (project_id, f'{name}_{type_name}', most))
        self._admin_call('set_quota', work)

    def volume(self, volume_id):
        def work(connection, project_id):
            row = storage.find(connection, volume_id, project_id)
            return None if row is None else storage.record(connection, row)
        return self._call('volume', work)

    def every(self, project_id=None):
        return self._admin_call('volumes', lambda connection: [
            storage.record(connection, row) for row in storage.rows(connection)
            if project_id in (None, row['project_id'])])

    def create(self, name, size_gb, type_name, metadata):
        def work(connection, project_id):
            if storage.find_type(connection, type_name, project_id) is None:
                self._refuse(f'Volume type with name {type_name} could not be found.')
            owner = project_id or storage.SERVICE_PROJECT
            self._check_quotas(connection, owner, size_gb, ('', f'_{type_name}'))
            volume_id = str(uuid.uuid4())
            connection.execute(
                'INSERT INTO volumes (id, name, size_gb, status, project_id, type_name, metadata) '
                "VALUES (?, ?, ?, 'creating', ?, ?, ?)",
                (volume_id, name, size_gb, owner, type_name, json.dumps(dict(metadata))))
            self._begin(connection, volume_id, 'creating', 'available')
            return volume_id
        return self._call('create_volume', work)

    def delete(self, volume_id):
        def work(connection, project_id):
            row = storage.find(connection, volume_id, project_id)
            if row is not None and row['status'] != 'deleting':
                self._need(row, _DELETABLE)
                self._begin(connection, volume_id, 'deleting', storage.GONE)
        self._call('delete_volume', work)

    def snapshots(self, volume_id):
        return self._admin_call('snapshots', lambda connection: [
            models.VolumeSnapshot(row['id'], row['name'], row['status'])
            for row in connection.execute(
                'SELECT * FROM volume_snapshots WHERE volume_id = ? ORDER BY rowid',
                (volume_id,))])

    def create_snapshot(self, volume_id, name):
        def work(connection, project_id):
            row = self._find(connection, volume_id, project_id)
            self._need(row, ('available', 'in-use'))
            if storage.find_type(connection, row['type_name'], project_id) is None:
                self._refuse(f'Volume type {row["type_name"]} could not be found.')
            owner = project_id or storage.SERVICE_PROJECT
            self._check(storage.quotas(connection, owner), 'snapshots', 1)
            connection.execute('INSERT INTO volume_snapshots VALUES (?, ?, ?, ?, ?)',
                               (str(uuid.uuid4()), name, volume_id, owner, 'available'))
        self._call('create_snapshot', work)

    def upload(self, volume_id, name, key):
        def work(connection, project_id):
            row = self._find(connection, volume_id, project_id)
            self._need(row, ('available',))
            image_id = images.make(connection, {'id': ''}, images.SNAPSHOT, project_id, name, key)
            storage.put(connection, volume_id, image_key=key)
            self._begin(connection, volume_id, 'uploading', 'available', image_id)
        self._call('upload_to_image', work)

    def forget_key(self, volume_id):
        def work(connection, project_id):
            row = storage.find(connection, volume_id, project_id)
            if row is not None:
                self._need(row, _SETTLED)
                storage.put(connection, volume_id, image_key=None)
        self._call('unset_image_metadata', work)

    def retype(self, volume_id, type_name):
        def work(connection, project_id):
            row = self._find(connection, volume_id, project_id)
            self._need(row, ('available', 'in-use'))
            if storage.find_type(connection, type_name, project_id) is None:
                self._refuse(f'Volume type with name {type_name} could not be found.')
            if connection.execute('SELECT 1 FROM volume_snapshots WHERE volume_id = ?',
                                  (volume_id,)).fetchone():
                raise errors.StillBusy(service=self.service, reason=(
                    'Volume must not have snapshots to be migrated.'))
            self._check_quotas(connection, row['project_id'], row['size_gb'], (f'_{type_name}',))
            self._begin(connection, volume_id, 'retyping', row['status'], type_name)
        self._call('retype', work)

    def _settle(self, connection):
        storage.settle(connection, self._lifecycle.now)

    def _begin(self, connection, volume_id, status, becomes, about=None):
        due = self._lifecycle.due_in(self._lifecycle.options.volume_seconds)
        storage.begin(connection, volume_id, status, becomes, due, about)

    @staticmethod
    def _find(connection, volume_id, project_id):
        row = storage.find(connection, volume_id, project_id)
        if row is None:
            raise errors.TargetGone(kind='volume', target_id=volume_id)
        return row

    def _need(self, row, statuses):
        if row['status'] not in statuses:
            raise errors.StillBusy(service=self.service, reason=(
                f'Invalid volume: Volume status must be {" or ".join(statuses)}, but current '
                f'status is: {row["status"]}.'))

    def _check_quotas(self, connection, project_id, size_gb, suffixes):
        quotas = storage.quotas(connection, project_id)
        for suffix in suffixes:
            self._check(quotas, f'gigabytes{suffix}', size_gb)
            self._check(quotas, f'volumes{suffix}', 1)

    def _check(self, quotas, name, requested):
        quota = quotas.get(name)
        if quota is not None and quota.free is not None and quota.free < requested:
            self._refuse(f'Quota exceeded for quota {name}: {requested} wanted, {quota.free} free '
                         f'of {quota.limit} (HTTP 413).')

    def _refuse(self, reason):
        raise errors.CloudError(service=self.service, reason=reason)


class SimulatedCinderAdapter(base.CinderAdapter):
    """Cinder of the simulated cloud."""

    interfaces = {'volumes': SimulatedVolumes, 'storage_hosts': storage_hosts.SimulatedStorageHosts}
    tables = storage.TABLES
