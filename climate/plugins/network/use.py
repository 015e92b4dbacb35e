# SPDX-License-Identifier: Apache-2.0
"""How much of leased addresses and networks is used: addresses on ports, and ports on networks."""
from climate.domain import use_sampling

# Neutron makes these ports itself, for DHCP, routers and the like.
_OF_NEUTRON = 'network:'


def of_addresses(cloud, parts):
    """Return {key: Use} of floating IPs: all of it while it points to a port."""
    bound = {(each.network_id, each.address): each.port_id is not None
             for each in cloud.as_service().floating_ips.every()}
    found = {}
    for part in parts:
        facts = part.resource.facts if part.resource is not None else {}
        is_bound = bound.get((facts.get('network_id'), facts.get('address')))
        if is_bound is not None:
            found[part.key] = use_sampling.of_share(int(is_bound), 1)
    return found


def of_networks(cloud, parts):
    """Return {key: Use} of networks: all of it while a server or the like has a port there."""
    in_use = {each.network_id for each in cloud.as_service().network_parts.every_port()
              if each.device_id and not each.owner.startswith(_OF_NEUTRON)}
    return {part.key: use_sampling.of_share(
        int(part.reservation.binding['network_id'] in in_use), 1)
            for part in parts if part.reservation.binding.get('network_id')}
