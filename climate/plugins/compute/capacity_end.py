# SPDX-License-Identifier: Apache-2.0
"""The end of instance capacity: its servers are deleted, then everything that `start` created."""
from climate import errors
from climate.plugins.compute import aggregates
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import host_pool


def end(conf, cloud, lease, reservation, resources):
    """Delete the servers of the private flavors, then all that was created for the reservation.

    :param resources: {need key: Resources}.
    :raises StillBusy: servers are being deleted; to be called again in a moment.
    """
    services = cloud.as_service()
    flavor_ids = [capacity.flavor_id(reservation.id, key) for key in resources]
    for flavor_id in flavor_ids:
        # From here on no project may use the flavor, so no new server can be booted with it.
        services.flavors.forbid(flavor_id, lease.project_id)
    capacity.delete(cloud, lease, reservation, [
        server for flavor_id in flavor_ids for server in services.flavors.servers(flavor_id)])
    # Nova does not find servers by a flavor that was deleted, or created again, by hand. But each
    # server has the name of its flavor.
    names = {capacity.name_of(reservation.id, key) for key in resources}
    capacity.delete(cloud, lease, reservation, _booted_with(
        names, services.nova.servers_on(sorted(capacity.service_hosts(resources)))))
    try:
        remove(conf, services, reservation.id, resources)
    except errors.CloudUnreachable:
        raise
    except errors.CloudError:
        # Servers on other hosts still use the slots.
        capacity.delete(cloud, lease, reservation, _booted_with(names, services.servers.every()))
        raise


def clear(conf, cloud, reservation_id):
    """Remove what an ended reservation left, unless servers of its flavors still exist.

    :raises StillBusy: such servers exist; nothing was removed.
    """
    services = cloud.as_service()
    keys = sorted({host_pool.NEED, *capacity_audit.keys_of(
        services.flavors.every(), services.placement.classes(), reservation_id)})
    for key in keys:
        servers = services.flavors.servers(capacity.flavor_id(reservation_id, key))
        if servers:
            raise errors.StillBusy.plain('Nova', (
                f'servers of reservation {reservation_id} are there yet ({len(servers)}).'))
    remove(conf, services, reservation_id, keys)


def remove(conf, services, reservation_id, keys):
    """Remove all that `start` created, for a reservation that has no servers any more."""
    for key in keys:
        # The class goes first: Placement refuses to delete it if a server still uses it.
        services.placement.delete_class(capacity.class_name(reservation_id, key))
        services.flavors.delete(capacity.flavor_id(reservation_id, key))
    for aggregate in aggregates.all_of(conf, services.nova.aggregates(), reservation_id):
        services.nova.remove_hosts(aggregate, list(aggregate.hosts), is_going=True)
        services.nova.delete_aggregate(aggregate)
    # An interrupted change can have left a group although the request has no affinity now.
    services.flavors.delete_groups(capacity.name_of(reservation_id))


def _booted_with(names, servers):
    """Return the Servers whose flavor had one of these names."""
    return [server for server in servers
            if server.flavor is not None and server.flavor.name in names]
