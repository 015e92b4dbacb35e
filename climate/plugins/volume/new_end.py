# SPDX-License-Identifier: Apache-2.0
"""The end of new volumes: they are imaged and deleted, retyped, or deleted.

Each call reads each volume once and begins at most one change of it. If one volume cannot be
removed yet, the others are removed nevertheless.
"""
from oslo_log import log

from climate import errors
from climate.domain import losses
from climate.plugins.volume import attachment
from climate.plugins.volume import end_images
from climate.plugins.volume import names
from climate.plugins.volume import parsing

LOG = log.getLogger(__name__)

_DELETE = 'delete volume'
# The statuses of a volume that failed after it was created, so that it can have data.
_BROKEN = ('error_extending', 'error_restoring', 'error_managing')


def end(conf, cloud, lease, reservation):
    """Remove the volumes, and delete the volume types of the reservation.

    :raises StillBusy: some volumes still have a type of the reservation.
    :raises CloudError: some volumes were not removed in time, and are kept.
    """
    service = cloud.as_service().volumes
    types = names.types_of(service, reservation.id)
    for name in types:
        # Do this first, so that nobody creates another volume meanwhile.
        service.forbid(name, lease.project_id)
    pending = _VolumesEnd(conf, cloud, lease, reservation).advance(
        names.volumes_of(service, reservation.id, types=types))
    volumes = names.volumes_of(service, reservation.id, types=types)
    if volumes:
        raise end_images.not_yet(conf, cloud, [
            (volume.id, pending.get(volume.id, f'it is {volume.status}')) for volume in volumes])
    for name in types:
        service.delete_type(name)


def lost(cloud, reservation):
    """Return the Losses of the volumes that `end` deletes. Reads only."""
    on_end = reservation.request['on_end']
    return [losses.Loss('volume', volume.id, volume.name, volume.project_id,
                        saved=on_end == parsing.IMAGE and not _is_empty(volume),
                        resource=volume.backend)
            for volume in names.volumes_of(cloud.as_service().volumes, reservation.id)
            if on_end != parsing.RETYPE or _is_empty(volume)]


def _is_empty(volume):
    """Return whether a Volume was never created on a back end, so that it has no data."""
    return volume.status == 'error' and volume.backend is None


class _VolumesEnd:
    """One attempt to remove the volumes of a reservation."""

    def __init__(self, conf, cloud, lease, reservation):
        self._cloud = cloud
        self._lease = lease
        self._reservation = reservation
        self._images = end_images.VolumeImages(conf, cloud, lease, reservation)

    def advance(self, volumes):
        """Begin the next change of each Volume; return {id: why the volume is not removed yet}."""
        pending, ready, saved = {}, [], {}
        for volume in volumes:
            try:
                why = self._why_kept(volume, saved)
            except errors.TargetGone:
                why = 'it has just been deleted'
            except (errors.CloudUnreachable, errors.TrustDead):
                raise
            except errors.CloudError as error:
                LOG.warning('Lease %s, reservation %s: volume %s is not removed yet: %s',
                            self._lease.id, self._reservation.id, volume.id, error.message)
                why = error.owner_message.rstrip('.')
            if why is None:
                ready.append(volume)
            else:
                pending[volume.id] = why
        # Announce the deletion in the history first.
        self._cloud.announce(_DELETE, {
            volume.id: _description(volume, saved) for volume in ready})
        for volume in ready:
            try:
                self._cloud.as_service().volumes.delete(volume.id)
            except errors.StillBusy as error:
                pending[volume.id] = error.message.rstrip('.')
        return pending

    def _why_kept(self, volume, saved):
        """Begin the next change before the deletion; return why the Volume must wait, or None.

        :param saved: {volume id: its complete Image}; this method adds the image of the volume.
        """
        if volume.server_ids:
            if volume.status in attachment.ATTACHED:
                attachment.detach(self._cloud, volume, volume.server_ids)
            return 'it is being detached from its server'
        if volume.status == 'error_deleting' or _is_empty(volume):
            # A volume in the status error_deleting was copied before its deletion began.
            return None
        on_end = self._reservation.request['on_end']
        if on_end == parsing.DELETE:
            can_delete = volume.status in ('available', 'error', *_BROKEN)
            return None if can_delete else f'it is {volume.status}'
        if volume.status != 'available':
            return f'it is {volume.status}'
        if on_end == parsing.RETYPE:
            self._cloud.as_service().volumes.retype(
                volume.id, self._reservation.request['volume_type'])
            return 'it is being moved to its new type'
        image = self._images.finished(volume)
        if image is None:
            return self._images.advance(volume)
        saved[volume.id] = image
        return None


def _description(volume, saved):
    image = saved.get(volume.id)
    return names.named(volume) + (f', saved as image {names.named(image)}' if image else '')
