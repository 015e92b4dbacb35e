# SPDX-License-Identifier: Apache-2.0
"""The volumes of a reservation and the leased servers of the same lease that it depends on."""
from climate import errors

_SERVER_TYPE = 'virtual:instance'
#: The statuses of a volume that is attached to a server.
ATTACHED = ('in-use', 'reserved')


def attach(conf, cloud, lease, reservation, volumes):
    """Attach each Volume that is not attached, in turn to the servers; return the servers' ids.

    :raises StillBusy: not all are attached yet.
    :raises CloudError: there is no server, or none in the availability zone of a volume.
    """
    servers = servers_of(lease, reservation)
    if not servers:
        raise errors.CloudError.plain('Cinder', (
            'attach: the reservation depends on no leased server. Make another lease in which '
            '"depends_on" names the label of one.'))
    services = cloud.as_user()
    pending = []
    for place, volume in enumerate(volumes):
        if volume.status == 'in-use':
            continue
        pending.append(volume.id)
        if volume.status == 'available':
            near = (servers if conf.nova.cross_az_attach
                    else _in_zone(cloud, servers, volume))
            _attach(services, near[place % len(near)], volume)
    if pending:
        raise errors.StillBusy.plain('Nova', f'volumes are being attached: {", ".join(pending)}.')
    return servers


def servers_of(lease, reservation):
    """Return the ids of the leased servers that the reservation depends on."""
    return [each.binding['resource_id'] for each in lease.dependencies(reservation).values()
            if each.resource_type == _SERVER_TYPE and each.binding.get('resource_id')]


def detach(cloud, volume, server_ids):
    """Begin to detach a Volume from these servers.

    Cinder refuses to detach a volume that Nova uses, so Nova is asked.
    """
    services = cloud.as_owner_or_service()
    for server_id in sorted(server_ids):
        services.attachments.detach_volume(server_id, volume.id)


def _in_zone(cloud, server_ids, volume):
    """Return those of the servers that are in the availability zone of a Volume.

    :raises CloudError: none is.
    """
    services = cloud.as_service()
    of_hosts = {each.service_host: each.availability_zone for each in services.nova.hypervisors()}
    found = [services.servers.server(each) for each in server_ids]
    zones = {each.id: of_hosts.get(each.host, each.zone) for each in found if each is not None}
    near = [each for each in server_ids if zones.get(each) == volume.zone]
    if not near:
        theirs = ', '.join(sorted(set(filter(None, zones.values()))))
        raise errors.CloudError.plain('Nova', (
            f'attach: volume {volume.id} is in the availability zone {volume.zone}, and no server '
            f'that the reservation depends on is ({theirs}). Nova attaches volumes within a zone '
            'only: make another lease with a volume in that zone.'))
    return near


def _attach(services, server_id, volume):
    try:
        services.attachments.attach_volume(server_id, volume.id)
    except errors.TargetGone as error:
        raise errors.CloudError.plain('Nova', (
            f'server {server_id}, to which volume {volume.id} is to be attached, is gone.'
        )) from error
