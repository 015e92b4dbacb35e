# SPDX-License-Identifier: Apache-2.0
"""The pool of addresses of external networks for floating IPs of leases."""
import contextlib

from climate import errors
from climate.plugins import base
from climate.plugins import pool_view
from climate.plugins.network import address_audit
from climate.plugins.network import addressing

_NETWORK_ID = {'description': 'Id of the external network.', 'type': 'string', 'minLength': 1,
               'maxLength': 36}


class AddressPool(base.Pool):
    """The addresses that an administrator enrolled.

    They are outside the allocation pools of their subnet, where only administrators can use them.
    Therefore `admit` changes nothing.
    """

    name = 'address'
    services = ('neutron',)
    fact_names = ('network_id', 'subnet_id', 'address')
    enrol_schema = {
        'type': 'object',
        'required': ['name', 'network_id'],
        'properties': {
            'name': {'description': 'An address, a range such as 172.24.4.210-172.24.4.220, or a '
                                    'block such as 172.24.4.208/28, of at most '
                                    f'{addressing.MOST} addresses.',
                     'type': 'string', 'minLength': 1, 'maxLength': 100},
            'network_id': _NETWORK_ID,
        },
        'additionalProperties': False,
    }
    view = pool_view.View(
        path='floatingips', one='floatingip',
        fields={'floating_network_id': 'network_id', 'subnet_id': 'subnet_id',
                'floating_ip_address': 'address'},
        enrol_schema={
            'type': 'object',
            'required': ['floating_network_id', 'floating_ip_address'],
            'properties': {
                'floating_network_id': _NETWORK_ID,
                'floating_ip_address': {'description': 'One address.', 'type': 'string',
                                        'minLength': 1, 'maxLength': 45},
            },
            'additionalProperties': False,
        },
        enrols={'floating_network_id': 'network_id', 'floating_ip_address': 'name'})

    def discover(self, cloud, name):
        address, _, network_id = name.partition('@')
        return _described(cloud.as_service().networks.network(network_id), address)

    def identify(self, cloud, name, fields):
        address = str(addressing.parse('name', name))
        return self._identified(cloud, [address], fields['network_id'])[0]

    @classmethod
    def is_range(cls, name, fields):
        return '-' in name or '/' in name

    def identify_range(self, cloud, name, fields):
        return self._identified(cloud, addressing.addresses(name), fields['network_id'])

    def survey(self, cloud, resources):
        networks, descriptions = {}, {}
        for resource in resources:
            address, _, network_id = resource.name.partition('@')
            if network_id not in networks:
                networks[network_id] = _network(cloud, network_id)
            if networks[network_id] is not None:
                with contextlib.suppress(errors.NotFound):
                    descriptions[resource.name] = _described(networks[network_id], address)
        return descriptions

    def unfit(self, cloud, resources):
        resources = tuple(resources)
        reasons = super().unfit(cloud, resources)
        candidates = [each for each in resources if each.name not in reasons]
        return reasons | address_audit.unfit(cloud.as_service(), candidates)

    def disturbed(self, cloud, held):
        return address_audit.disturbed(cloud.as_service(), held)

    def _identified(self, cloud, addresses, network_id):
        """Return a Found for each address; refuse addresses that are in use."""
        services = cloud.as_service()
        network = external_network(cloud, network_id)
        descriptions = [_described(network, address) for address in addresses]
        subnets = {subnet.id: subnet for subnet in network.subnets}
        for description in descriptions:
            address = description.facts['address']
            why = addressing.why_unfit(address, subnets[description.facts['subnet_id']])
            if why is not None:
                raise errors.BadField(field='name', reason=f'{address} {why}.')
        used = services.networks.used_addresses(network_id)
        for description in descriptions:
            address = description.facts['address']
            if address in used:
                raise errors.ResourceInUse(pool=self.name, resource=address, reason=(
                    f'it is in use in Neutron, by {used[address]}. Delete that first.'))
        return descriptions


def external_network(cloud, network_id):
    """Return the external Network with that id.

    :raises BadField: no network has that id, or it is not external.
    """
    network = _network(cloud, network_id)
    if network is None:
        raise errors.BadField(field='network_id', reason=(
            f'there is no network "{network_id[:60]}"; give the id of an external network.'))
    if not network.external:
        raise errors.BadField(field='network_id', reason=(
            f'network "{network_id[:60]}" is not external: no floating IPs can be on it.'))
    return network


def _network(cloud, network_id):
    try:
        return cloud.as_service().networks.network(network_id)
    except errors.ResourceNotFound:
        return None


def _described(network, address):
    """Return the Found of an address of a network.

    :raises NotFound: no subnet of the network has the address.
    """
    subnet = addressing.subnet_with(network, address)
    if subnet is None:
        raise errors.NotFound(f'Network {network.id} has no subnet with the address {address}.')
    return base.Found(name=f'{address}@{network.id}', capacity={}, facts={
        'network_id': network.id, 'subnet_id': subnet.id, 'address': address})
