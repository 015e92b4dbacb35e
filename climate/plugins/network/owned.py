# SPDX-License-Identifier: Apache-2.0
"""The floating IPs that were made for reservations: recognise them, take them back."""
import datetime

from oslo_log import log

from climate import errors
from climate.plugins.network import addressing
from climate.plugins.network import marks

LOG = log.getLogger(__name__)

# Neutron's status of a floating IP that a router serves.
_SERVED = 'ACTIVE'


def of_reservation(services, lease, reservation):
    """Return the FloatingIPs that were made for a reservation, as a list.

    What the binding names was made for it, whatever its owner wrote on it, and so is what somebody
    recreated with an address that the binding names. A start that broke off left no binding; then
    the marks tell.
    """
    made = reservation.binding.get('floating_ips', {})
    addresses = {(reservation.request['network_id'], address) for address in made}
    mine = services.floating_ips.of_project(lease.project_id)
    known = [each for each in mine if each.id in made.values()]
    others = [each for each in mine if each not in known and (
        (each.network_id, each.address) in addresses or reservation.id in marks.of(each))]
    return known + leasable(services, others)


def leasable(services, floating_ips):
    """Return those FloatingIPs whose addresses Neutron gives to nobody by itself, as a list.

    Users may write the marks of a lease on their own floating IPs. Climate made none of those,
    and they have addresses of the allocation pools.
    """
    networks = {}
    for network_id in {each.network_id for each in floating_ips}:
        try:
            networks[network_id] = services.networks.network(network_id)
        except errors.NotFound:
            continue
    return [each for each in floating_ips if each.network_id in networks
            and addressing.pool_with(networks[each.network_id], each.address) is None]


def take_back(neutron, floating_ips, attempt, longest_seconds):
    """Take FloatingIPs off their ports, and delete each that no router serves any more.

    The next owner of an address must not get the traffic of the one before. A router learns later
    than Neutron that a floating IP was taken off its port; until then its status is ACTIVE.

    :param attempt: the Attempt; None: there is no limit of time.
    :param longest_seconds: after that time since the first try, it is deleted all the same.
    :raises StillBusy: routers serve some of them; the others are deleted.
    """
    served = []
    for each in floating_ips:
        found = each if each.port_id is None else neutron.detach(each.id)
        if found is None:
            continue
        if found.status == _SERVED and not _is_over(attempt, longest_seconds):
            served.append(found.address)
            continue
        if found.status == _SERVED:
            LOG.warning('Floating IP %s (%s): deleted, although Neutron shows it as ACTIVE after '
                        '%s seconds; look at the router', each.address, each.id, longest_seconds)
        neutron.delete(each.id)
        LOG.info('Floating IP %s (%s): deleted', each.address, each.id)
    if served:
        raise errors.StillBusy(service='Neutron', has_own_limit=True, reason=(
            f'routers still serve the floating IPs {", ".join(sorted(served))}.'))


def _is_over(attempt, longest_seconds):
    return attempt is not None and attempt.now - attempt.since >= datetime.timedelta(
        seconds=longest_seconds)
