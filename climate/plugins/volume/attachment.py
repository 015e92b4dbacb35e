# SPDX-License-Identifier: Apache-2.0
"""The attachment of volumes to the leased servers that their reservation depends on."""
from climate import errors

_SERVER_TYPE = 'virtual:instance'
#: The statuses of a volume that is attached to a server.
ATTACHED = ('in-use', 'reserved')


def attach(conf, cloud, lease, reservation, volumes):
    """Attach the Volumes to the servers in turn; return the ids of the servers.

    :raises StillBusy: not all volumes are attached yet.
    :raises CloudError: there is no server, or no server in the availability zone of a volume.
    """
    server_ids = servers_of(lease, reservation)
    if not server_ids:
        raise errors.CloudError.plain('Cinder', (
            'attach: the reservation depends on no leased server. Make another lease in which '
            '"depends_on" names the label of one.'))
    services = cloud.as_user()
    pending = []
    for number, volume in enumerate(volumes):
        if volume.status == 'in-use':
            continue
        pending.append(volume.id)
        if volume.status == 'available':
            candidates = (server_ids if conf.nova.cross_az_attach
                          else _in_zone(cloud, server_ids, volume))
            _attach(services, candidates[number % len(candidates)], volume)
    if pending:
        raise errors.StillBusy.plain('Nova', f'volumes are being attached: {", ".join(pending)}.')
    return server_ids


def servers_of(lease, reservation):
    """Return the ids of the leased servers that the reservation depends on."""
    return [other.binding['resource_id'] for other in lease.dependencies(reservation).values()
            if other.resource_type == _SERVER_TYPE and other.binding.get('resource_id')]


def detach(cloud, volume, server_ids):
    """Begin to detach a Volume from these servers through Nova.

    Cinder refuses to detach a volume that Nova uses.
    """
    services = cloud.as_owner_or_service()
    for server_id in sorted(server_ids):
        services.attachments.detach_volume(server_id, volume.id)


def _in_zone(cloud, server_ids, volume):
    """Return the ids of the servers in the availability zone of a Volume.

    :raises CloudError: no server is in that zone.
    """
    services = cloud.as_service()
    host_zones = {hypervisor.service_host: hypervisor.availability_zone
                  for hypervisor in services.nova.hypervisors()}
    servers = [services.servers.server(server_id) for server_id in server_ids]
    zones = {server.id: host_zones.get(server.host, server.zone)
             for server in servers if server is not None}
    in_zone = [server_id for server_id in server_ids if zones.get(server_id) == volume.zone]
    if not in_zone:
        other_zones = ', '.join(sorted(set(filter(None, zones.values()))))
        raise errors.CloudError.plain('Nova', (
            f'attach: volume {volume.id} is in the availability zone {volume.zone}, and no server '
            f'that the reservation depends on is ({other_zones}). Nova attaches volumes within a '
            'zone only: make another lease with a volume in that zone.'))
    return in_zone


def _attach(services, server_id, volume):
    try:
        services.attachments.attach_volume(server_id, volume.id)
    except errors.TargetGone as error:
        raise errors.CloudError.plain('Nova', (
            f'server {server_id}, to which volume {volume.id} is to be attached, is gone.'
        )) from error
