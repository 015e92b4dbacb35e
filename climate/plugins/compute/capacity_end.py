# SPDX-License-Identifier: Apache-2.0
"""The end of instance capacity: delete its servers, then all that its start made.

A reservation has one private flavor for each of its needs: see ``node_capacity``.
"""
from climate import errors
from climate.plugins.compute import aggregates
from climate.plugins.compute import capacity
from climate.plugins.compute import node_capacity


def end(conf, cloud, lease, reservation, resources):
    """Delete the servers of the private flavors, then all that was made for the reservation.

    :param resources: {need key: Resources}.
    :raises StillBusy: servers are being deleted; to be called again in a moment.
    """
    services = cloud.as_service()
    flavor_ids = [node_capacity.flavor_id(reservation.id, key) for key in resources]
    for flavor_id in flavor_ids:
        # From here on no project may use the flavor, so no new server can be booted with it.
        services.flavors.forbid(flavor_id, lease.project_id)
    capacity.delete(cloud, lease, reservation, [
        each for flavor_id in flavor_ids for each in services.flavors.servers(flavor_id)])
    # Nova does not find servers by a flavor that was deleted, or created again, by hand. But each
    # server knows the name of its flavor.
    names = {node_capacity.flavor_name(reservation.id, key) for key in resources}
    hosts = {each.facts['service_name'] for some in resources.values() for each in some}
    capacity.delete(cloud, lease, reservation, _booted_with(
        names, services.nova.servers_on(sorted(hosts))))
    try:
        remove(conf, services, reservation.id, resources)
    except errors.CloudUnreachable:
        raise
    except errors.CloudError:
        # They keep their slots, wherever they are.
        capacity.delete(cloud, lease, reservation, _booted_with(names, services.servers.every()))
        raise


def clear(conf, cloud, reservation_id, keys):
    """Remove what an ended reservation left, unless servers of its flavors still exist.

    :param keys: the keys of its needs.
    :raises StillBusy: such servers exist; nothing was removed.
    """
    services = cloud.as_service()
    for key in keys:
        servers = services.flavors.servers(node_capacity.flavor_id(reservation_id, key))
        if servers:
            raise errors.StillBusy.plain('Nova', (
                f'servers of reservation {reservation_id} are there yet ({len(servers)}).'))
    remove(conf, services, reservation_id, keys)


def remove(conf, services, reservation_id, keys):
    """Remove all that a start made, of a reservation that has no servers any more."""
    for key in keys:
        # The class goes first: Placement refuses to delete it if a server still uses it.
        services.placement.delete_class(node_capacity.class_name(reservation_id, key))
        services.flavors.delete(node_capacity.flavor_id(reservation_id, key))
    for aggregate in aggregates.all_of(conf, services.nova.aggregates(), reservation_id):
        services.nova.remove_hosts(aggregate, list(aggregate.hosts), is_going=True)
        services.nova.delete_aggregate(aggregate)
    # An interrupted change of the affinity may have left one, whatever the request says now.
    services.flavors.delete_groups(capacity.name_of(reservation_id))


def _booted_with(names, servers):
    """Return those Servers whose flavor had one of these names."""
    return [each for each in servers if each.flavor is not None and each.flavor.name in names]
