# SPDX-License-Identifier: Apache-2.0
"""Cinder's hosts: their services, and what is on them."""
from openstack import exceptions
from openstack import resource
from openstack.block_storage.v3 import snapshot
from openstack.block_storage.v3 import volume

from climate import errors
from climate.cloud import base
from climate.cloud import cinder
from climate.cloud import volume_models as models

_EVERYBODY = {'all_projects': True}


class _Volume(volume.Volume):
    """A volume; administrators may search by more than openstacksdk knows."""

    _query_mapping = resource.QueryParameters('host', 'status', 'migration_status',
                                              all_projects='all_tenants')


class _Snapshot(snapshot.Snapshot):
    """A snapshot; administrators may search by the host of its volume."""

    _query_mapping = resource.QueryParameters('host', all_projects='all_tenants')


class StorageHosts(base.StorageHosts):
    """The hosts of storage back ends under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._connected = cinder.Connected(link)

    def services(self):
        answer = self._connected.cinder.get('/os-services')
        exceptions.raise_from_response(answer)
        return [models.Service(
            binary=each['binary'], host=each['host'], enabled=each['status'] == 'enabled',
            up=each['state'] == 'up', reason=each.get('disabled_reason') or None,
            frozen=bool(each.get('frozen')), zone=each.get('zone'))
            for each in answer.json()['services']]

    def volumes_on(self, host):
        return self._volumes(host=host)

    def snapshots_on(self, host):
        return [models.Snapshot(id=each.id, name=each.name or '', status=each.status)
                for each in _Snapshot.list(self._connected.cinder, base_path='/snapshots/detail',
                                           host=host, **_EVERYBODY)]

    def volumes_to_come(self):
        found = [*self._volumes(status='creating'), *self._volumes(status='retyping'),
                 *self._volumes(migration_status='starting')]
        return [each for each in found if each.status != 'creating' or each.backend is None]

    def disable(self, service_host, reason):
        found = self._find(service_host)
        if found is None:
            raise errors.ResourceNotFound(pool='backend', resource=service_host)
        if not found.enabled:
            return found.reason == reason
        self._put('disable-log-reason', service_host, disabled_reason=reason)
        found = self._find(service_host)
        if found is None or found.enabled:
            raise errors.CloudError(service=self.service, reason=(
                f'it did not disable the service {service_host}, though it says so.'))
        return found.reason == reason

    def enable(self, service_host, reason):
        found = self._find(service_host)
        if found is None or (not found.enabled and found.reason != reason):
            return False
        if found.enabled:
            return True
        self._put('enable', service_host)
        if self._is_enabled(service_host):
            return True
        if not found.frozen:
            # Cinder 29.0.0 accepts "enable" and does nothing; "thaw" enables a service, too.
            for action in ('freeze', 'thaw'):
                self._ask(action, {'host': service_host})
            if self._is_enabled(service_host):
                return True
        raise errors.CloudError(service=self.service, reason=(
            f'it did not enable the service {service_host}, though it says so. Enable it by hand, '
            'if need be in the database of Cinder.'))

    def _volumes(self, **which):
        return [cinder.volume_of(each) for each in _Volume.list(
            self._connected.cinder, base_path='/volumes/detail', **_EVERYBODY, **which)]

    def _find(self, service_host):
        return next((each for each in self.services()
                     if (each.binary, each.host) == (self.BINARY, service_host)), None)

    def _is_enabled(self, service_host):
        found = self._find(service_host)
        return found is not None and found.enabled

    def _put(self, action, service_host, **more):
        self._ask(action, {'binary': self.BINARY, 'host': service_host, **more})

    def _ask(self, action, body):
        exceptions.raise_from_response(
            self._connected.cinder.put(f'/os-services/{action}', json=body))
