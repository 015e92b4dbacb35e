# SPDX-License-Identifier: Apache-2.0
"""Cinder: volumes, volume types, storage back ends and quotas."""
import contextlib
import json

from openstack import exceptions

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import sdk
from climate.cloud import servers
from climate.cloud import storage_hosts
from climate.cloud import volume_models

_REFUSALS = (exceptions.BadRequestException, exceptions.ConflictException)
_MOVE_IF_NECESSARY = 'on-demand'


class CinderVolumes(sdk.SdkInterface, base.Volumes):
    """The volumes, types, back ends and quotas of Cinder under one identity."""

    def backends(self):
        return [volume_models.Backend(
            name=pool.name, backend_name=pool.capabilities.get('volume_backend_name') or '',
            usable_gb=volume_models.usable_gb(pool.capabilities))
            for pool in self._proxy.backend_pools()]

    def types(self):
        return [volume_models.VolumeType(
            id=shown.id, name=shown.name, is_public=bool(shown.is_public),
            extra_specs=dict(shown.extra_specs or {}))
            for shown in self._proxy.types(is_public='None')]

    def ensure_type(self, name, extra_specs):
        if self._find(name) is None:
            try:
                self._proxy.create_type(name=name, is_public=False, extra_specs=dict(extra_specs))
            except exceptions.ConflictException:
                # Another manager has created it at the same time.
                if self._find(name) is None:
                    raise

    def allow(self, type_name, project_id):
        volume_type = self._find(type_name)
        if volume_type is None:
            raise errors.CloudError(service=self.service,
                                    reason=f'volume type {type_name} could not be found.')
        with contextlib.suppress(exceptions.ConflictException):
            self._proxy.add_type_access(volume_type.id, project_id)

    def forbid(self, type_name, project_id):
        volume_type = self._find(type_name)
        if volume_type is not None:
            with contextlib.suppress(exceptions.NotFoundException):
                self._proxy.remove_type_access(volume_type.id, project_id)

    def delete_type(self, type_name):
        volume_type = self._find(type_name)
        if volume_type is not None:
            # Cinder answers 400 while a volume is of this type.
            with self._or_busy(exceptions.BadRequestException, _reason):
                self._proxy.delete_type(volume_type.id, ignore_missing=True)

    def quotas(self, project_id):
        answer = self._proxy.get(f'/os-quota-sets/{project_id}', params={'usage': 'True'})
        exceptions.raise_from_response(answer)
        return {name: models.Quota(None if quota['limit'] < 0 else quota['limit'],
                                   quota['in_use'] + quota['reserved'])
                for name, quota in answer.json()['quota_set'].items() if isinstance(quota, dict)}

    def limit(self, project_id, type_name, gigabytes, volumes):
        answer = self._proxy.put(f'/os-quota-sets/{project_id}', json={'quota_set': {
            f'gigabytes_{type_name}': gigabytes, f'volumes_{type_name}': volumes}})
        exceptions.raise_from_response(answer)

    def volume(self, volume_id):
        try:
            return storage_hosts.volume_of(self._proxy.get_volume(volume_id))
        except exceptions.NotFoundException:
            return None

    def every(self, project_id=None):
        filters = {} if project_id is None else {'project_id': project_id}
        shown = sorted(self._proxy.volumes(all_projects=True, **filters),
                       key=lambda volume: (volume.created_at or '', volume.id))
        return [storage_hosts.volume_of(volume) for volume in shown]

    def create(self, name, size_gb, type_name, metadata):
        return self._proxy.create_volume(name=name, size=size_gb, volume_type=type_name,
                                         metadata=dict(metadata)).id

    def delete(self, volume_id):
        with self._or_busy(_REFUSALS, _reason):
            answer = self._proxy.delete(f'/volumes/{volume_id}', params={'cascade': 'true'})
            with contextlib.suppress(exceptions.NotFoundException):
                exceptions.raise_from_response(answer)

    def snapshots(self, volume_id):
        return [storage_hosts.snapshot_of(shown) for shown in self._proxy.snapshots(
            all_projects=True, volume_id=volume_id)]

    def create_snapshot(self, volume_id, name):
        with self._changing(volume_id):
            self._proxy.create_snapshot(volume_id=volume_id, name=name, is_forced=True)

    def upload(self, volume_id, name, key):
        with self._changing(volume_id):
            # Cinder gives the image the metadata that the volume has for images.
            self._proxy.set_volume_image_metadata(volume_id, **{servers.IMAGE_KEY: key})
            self._proxy.upload_volume_to_image(volume_id, name)

    def forget_key(self, volume_id):
        with self._or_busy(_REFUSALS, _reason), contextlib.suppress(
                exceptions.NotFoundException):
            self._proxy.delete_volume_image_metadata(volume_id, [servers.IMAGE_KEY])

    def retype(self, volume_id, type_name):
        with self._changing(volume_id):
            self._proxy.retype_volume(volume_id, type_name, _MOVE_IF_NECESSARY)

    def _find(self, type_name):
        return next((found for found in self.types() if found.name == type_name), None)

    @contextlib.contextmanager
    def _changing(self, volume_id):
        """Map Cinder's refusals in the block to TargetGone or StillBusy."""
        with self._or_busy(_REFUSALS, _reason):
            try:
                yield
            except exceptions.NotFoundException as error:
                raise errors.TargetGone(kind='volume', target_id=volume_id) from error


def _reason(error):
    """Return Cinder's message, without the address that the library puts before it."""
    try:
        [fault] = json.loads(error.response.text).values()
        return fault['message']
    except (AttributeError, KeyError, TypeError, ValueError):
        return str(error)


class RealCinderAdapter(base.CinderAdapter):
    """Cinder, by openstacksdk."""

    interfaces = {'volumes': CinderVolumes, 'storage_hosts': storage_hosts.CinderHosts}
    foreign = (exceptions.SDKException,)
