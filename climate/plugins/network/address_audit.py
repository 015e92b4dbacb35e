# SPDX-License-Identifier: Apache-2.0
"""The audit of the address pool: the enrolled addresses compared with Neutron."""
import dataclasses

from climate.domain import audit
from climate.plugins.network import addressing


@dataclasses.dataclass(frozen=True)
class Observed:
    """What the pool observes in Neutron.

    :ivar networks: {id: Network}, the external networks.
    :ivar used: {network id: {address: what uses it, in words}}.
    """

    networks: dict
    used: dict


def observe(cloud):
    """Observe Neutron, as ``AuditedPool.observe``."""
    services = cloud.as_service()
    networks = {each.id: each for each in services.networks.external()}
    return Observed(networks, {key: services.networks.used_addresses(key) for key in networks})


def drifts(observed, resources):
    """Yield the Drifts of enrolled addresses, as ``AuditedPool.audit``."""
    for resource in resources:
        problem = _problem(observed, resource)
        if problem is not None:
            yield audit.Drift('unfit', f'address {resource.name}', problem)


def disturbed(services, held):
    """Return {resource id: why} of the Helds whose addresses others use, as ``disturbed``."""
    existing = {(each.network_id, each.address): each for each in services.floating_ips.every()}
    found = {}
    for each in held:
        there = existing.get((each.resource.facts['network_id'], each.resource.facts['address']))
        if there is not None and there.project_id != each.project_id:
            found[each.resource.id] = f'project {there.project_id} has a floating IP with it'
    return found


def _problem(observed, resource):
    """Return why an enrolled address cannot be leased, in words; None if it can."""
    network = observed.networks.get(resource.facts['network_id'])
    if network is None:
        return ('Neutron has no external network with the id of its network any more; withdraw '
                'the address')
    address = resource.facts['address']
    subnet = addressing.subnet_with(network, address)
    if subnet is None:
        return 'no subnet of its network has it any more; withdraw it'
    why = addressing.why_unfit(address, subnet)
    if why is not None:
        return f'it {why}'
    user = observed.used[network.id].get(address)
    if resource.held_by is None and user is not None:
        return f'it is in use in Neutron, by {user}, and no lease has it'
    return None
