# SPDX-License-Identifier: Apache-2.0
"""The audit of the address pool: the enrolled addresses compared with Neutron."""
import contextlib

from climate import errors
from climate.plugins.network import addressing
from climate.plugins.network import reservation_marks


def unfit(services, resources):
    """Return {name: why} of the Resources that cannot be leased any more, as ``Pool.unfit``.

    Resources whose network or subnet has just been deleted are left out.
    """
    networks = {}
    for network_id in {resource.facts['network_id'] for resource in resources}:
        with contextlib.suppress(errors.NotFound):
            networks[network_id] = services.networks.network(network_id)
    users = {network_id: services.networks.used_addresses(network_id) for network_id in networks}
    marked = {(each.network_id, each.address) for each in services.floating_ips.every()
              if reservation_marks.of(each)}
    reasons = {}
    for resource in resources:
        network_id, address = resource.facts['network_id'], resource.facts['address']
        network = networks.get(network_id)
        subnet = network and addressing.subnet_with(network, address)
        if subnet is None:
            continue
        why = addressing.why_unfit(address, subnet)
        user = users[network_id].get(address)
        # A marked floating IP counts as leased, because a start or an end may be in progress.
        if why is None and user and resource.held_by is None and (
                network_id, address) not in marked:
            why = f'it is in use in Neutron, by {user}, and no lease has it'
        if why is not None:
            reasons[resource.name] = why
    return reasons


def disturbed(services, held):
    """Return {resource id: why} of the addresses that others use, as ``Pool.disturbed``."""
    existing = {(each.network_id, each.address): each for each in services.floating_ips.every()}
    reasons = {}
    for record in held:
        facts = record.resource.facts
        floating_ip = existing.get((facts['network_id'], facts['address']))
        if floating_ip is not None and floating_ip.project_id != record.project_id:
            reasons[record.resource.id] = (
                f'project {floating_ip.project_id} has a floating IP with this address')
    return reasons
