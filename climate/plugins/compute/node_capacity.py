# SPDX-License-Identifier: Apache-2.0
"""Instance capacity for several flavors of one reservation, such as masters and workers.

It is what ``capacity`` makes for one flavor, with one resource class and one private flavor for
each need. All hosts are in one aggregate. Another service, such as Magnum, boots the servers; so
this module deletes one only if its host is lost.
"""
import collections

from climate.plugins.compute import capacity
from climate.plugins.compute import host_pool
from climate.plugins.compute import requirements

#: The key of the need of a cluster that has the ids of a reservation of one flavor.
FIRST = 'workers'
_FIRSTS = (FIRST, host_pool.NEED)


def flavor_id(reservation_id, key):
    """Return the id of the private flavor for one need of a reservation."""
    return reservation_id if key in _FIRSTS else f'{reservation_id}-{key}'


def class_name(reservation_id, key):
    """Return the name of the resource class for one need of a reservation."""
    own = capacity.class_name(reservation_id)
    return own if key in _FIRSTS else f'{own}_{key.upper()}'


def flavor_name(reservation_id, key):
    """Return the name of the private flavor for one need of a reservation."""
    own = capacity.name_of(reservation_id)
    return own if key in _FIRSTS else f'{own}:{key}'


def ties(reservation_id, key):
    """Return the extra specs that tie a private flavor to its reservation."""
    own = capacity.class_name(reservation_id)
    return {name.replace(own, class_name(reservation_id, key)): text
            for name, text in capacity.ties(reservation_id).items()}


def grant(conf, cloud, lease, reservation, resources, flavors):
    """Make all that is missing, so that servers of the private flavors can be booted.

    :param resources: {need key: Resources}.
    :param flavors: {need key: the flavor to copy, a dict from ``requirements.as_dict``}.
    :returns: the aggregate as it was found.
    """
    services = cloud.as_service()
    aggregate = services.nova.ensure_aggregate(reservation.id)
    services.nova.add_hosts(aggregate, sorted(
        {each.facts['service_name'] for some in resources.values() for each in some}))
    # Set after the hosts were added, for Nova's scheduler: see ``capacity``.
    services.nova.set_aggregate_metadata(aggregate, capacity.marks(conf, lease, reservation.id))
    for key, flavor in flavors.items():
        own_class, own_flavor = class_name(reservation.id, key), flavor_id(reservation.id, key)
        slots = collections.Counter(reservation.allocated[key])
        services.placement.ensure_class(own_class)
        for resource in resources[key]:
            services.placement.set_slots(host_pool.child_name(conf, resource.name), own_class,
                                         slots[resource.id])
        services.flavors.ensure(
            own_flavor, flavor_name(reservation.id, key),
            {name: flavor[name] for name in requirements.SIZES},
            {**flavor['extra_specs'], **ties(reservation.id, key)})
        services.flavors.allow(own_flavor, lease.project_id)
    return aggregate


def excess(cloud, reservation, resources, key):
    """Return (the Servers of a need that have their slots, those that have none).

    The oldest servers keep their slots.
    """
    slots = collections.Counter(reservation.allocated[key])
    left = collections.Counter({each.facts['service_name']: slots[each.id]
                                for each in resources[key]})
    kept, lost = [], []
    for server in cloud.as_service().flavors.servers(flavor_id(reservation.id, key)):
        if server.host is not None:
            left[server.host] -= 1
        (lost if server.host is not None and left[server.host] < 0 else kept).append(server)
    return kept, lost


def take_back(conf, cloud, lease, reservation, resources):
    """Take back the hosts and the slots that the reservation does not have any more.

    :param resources: {need key: Resources}.
    :raises StillBusy: servers that have no slot any more are being deleted.
    """
    services = cloud.as_service()
    for key in resources:
        capacity.delete(cloud, lease, reservation, excess(cloud, reservation, resources, key)[1])
    own = {each.facts['service_name'] for some in resources.values() for each in some}
    aggregate = services.nova.ensure_aggregate(reservation.id)
    names = {each.service_host: each.name for each in services.nova.hypervisors()
             if each.service_host in aggregate.hosts}
    for key, some in resources.items():
        kept = {each.name for each in some}
        for name in sorted(set(names.values()) - kept):
            services.placement.set_slots(host_pool.child_name(conf, name),
                                         class_name(reservation.id, key), 0)
    lost = sorted(set(aggregate.hosts) - own)
    if lost:
        services.nova.remove_hosts(aggregate, lost)
