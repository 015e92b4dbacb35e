# SPDX-License-Identifier: Apache-2.0
"""Images of volumes at the end of a lease: a volume is deleted only when its image is active."""
import datetime

from climate import errors
from climate.plugins.volume import backend_pool

# The statuses in Glance of an image that has all data. An administrator deactivates images.
_FINISHED = ('active', 'deactivated')
# The statuses of an image that may still become active.
_UNFINISHED = ('queued', 'saving', 'uploading', 'importing')


class Copies:
    """The images of the volumes of one reservation at its end.

    They belong to the owner. The name of a key is in the image, so a crash loses none.
    """

    def __init__(self, conf, cloud, lease, reservation):
        self._conf = conf
        self._cloud = cloud
        self._lease = lease
        self._reservation = reservation

    def finished(self, volume):
        """Return the Image of a Volume that has all data, or None."""
        return next((each for each in self._made(volume) if each.status in _FINISHED), None)

    def advance(self, volume):
        """Bring a Volume that is available nearer to its image; return what is under way."""
        service = self._cloud.as_service()
        for image in self._made(volume):
            if image.status in _UNFINISHED:
                return f'its image {image.id} is still {image.status}'
            service.images.delete(image.id)
        self._cloud.as_owner_or_service().volumes.upload(
            volume.id, f'{self._conf.nova.image_prefix}{volume.name or volume.id}'[:255],
            self._key(volume))
        return 'its image has just been begun'

    def _made(self, volume):
        """Return the Images of a Volume; those that Climate made as itself are given away."""
        images = self._cloud.as_service().images
        found = images.made(self._key(volume), self._lease.project_id)
        for each in found:
            if each.owner != self._lease.project_id and each.status in _FINISHED:
                images.give(each.id, self._lease.project_id)
        return found

    def _key(self, volume):
        return f'{self._reservation.id}:{volume.id}'


def is_late(conf, cloud):
    """Return whether the end takes longer than copy_seconds."""
    most = conf[backend_pool.GROUP].copy_seconds
    attempt = cloud.attempt
    return bool(most) and attempt.now >= attempt.since + datetime.timedelta(seconds=most)


def not_yet(conf, cloud, pending):
    """Return the error for volumes whose end is not done.

    After copy_seconds a person has to look: the volumes stay, with all data.

    :param pending: pairs (volume id, why).
    """
    reason = '; '.join(f'volume {volume_id}: {why}' for volume_id, why in pending) + '.'
    if is_late(conf, cloud):
        return errors.CloudError.plain('Cinder', (
            f'{reason} The volumes are kept. Save what you need and delete them; then delete the '
            'lease.'))
    return errors.StillBusy.plain('Cinder', reason, has_own_limit=bool(
        conf[backend_pool.GROUP].copy_seconds))
