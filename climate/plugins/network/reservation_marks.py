# SPDX-License-Identifier: Apache-2.0
"""The marks by which floating IPs, networks and routers name their reservation.

Marks prove nothing, because users can change them, and can write them on other objects.
"""
from climate import errors
from climate.plugins.network import addressing

# The texts before the id of the reservation: in a tag, and in a description.
_TAG, _DESCRIPTION = 'reservation:', 'Climate reservation '


def tag(reservation_id):
    """Return the tag of a reservation."""
    return f'{_TAG}{reservation_id}'


def description(reservation_id):
    """Return the description of a reservation. The call that creates an object can set it."""
    return f'{_DESCRIPTION}{reservation_id}'


def of(thing):
    """Return the ids of the reservations that an object names, as a set.

    :param thing: a FloatingIP, SegmentNetwork or Router.
    """
    texts = (*getattr(thing, 'tags', ()), thing.description)
    return {text.removeprefix(mark) for text in texts for mark in (_TAG, _DESCRIPTION)
            if text.startswith(mark)}


def floating_ips_of(services, lease, reservation):
    """Return the FloatingIPs of the owner that belong to a reservation, as a list.

    These are the bound floating IPs, and of the leasable ones those that somebody recreated with a
    bound address or that have the marks of the reservation.
    """
    ids = reservation.binding.get('floating_ips', {})
    addresses = {(reservation.request['network_id'], address) for address in ids}
    own = services.floating_ips.of_project(lease.project_id)
    bound = [floating_ip for floating_ip in own if floating_ip.id in ids.values()]
    others = [floating_ip for floating_ip in own if floating_ip not in bound and (
        (floating_ip.network_id, floating_ip.address) in addresses
        or reservation.id in of(floating_ip))]
    return bound + leasable(services, others)


def leasable(services, floating_ips):
    """Return the FloatingIPs whose addresses are outside the allocation pools, as a list.

    The addresses of floating IPs that users created themselves are in the allocation pools.
    """
    networks = {}
    for network_id in {floating_ip.network_id for floating_ip in floating_ips}:
        try:
            networks[network_id] = services.networks.network(network_id)
        except errors.NotFound:
            continue
    return [floating_ip for floating_ip in floating_ips if floating_ip.network_id in networks
            and addressing.pool_with(networks[floating_ip.network_id],
                                     floating_ip.address) is None]
