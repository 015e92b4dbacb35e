# SPDX-License-Identifier: Apache-2.0
"""Cinder: volumes, volume types, storage back ends and quotas."""
import contextlib
import functools
import json

from openstack import exceptions

from climate import errors
from climate.cloud import base
from climate.cloud import sdk
from climate.cloud import servers
from climate.cloud import volume_models as models

_SERVICE_TYPE = 'block-storage'
_MOVE_IF_NECESSARY = 'on-demand'


class Connected:
    """The connection to Cinder under one identity."""

    def __init__(self, link):
        self._link = link

    @functools.cached_property
    def cinder(self):
        """Return openstacksdk's proxy of Cinder, which makes all calls with Climate's session.

        This asks Cinder for its versions, so it is a part of the first call.
        """
        return sdk.connected(self._link, _SERVICE_TYPE).block_storage


class Volumes(base.Volumes):
    """Cinder under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._connected = Connected(link)

    @property
    def _cinder(self):
        return self._connected.cinder

    def backends(self):
        return [models.Backend(
            name=each.name, backend_name=each.capabilities.get('volume_backend_name') or '',
            usable_gb=models.usable_gb(each.capabilities))
            for each in self._cinder.backend_pools()]

    def types(self):
        return [_type(each) for each in self._cinder.types(is_public='None')]

    def ensure_type(self, name, extra_specs):
        if self._find(name) is None:
            try:
                self._cinder.create_type(name=name, is_public=False, extra_specs=dict(extra_specs))
            except exceptions.ConflictException:
                # Another manager has created it at the same time.
                if self._find(name) is None:
                    raise

    def allow(self, type_name, project_id):
        found = self._find(type_name)
        if found is None:
            raise errors.CloudError(service=self.service,
                                    reason=f'volume type {type_name} could not be found.')
        with contextlib.suppress(exceptions.ConflictException):
            self._cinder.add_type_access(found.id, project_id)

    def forbid(self, type_name, project_id):
        found = self._find(type_name)
        if found is not None:
            with contextlib.suppress(exceptions.NotFoundException):
                self._cinder.remove_type_access(found.id, project_id)

    def delete_type(self, type_name):
        found = self._find(type_name)
        if found is not None:
            # Cinder answers 400 while a volume is of this type.
            with self._or_busy(exceptions.BadRequestException):
                self._cinder.delete_type(found.id, ignore_missing=True)

    def quotas(self, project_id):
        answer = self._cinder.get(f'/os-quota-sets/{project_id}', params={'usage': 'True'})
        exceptions.raise_from_response(answer)
        return {name: models.Quota(None if each['limit'] < 0 else each['limit'],
                                   each['in_use'] + each['reserved'])
                for name, each in answer.json()['quota_set'].items() if isinstance(each, dict)}

    def limit(self, project_id, type_name, gigabytes, volumes):
        answer = self._cinder.put(f'/os-quota-sets/{project_id}', json={'quota_set': {
            f'gigabytes_{type_name}': gigabytes, f'volumes_{type_name}': volumes}})
        exceptions.raise_from_response(answer)

    def volume(self, volume_id):
        try:
            return volume_of(self._cinder.get_volume(volume_id))
        except exceptions.NotFoundException:
            return None

    def every(self, project_id=None):
        only = {} if project_id is None else {'project_id': project_id}
        found = sorted(self._cinder.volumes(all_projects=True, **only),
                       key=lambda each: (each.created_at or '', each.id))
        return [volume_of(each) for each in found]

    def create(self, name, size_gb, type_name, metadata):
        return self._cinder.create_volume(name=name, size=size_gb, volume_type=type_name,
                                          metadata=dict(metadata)).id

    def delete(self, volume_id):
        with self._or_busy(exceptions.BadRequestException, exceptions.ConflictException):
            answer = self._cinder.delete(f'/volumes/{volume_id}', params={'cascade': 'true'})
            with contextlib.suppress(exceptions.NotFoundException):
                exceptions.raise_from_response(answer)

    def snapshots(self, volume_id):
        return [models.Snapshot(id=each.id, name=each.name or '', status=each.status)
                for each in self._cinder.snapshots(all_projects=True, volume_id=volume_id)]

    def create_snapshot(self, volume_id, name):
        with self._about(volume_id):
            self._cinder.create_snapshot(volume_id=volume_id, name=name, is_forced=True)

    def upload(self, volume_id, name, key):
        with self._about(volume_id):
            # Cinder gives the image the metadata that the volume has for images.
            self._cinder.set_volume_image_metadata(volume_id, **{servers.IMAGE_KEY: key})
            self._cinder.upload_volume_to_image(volume_id, name)

    def forget_key(self, volume_id):
        with self._or_busy(exceptions.BadRequestException, exceptions.ConflictException), \
                contextlib.suppress(exceptions.NotFoundException):
            self._cinder.delete_volume_image_metadata(volume_id, [servers.IMAGE_KEY])

    def retype(self, volume_id, type_name):
        with self._about(volume_id):
            self._cinder.retype_volume(volume_id, type_name, _MOVE_IF_NECESSARY)

    def _find(self, type_name):
        return next((each for each in self.types() if each.name == type_name), None)

    @contextlib.contextmanager
    def _about(self, volume_id):
        """Map Cinder's refusals in the block to TargetGone or StillBusy."""
        with self._or_busy(exceptions.BadRequestException, exceptions.ConflictException):
            try:
                yield
            except exceptions.NotFoundException as error:
                raise errors.TargetGone(kind='volume', target_id=volume_id) from error

    @contextlib.contextmanager
    def _or_busy(self, *kinds):
        try:
            yield
        except kinds as error:
            raise errors.StillBusy(service=self.service, reason=_text(error)) from error


def _text(error):
    """Return what Cinder said, without the address that the library puts before it."""
    try:
        [found] = json.loads(error.response.text).values()
        return found['message']
    except (AttributeError, KeyError, TypeError, ValueError):
        return str(error)


def _type(found):
    return models.VolumeType(id=found.id, name=found.name, is_public=bool(found.is_public),
                             extra_specs=dict(found.extra_specs or {}))


def volume_of(found):
    """Return a volume of openstacksdk as a Volume."""
    return models.Volume(
        id=found.id, name=found.name or '', size_gb=found.size, status=found.status,
        project_id=found.project_id or '', type_name=found.volume_type or '',
        server_ids=tuple(each['server_id'] for each in found.attachments or ()
                         if each.get('server_id')),
        backend=found.host or None, zone=found.availability_zone or None)
