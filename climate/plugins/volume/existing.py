# SPDX-License-Identifier: Apache-2.0
"""A volume that exists already and is leased for a span: it always stays with its owner."""
from climate import errors
from climate.plugins.volume import attaching
from climate.plugins.volume import copies
from climate.plugins.volume import names
from climate.plugins.volume import parsing

# A snapshot that failed stays, and counts in the quota of its owner.
_MOST_FAILED = 3


def start(conf, cloud, lease, reservation):
    """Attach the volume if asked; return the binding.

    :raises TargetGone: the volume is gone, or belongs to another project now.
    :raises StillBusy: it is not attached yet.
    """
    volume = find(cloud, lease, reservation)
    servers = list(reservation.binding.get('server_ids', ()))
    if reservation.request['attach'] and not reservation.binding.get('handed_over'):
        servers = attaching.attach(conf, cloud, lease, reservation, [volume])[:1]
    return {**reservation.binding, 'resource_id': volume.id, 'resource_name': volume.name,
            'server_ids': servers, 'handed_over': True}


def end(conf, cloud, lease, reservation):
    """Detach the volume from the server of the lease, and make the copy that was asked for.

    A copy that cannot be made is given up: the volume has all data.

    :raises StillBusy: it is not done yet.
    :raises CloudError: it could not be detached in time.
    """
    volume = find(cloud, lease, reservation)
    if _detach(cloud, lease, reservation, volume):
        raise copies.not_yet(conf, cloud, [(volume.id, 'it is being detached from its server')])
    if not reservation.binding.get('handed_over'):
        return
    on_end = reservation.request['on_end']
    if on_end == parsing.IMAGE:
        _image(conf, cloud, lease, reservation, volume)
    if on_end == parsing.SNAPSHOT:
        _snapshot(conf, cloud, reservation, volume)


def _detach(cloud, lease, reservation, volume):
    """Detach the volume from the servers of the lease; return whether it still is on one.

    What the owner attached to other servers stays.
    """
    if not reservation.request['attach']:
        return False
    servers = {*reservation.binding.get('server_ids', ()),
               *attaching.servers_of(lease, reservation)}.intersection(volume.server_ids)
    if servers and volume.status in attaching.ATTACHED:
        attaching.detach(cloud, volume, servers)
    return bool(servers)


def find(cloud, lease, reservation):
    """Return the leased Volume.

    :raises TargetGone: the project has it no more.
    """
    volume_id = reservation.request['resource_id']
    found = cloud.as_service().volumes.volume(volume_id)
    if found is None or found.project_id != lease.project_id:
        raise errors.TargetGone(kind='volume', target_id=volume_id)
    return found


def _image(conf, cloud, lease, reservation, volume):
    made = copies.Copies(conf, cloud, lease, reservation)
    if made.finished(volume) is not None:
        # The mark of the image would be on each later image of the volume, too.
        cloud.as_owner_or_service().volumes.forget_key(volume.id)
        return
    if copies.is_late(conf, cloud):
        _give_up(cloud, reservation, 'image', volume, (
            f'none could be made in time: the volume is {volume.status}'))
        return
    why = (made.advance(volume) if volume.status == 'available'
           else f'no image is made of it while it is {volume.status}')
    raise copies.not_yet(conf, cloud, [(volume.id, why)])


def _snapshot(conf, cloud, reservation, volume):
    name = f'{names.TYPE_PREFIX}{reservation.id}'
    found = [each for each in cloud.as_service().volumes.snapshots(volume.id)
             if each.name == name]
    if any(each.status == 'available' for each in found):
        return
    if copies.is_late(conf, cloud) or (
            sum(each.status == 'error' for each in found) >= _MOST_FAILED):
        _give_up(cloud, reservation, 'snapshot', volume, 'Cinder could not make it')
        return
    if not any(each.status == 'creating' for each in found):
        services = cloud.as_owner_or_service()
        if services.volumes.trust_id is None:
            # Made by Climate itself, it would not be the owner's.
            _give_up(cloud, reservation, 'snapshot', volume,
                     'Climate cannot act for its owner any more')
            return
        services.volumes.create_snapshot(volume.id, name)
        again = cloud.as_service().volumes.snapshots(volume.id)
        if any(each.name == name and each.status == 'available' for each in again):
            return
    raise copies.not_yet(conf, cloud, [(volume.id, 'its snapshot is being made')])


def _give_up(cloud, reservation, copy, volume, why):
    """Tell the owner that there is no copy; the volume has all data."""
    cloud.warn(reservation, f'no {copy}', (
        f'There is no {copy} of volume {volume.id}, because {why}. The volume itself stays.'))
