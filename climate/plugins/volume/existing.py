# SPDX-License-Identifier: Apache-2.0
"""An existing volume that is leased for a time. It always stays with its owner."""
from climate import errors
from climate.plugins import base
from climate.plugins.volume import attachment
from climate.plugins.volume import backend_pool
from climate.plugins.volume import end_images
from climate.plugins.volume import names
from climate.plugins.volume import parsing

# Stop after this number of failed snapshots, because they count in the quota of the owner.
_MOST_FAILED = 3


class ExistingVolume(base.ResourcePlugin):
    """The form of virtual:volume that leases an existing volume."""

    resource_type = backend_pool.GROUP

    def resolve(self, cloud, request, occasion):
        return parsing.resolve_existing(cloud, request, occasion)

    def needs(self, request):
        return []

    def needs_owner(self, request):
        if request['attach']:
            return parsing.ATTACHED_AS_OWNER
        if request['on_end'] == parsing.SNAPSHOT:
            return 'on_end', 'a snapshot is made with your rights, so that it is yours'
        return None

    def acts_as_owner(self, request):
        return True

    def leased_id(self, reservation):
        return reservation.request['resource_id']

    def start(self, cloud, lease, reservation, resources):
        volume = _find(cloud, lease, reservation)
        servers = list(reservation.binding.get('server_ids', ()))
        if reservation.request['attach'] and not reservation.binding.get('handed_over'):
            servers = attachment.attach(self.conf, cloud, lease, reservation, [volume])[:1]
        return {**reservation.binding, 'resource_id': volume.id, 'resource_name': volume.name,
                'server_ids': servers, 'handed_over': True}

    def end(self, cloud, lease, reservation, resources):
        """Detach the volume from the server of the lease, and make the requested copy.

        If no copy can be made, the lease ends without it, because the volume has all data.
        """
        volume = _find(cloud, lease, reservation)
        if _detach(cloud, lease, reservation, volume):
            raise end_images.not_yet(self.conf, cloud, [
                (volume.id, 'it is being detached from its server')])
        if not reservation.binding.get('handed_over'):
            return
        on_end = reservation.request['on_end']
        if on_end == parsing.IMAGE:
            self._image(cloud, lease, reservation, volume)
        if on_end == parsing.SNAPSHOT:
            self._snapshot(cloud, reservation, volume)

    def lacks(self, observed, lease, reservation, resources):
        return parsing.missing_volumes(observed, reservation, [self.leased_id(reservation)])

    @classmethod
    def fields(cls, reservation):
        return {**reservation.request, 'resource_name': reservation.binding.get('resource_name')}

    def _image(self, cloud, lease, reservation, volume):
        images = end_images.VolumeImages(self.conf, cloud, lease, reservation)
        if images.finished(volume) is not None:
            # Otherwise later images of the volume would have the key of this image.
            cloud.as_owner_or_service().volumes.forget_key(volume.id)
            return
        if end_images.is_late(self.conf, cloud):
            _warn_of_missing(cloud, reservation, 'image', volume, (
                f'none could be made in time: the volume is {volume.status}'))
            return
        why = (images.advance(volume) if volume.status == 'available'
               else f'no image is made of it while it is {volume.status}')
        raise end_images.not_yet(self.conf, cloud, [(volume.id, why)])

    def _snapshot(self, cloud, reservation, volume):
        name = f'{names.TYPE_PREFIX}{reservation.id}'
        statuses = _snapshot_statuses(cloud, volume, name)
        if 'available' in statuses:
            return
        if end_images.is_late(self.conf, cloud) or statuses.count('error') >= _MOST_FAILED:
            _warn_of_missing(cloud, reservation, 'snapshot', volume, 'Cinder could not make it')
            return
        if 'creating' not in statuses:
            services = cloud.as_owner_or_service()
            if services.volumes.trust_id is None:
                # The owner would not own a snapshot that Climate makes as itself.
                _warn_of_missing(cloud, reservation, 'snapshot', volume,
                                 'Climate cannot act for its owner any more')
                return
            services.volumes.create_snapshot(volume.id, name)
            if 'available' in _snapshot_statuses(cloud, volume, name):
                return
        raise end_images.not_yet(self.conf, cloud, [(volume.id, 'its snapshot is being made')])


def _snapshot_statuses(cloud, volume, name):
    """Return the statuses of the volume's snapshots of that name."""
    return [snapshot.status for snapshot in cloud.as_service().volumes.snapshots(volume.id)
            if snapshot.name == name]


def _find(cloud, lease, reservation):
    """Return the leased Volume.

    :raises TargetGone: the volume does not exist any more, or belongs to another project now.
    """
    volume_id = reservation.request['resource_id']
    volume = cloud.as_service().volumes.volume(volume_id)
    if volume is None or volume.project_id != lease.project_id:
        raise errors.TargetGone(kind='volume', target_id=volume_id)
    return volume


def _detach(cloud, lease, reservation, volume):
    """Detach the volume from the servers of the lease; return whether it is still attached to one.

    Attachments to other servers stay.
    """
    if not reservation.request['attach']:
        return False
    server_ids = {*reservation.binding.get('server_ids', ()),
                  *attachment.servers_of(lease, reservation)}.intersection(volume.server_ids)
    if server_ids and volume.status in attachment.ATTACHED:
        attachment.detach(cloud, volume, server_ids)
    return bool(server_ids)


def _warn_of_missing(cloud, reservation, copy, volume, why):
    """Warn the owner that there is no copy of the volume."""
    cloud.warn(reservation, f'no {copy}', (
        f'There is no {copy} of volume {volume.id}, because {why}. The volume itself stays.'))
