# SPDX-License-Identifier: Apache-2.0
"""The end of floating IPs: they are detached from their ports, and then deleted.

The next owner of an address must not get the traffic of the previous owner. The status of a
floating IP is ACTIVE until its router has carried out the detachment.
"""
import datetime

from oslo_log import log

from climate import errors

LOG = log.getLogger(__name__)

# Neutron's status of a floating IP that a router serves.
_SERVED = 'ACTIVE'


def detach_and_delete(neutron, floating_ips, attempt, longest_seconds):
    """Detach FloatingIPs from their ports, and delete each one that no router serves any more.

    :param attempt: the Attempt; None: there is no time limit.
    :param longest_seconds: the time since the first attempt after which all are deleted.
    :raises StillBusy: routers still serve some of them; the others were deleted.
    """
    served = []
    is_late = attempt is not None and (
        attempt.now - attempt.since >= datetime.timedelta(seconds=longest_seconds))
    for listed in floating_ips:
        floating_ip = listed if listed.port_id is None else neutron.detach(listed.id)
        if floating_ip is None:
            continue
        if floating_ip.status == _SERVED and not is_late:
            served.append(floating_ip.address)
            continue
        if floating_ip.status == _SERVED:
            LOG.warning('Floating IP %s (%s): deleted, although Neutron shows it as ACTIVE after '
                        '%s seconds; check the router', listed.address, listed.id, longest_seconds)
        neutron.delete(listed.id)
        LOG.info('Floating IP %s (%s): deleted', listed.address, listed.id)
    if served:
        raise errors.StillBusy(service='Neutron', has_own_limit=True, reason=(
            f'routers still serve the floating IPs {", ".join(sorted(served))}.'))
