# SPDX-License-Identifier: Apache-2.0
"""Cinder's hosts: their services, volumes and snapshots."""
from openstack import exceptions
from openstack import resource
from openstack.block_storage.v3 import snapshot
from openstack.block_storage.v3 import volume

from climate import errors
from climate.cloud import base
from climate.cloud import sdk
from climate.cloud import volume_models as models

_OF_ALL_PROJECTS = {'all_projects': True}


class _Volume(volume.Volume):
    """A volume; administrators may search by more than openstacksdk knows."""

    _query_mapping = resource.QueryParameters('host', 'status', 'migration_status',
                                              all_projects='all_tenants')


class _Snapshot(snapshot.Snapshot):
    """A snapshot; administrators may search by the host of its volume."""

    _query_mapping = resource.QueryParameters('host', all_projects='all_tenants')


class CinderHosts(sdk.SdkInterface, base.StorageHosts):
    """The hosts of storage back ends under one identity."""

    def services(self):
        answer = self._proxy.get('/os-services')
        exceptions.raise_from_response(answer)
        return [models.StorageService(
            binary=shown['binary'], host=shown['host'], enabled=shown['status'] == 'enabled',
            up=shown['state'] == 'up', reason=shown.get('disabled_reason') or None,
            frozen=bool(shown.get('frozen')), zone=shown.get('zone'))
            for shown in answer.json()['services']]

    def volumes_on(self, host):
        return self._volumes(host=host)

    def snapshots_on(self, host):
        return [snapshot_of(shown) for shown in _Snapshot.list(
            self._proxy, base_path='/snapshots/detail', host=host, **_OF_ALL_PROJECTS)]

    def unplaced_volumes(self):
        volumes = [*self._volumes(status='creating'), *self._volumes(status='retyping'),
                   *self._volumes(migration_status='starting')]
        return [volume for volume in volumes
                if volume.status != 'creating' or volume.backend is None]

    def disable(self, service_host, reason):
        service = self._find(service_host)
        if service is None:
            raise errors.ResourceNotFound(pool='backend', resource=service_host)
        if not service.enabled:
            return service.reason == reason
        self._put('disable-log-reason', service_host, disabled_reason=reason)
        service = self._find(service_host)
        if service is None or service.enabled:
            raise errors.CloudError(service=self.service, reason=(
                f'it did not disable the service {service_host}, though it says so.'))
        return service.reason == reason

    def enable(self, service_host, reason):
        service = self._find(service_host)
        if service is None or (not service.enabled and service.reason != reason):
            return False
        if service.enabled:
            return True
        self._put('enable', service_host)
        if self._is_enabled(service_host):
            return True
        if not service.frozen:
            # Cinder 29.0.0 accepts "enable" and does nothing; "thaw" enables a service, too.
            for action in ('freeze', 'thaw'):
                self._request(action, {'host': service_host})
            if self._is_enabled(service_host):
                return True
        raise errors.CloudError(service=self.service, reason=(
            f'it did not enable the service {service_host}, though it says so. Enable it by hand, '
            'if need be in the database of Cinder.'))

    def _volumes(self, **filters):
        return [volume_of(shown) for shown in _Volume.list(
            self._proxy, base_path='/volumes/detail', **_OF_ALL_PROJECTS, **filters)]

    def _find(self, service_host):
        return next((service for service in self.services()
                     if (service.binary, service.host) == (self.BINARY, service_host)), None)

    def _is_enabled(self, service_host):
        service = self._find(service_host)
        return service is not None and service.enabled

    def _put(self, action, service_host, **fields):
        self._request(action, {'binary': self.BINARY, 'host': service_host, **fields})

    def _request(self, action, body):
        exceptions.raise_from_response(self._proxy.put(f'/os-services/{action}', json=body))


def volume_of(shown):
    """Return a volume of openstacksdk as a Volume."""
    return models.Volume(
        id=shown.id, name=shown.name or '', size_gb=shown.size, status=shown.status,
        project_id=shown.project_id or '', type_name=shown.volume_type or '',
        server_ids=tuple(attachment['server_id'] for attachment in shown.attachments or ()
                         if attachment.get('server_id')),
        backend=shown.host or None, zone=shown.availability_zone or None)


def snapshot_of(shown):
    """Return a snapshot of openstacksdk as a VolumeSnapshot."""
    return models.VolumeSnapshot(id=shown.id, name=shown.name or '', status=shown.status)
