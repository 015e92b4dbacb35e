# SPDX-License-Identifier: Apache-2.0
"""The end of leased room: its volumes are imaged and deleted, retyped, or deleted.

Each call looks once at each volume and begins one change of it at most. A volume that holds up
the end never keeps the others from theirs.
"""
from oslo_log import log

from climate import errors
from climate.plugins.volume import attaching
from climate.plugins.volume import copies
from climate.plugins.volume import names
from climate.plugins.volume import parsing

LOG = log.getLogger(__name__)

_DELETE = 'delete volume'
# A volume in one of these was made, and may have data.
_BROKEN = ('error_extending', 'error_restoring', 'error_managing')


def end(conf, cloud, lease, reservation):
    """Take the room back, and delete the types of the reservation.

    :raises StillBusy: volumes are still there.
    :raises CloudError: some cannot be taken back in time, and are kept.
    """
    service = cloud.as_service().volumes
    types = names.types_of(service, reservation.id)
    for name in types:
        # First of all: nobody makes another volume there meanwhile.
        service.forbid(name, lease.project_id)
    ending = _Ending(conf, cloud, lease, reservation)
    pending = ending.advance(names.volumes_of(service, reservation.id, types=types))
    left = names.volumes_of(service, reservation.id, types=types)
    if left:
        raise copies.not_yet(conf, cloud, [
            (each.id, pending.get(each.id, f'it is {each.status}')) for each in left])
    for name in types:
        service.delete_type(name)


class _Ending:
    """One try to take the volumes of a reservation back."""

    def __init__(self, conf, cloud, lease, reservation):
        self._cloud = cloud
        self._lease = lease
        self._reservation = reservation
        self._copies = copies.Copies(conf, cloud, lease, reservation)

    def advance(self, volumes):
        """Bring each Volume nearer to its end; return {id: why it is still there}."""
        pending, ready, saved = {}, [], {}
        for volume in volumes:
            try:
                why = self._why_kept(volume, saved)
            except errors.TargetGone:
                why = 'it has just been deleted'
            except (errors.CloudUnreachable, errors.TrustDead):
                raise
            except errors.CloudError as error:
                LOG.warning('Lease %s, reservation %s: volume %s is not taken back yet: %s',
                            self._lease.id, self._reservation.id, volume.id, error.message)
                why = error.owner_message.rstrip('.')
            if why is None:
                ready.append(volume)
            else:
                pending[volume.id] = why
        # The history has it before it is done.
        self._cloud.announce(_DELETE, {each.id: _told(each, saved) for each in ready})
        for volume in ready:
            try:
                self._cloud.as_service().volumes.delete(volume.id)
            except errors.StillBusy as error:
                pending[volume.id] = error.message.rstrip('.')
        return pending

    def _why_kept(self, volume, saved):
        """Begin what comes before the deletion; return why the Volume stays as yet, or None.

        :param saved: {volume id: its Image}, to which the image is added.
        """
        if volume.server_ids:
            if volume.status in attaching.ATTACHED:
                attaching.detach(self._cloud, volume, volume.server_ids)
            return 'it is being detached from its server'
        if volume.status == 'error_deleting' or (
                volume.status == 'error' and volume.backend is None):
            # Its deletion began after its copy was safe; or it never had room, so it has no data.
            return None
        on_end = self._reservation.request['on_end']
        if on_end == parsing.DELETE:
            can = volume.status in ('available', 'error', *_BROKEN)
            return None if can else f'it is {volume.status}'
        if volume.status != 'available':
            return f'it is {volume.status}'
        if on_end == parsing.RETYPE:
            self._cloud.as_service().volumes.retype(
                volume.id, self._reservation.request['volume_type'])
            return 'it is being moved to its new type'
        image = self._copies.finished(volume)
        if image is None:
            return self._copies.advance(volume)
        saved[volume.id] = image
        return None


def _told(volume, saved):
    image = saved.get(volume.id)
    return names.named(volume) + (f', saved as image {names.named(image)}' if image else '')
