# SPDX-License-Identifier: Apache-2.0
"""The audit of the address pool: the enrolled addresses compared with Neutron."""
import contextlib

from climate import errors
from climate.plugins.network import addressing
from climate.plugins.network import marks


def unfit(services, resources):
    """Return {name: why} of the Resources that cannot be leased any more, as ``Pool.unfit``.

    Those whose network or subnet was deleted just now are left out.
    """
    networks = {}
    for key in {each.facts['network_id'] for each in resources}:
        with contextlib.suppress(errors.NotFound):
            networks[key] = services.networks.network(key)
    users = {key: services.networks.used_addresses(key) for key in networks}
    leased = {(each.network_id, each.address) for each in services.floating_ips.every()
              if marks.of(each)}
    found = {}
    for each in resources:
        network_id, address = each.facts['network_id'], each.facts['address']
        network = networks.get(network_id)
        subnet = network and addressing.subnet_with(network, address)
        if subnet is None:
            continue
        why = addressing.why_unfit(address, subnet)
        user = users[network_id].get(address)
        # A start or an end may go on, so that marks count, too.
        if why is None and user and each.held_by is None and (network_id, address) not in leased:
            why = f'it is in use in Neutron, by {user}, and no lease has it'
        if why is not None:
            found[each.name] = why
    return found


def disturbed(services, held):
    """Return {resource id: why} of the Helds whose addresses others use, as ``Pool.disturbed``."""
    existing = {(each.network_id, each.address): each for each in services.floating_ips.every()}
    found = {}
    for each in held:
        there = existing.get((each.resource.facts['network_id'], each.resource.facts['address']))
        if there is not None and there.project_id != each.project_id:
            found[each.resource.id] = f'project {there.project_id} has a floating IP with it'
    return found
