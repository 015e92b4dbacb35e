# SPDX-License-Identifier: Apache-2.0
"""The end of instance capacity: delete its servers, then all objects that `start` created."""
from climate import errors
from climate.plugins.compute import aggregates
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import host_pool


def end(conf, cloud, lease, reservation, resources):
    """Delete the servers of the private flavors, then all objects of the reservation.

    :param resources: {need key: Resources}.
    :raises StillBusy: servers are being deleted.
    """
    services = cloud.as_service()
    for key in resources:
        # After this call nobody can boot another server with the flavor.
        for project_id in capacity.users(lease):
            services.flavors.forbid(capacity.flavor_id(reservation.id, key), project_id)
    names = {capacity.name_of(reservation.id, key) for key in resources}
    capacity.delete(cloud, lease, reservation, servers(services, reservation, resources))
    try:
        remove(conf, services, reservation.id, resources)
    except errors.CloudUnreachable:
        raise
    except errors.CloudError:
        # Placement refuses if servers on other hosts still use the slots.
        capacity.delete(cloud, lease, reservation, _booted_with(names, services.servers.every()))
        raise


def servers(services, reservation, resources):
    """Return the Servers that `end` deletes, each once. Reads only.

    :param resources: {need key: Resources}.
    """
    by_flavor = [server for key in resources for server in services.flavors.servers(
        capacity.flavor_id(reservation.id, key))]
    # If somebody deleted or recreated a flavor, Nova does not find its servers by the flavor's id.
    # Find these servers by the name of their flavor.
    names = {capacity.name_of(reservation.id, key) for key in resources}
    by_name = _booted_with(names, services.nova.servers_on(
        sorted(capacity.service_hosts(resources))))
    return [*{server.id: server for server in (*by_name, *by_flavor)}.values()]


def clear(conf, cloud, reservation_id):
    """Remove the objects of an ended reservation, unless servers of its flavors still exist.

    :raises StillBusy: such servers exist; nothing was removed.
    """
    services = cloud.as_service()
    keys = sorted({host_pool.NEED, *capacity_audit.keys_of(
        services.flavors.every(), services.placement.classes(), reservation_id)})
    for key in keys:
        remaining = services.flavors.servers(capacity.flavor_id(reservation_id, key))
        if remaining:
            raise errors.StillBusy.plain('Nova', (
                f'servers of reservation {reservation_id} still exist ({len(remaining)}).'))
    remove(conf, services, reservation_id, keys)


def remove(conf, services, reservation_id, keys):
    """Remove all objects that `start` created, for a reservation that has no servers any more."""
    for key in keys:
        # Delete the class first: Placement refuses to delete it while a server uses it.
        services.placement.delete_class(capacity.class_name(reservation_id, key))
        services.flavors.delete(capacity.flavor_id(reservation_id, key))
    for aggregate in aggregates.all_of(conf, services.nova.aggregates(), reservation_id):
        services.nova.remove_hosts(aggregate, list(aggregate.hosts), is_going=True)
        services.nova.delete_aggregate(aggregate)
    # There may be a group from an interrupted change, even if the request has no affinity now.
    services.flavors.delete_groups(capacity.name_of(reservation_id))


def _booted_with(names, listed):
    """Return the Servers whose flavor had one of these names."""
    return [server for server in listed
            if server.flavor is not None and server.flavor.name in names]
