# SPDX-License-Identifier: Apache-2.0
"""The marks by which floating IPs, networks and routers name the reservation they belong to.

Owners can change the marks, and can write them on other objects: marks are no proof.
"""
from climate import errors
from climate.plugins.network import addressing

# The text before the id of the reservation, in a tag and in a description.
_TAG, _DESCRIPTION = 'reservation:', 'Climate reservation '


def tag(reservation_id):
    """Return the tag of a reservation."""
    return f'{_TAG}{reservation_id}'


def description(reservation_id):
    """Return the description, which the creating call sets; tags need a second call."""
    return f'{_DESCRIPTION}{reservation_id}'


def of(thing):
    """Return the ids of the reservations that an object names, as a set.

    :param thing: a FloatingIP, SegmentNetwork or Router.
    """
    texts = (*getattr(thing, 'tags', ()), thing.description)
    return {text.removeprefix(mark) for text in texts for mark in (_TAG, _DESCRIPTION)
            if text.startswith(mark)}


def floating_ips_of(services, lease, reservation):
    """Return the FloatingIPs that were created for a reservation, as a list.

    They are those that the binding names, with any marks, and those that somebody recreated with
    an address of the binding. After an interrupted start there is no binding; then the marks
    decide.
    """
    ids = reservation.binding.get('floating_ips', {})
    addresses = {(reservation.request['network_id'], address) for address in ids}
    own = services.floating_ips.of_project(lease.project_id)
    known = [floating_ip for floating_ip in own if floating_ip.id in ids.values()]
    others = [floating_ip for floating_ip in own if floating_ip not in known and (
        (floating_ip.network_id, floating_ip.address) in addresses
        or reservation.id in of(floating_ip))]
    return known + leasable(services, others)


def leasable(services, floating_ips):
    """Return the FloatingIPs whose addresses are outside the allocation pools, as a list.

    Users can write the marks of a lease on their own floating IPs. Climate created none of those,
    and their addresses are in the allocation pools.
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
