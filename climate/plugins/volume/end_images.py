# SPDX-License-Identifier: Apache-2.0
"""Images of volumes at the end of a lease. A volume is deleted only when its image is active."""
from climate import errors
from climate.plugins import owner_images
from climate.plugins.volume import backend_pool


class VolumeImages:
    """The images of the volumes of one reservation at its end.

    The images belong to the owner. Each has a key with the ids of its reservation and its volume,
    so that Climate finds the image after a crash.
    """

    def __init__(self, conf, cloud, lease, reservation):
        self._conf = conf
        self._cloud = cloud
        self._lease = lease
        self._reservation = reservation

    def finished(self, volume):
        """Return the complete Image of a Volume, or None."""
        return next((image for image in self._images_of(volume)
                     if image.status in owner_images.FINISHED), None)

    def advance(self, volume):
        """Begin an image of an available Volume unless one is unfinished; return its progress."""
        service = self._cloud.as_service()
        for image in self._images_of(volume):
            if image.status in owner_images.UNFINISHED:
                return f'its image {image.id} is still {image.status}'
            service.images.delete(image.id)
        self._cloud.as_owner_or_service().volumes.upload(
            volume.id, f'{self._conf.nova.image_prefix}{volume.name or volume.id}'[:255],
            self._key(volume))
        return 'its image has just been begun'

    def _images_of(self, volume):
        """Return the Images of a Volume.

        If Climate owns a complete image, the project becomes its owner.
        """
        service = self._cloud.as_service().images
        images = service.made(self._key(volume), self._lease.project_id)
        for image in images:
            if (image.owner != self._lease.project_id
                    and image.status in owner_images.FINISHED):
                service.give(image.id, self._lease.project_id)
        return images

    def _key(self, volume):
        return f'{self._reservation.id}:{volume.id}'


def is_late(conf, cloud):
    """Return whether the end has taken longer than copy_seconds."""
    return cloud.attempt.exceeds(conf[backend_pool.GROUP].copy_seconds)


def not_yet(conf, cloud, pending):
    """Return the error for volumes that cannot be removed or copied yet.

    After copy_seconds, the error asks the owner to act, and the volumes are kept.

    :param pending: pairs (volume id, why).
    """
    reason = '; '.join(f'volume {volume_id}: {why}' for volume_id, why in pending) + '.'
    if is_late(conf, cloud):
        return errors.CloudError.plain('Cinder', (
            f'{reason} The volumes are kept. Save what you need and delete them; then delete the '
            'lease.'))
    return errors.StillBusy.plain('Cinder', reason, has_own_limit=bool(
        conf[backend_pool.GROUP].copy_seconds))
