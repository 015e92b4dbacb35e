# SPDX-License-Identifier: Apache-2.0
"""The audit of the address pool: the enrolled addresses compared with Neutron."""
from climate.domain import audit


def observe(cloud):
    """Return {network id: {address: what uses it, in words}}, as ``AuditedPool.observe``."""
    networks = cloud.as_service().networks
    return {each.id: networks.used_addresses(each.id) for each in networks.external()}


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
    """Return why others keep an enrolled address from being leased, in words; or None."""
    network_id, address = resource.facts['network_id'], resource.facts['address']
    user = observed.get(network_id, {}).get(address)
    if resource.held_by is None and user is not None:
        return f'it is in use in Neutron, by {user}, and no lease has it'
    return None
