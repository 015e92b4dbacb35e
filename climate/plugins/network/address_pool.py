# SPDX-License-Identifier: Apache-2.0
"""The pool of addresses of external networks, which only leases may use."""
import ipaddress

from climate import errors
from climate.plugins import base
from climate.plugins import pool_view

#: The most addresses that one request can enrol.
MOST = 1024
_NETWORK_ID = {'description': 'Id of the external network.', 'type': 'string', 'minLength': 1,
               'maxLength': 36}


class AddressPool(base.Pool):
    """The addresses that an administrator enrolled.

    They are outside the allocation pools of their subnet, so that Neutron gives them to nobody by
    itself, and only an administrator can name them. So nothing must be done to admit one.
    """

    name = 'address'
    services = ('neutron',)
    fact_names = ('network_id', 'subnet_id', 'address')
    enrol_schema = {
        'type': 'object',
        'required': ['name', 'network_id'],
        'properties': {
            'name': {'description': 'An address, a range such as 172.24.4.210-172.24.4.220, or a '
                                    f'block such as 172.24.4.208/28, of at most {MOST} addresses.',
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
        [found] = self._identified(cloud, [str(parse('name', name))], fields['network_id'])
        return found

    @classmethod
    def is_range(cls, name, fields):
        return '-' in name or '/' in name

    def identify_range(self, cloud, name, fields):
        return self._identified(cloud, addresses(name), fields['network_id'])

    def survey(self, cloud, resources):
        networks, found = {}, {}
        for resource in resources:
            address, _, network_id = resource.name.partition('@')
            try:
                if network_id not in networks:
                    networks[network_id] = cloud.as_service().networks.network(network_id)
                found[resource.name] = _described(networks[network_id], address)
            except errors.NotFound:
                continue
        return found

    def unfit(self, cloud, resources):
        resources = tuple(resources)
        found, networks = super().unfit(cloud, resources), {}
        for resource in resources:
            network_id, address = resource.facts['network_id'], resource.facts['address']
            if resource.name in found:
                continue
            try:
                if network_id not in networks:
                    networks[network_id] = cloud.as_service().networks.network(network_id)
                why = _why_unfit(address, networks[network_id])
            except errors.NotFound:
                # It was deleted just now.
                why = base.UNKNOWN
            if why is not None:
                found[resource.name] = why
        return found

    def _identified(self, cloud, wanted, network_id):
        """Return the Founds of addresses, of which none may be in use."""
        services = cloud.as_service()
        network = external_network(cloud, network_id)
        found = [_described(network, address) for address in wanted]
        for each in found:
            why = _why_unfit(each.facts['address'], network)
            if why is not None:
                raise errors.BadField(field='name', reason=f'{each.facts["address"]} {why}.')
        used = services.networks.used_addresses(network_id)
        for each in found:
            address = each.facts['address']
            if address in used:
                raise errors.ResourceInUse(pool=self.name, resource=address, reason=(
                    f'it is in use in Neutron, by {used[address]}. Delete that first.'))
        return found


def parse(field, text):
    """Return the ipaddress object of a text.

    :param field: the field of the request that the error names.
    :raises BadField: it is no address.
    """
    try:
        return ipaddress.ip_address(text.strip())
    except ValueError:
        raise errors.BadField(field=field, reason=(
            f'"{text[:60]}" is not an IP address, such as 172.24.4.210.')) from None


def addresses(text):
    """Return the addresses of a range "FIRST-LAST" or of a block "ADDRESS/LENGTH", as texts.

    :raises BadField: the range is malformed or too long.
    """
    if '/' in text:
        try:
            block = ipaddress.ip_network(text.strip())
        except ValueError as error:
            raise errors.BadField(field='name', reason=(
                f'"{text[:60]}" is not a block such as 172.24.4.208/28: {error}.')) from error
        first, last = block.network_address, block.broadcast_address
    else:
        first, last = (parse('name', each) for each in text.split('-', 1))
    if first.version != last.version or last < first:
        raise errors.BadField(field='name', reason=(
            f'the range "{text[:60]}" must go from a lower to a higher address of one kind.'))
    count = int(last) - int(first) + 1
    if count > MOST:
        raise errors.BadField(field='name', reason=(
            f'the range "{text[:60]}" has {count} addresses; one request can enrol {MOST}.'))
    return [str(first + step) for step in range(count)]


def external_network(cloud, network_id):
    """Return the models.Network of that id.

    :raises BadField: there is none, or it is not external.
    """
    try:
        network = cloud.as_service().networks.network(network_id)
    except errors.ResourceNotFound:
        raise errors.BadField(field='network_id', reason=(
            f'there is no network "{network_id[:60]}"; give the id of an external '
            'network.')) from None
    if not network.external:
        raise errors.BadField(field='network_id', reason=(
            f'network "{network_id[:60]}" is not external: no floating IPs can be on it.'))
    return network


def _described(network, address):
    """Return the Found of an address of a network.

    :raises NotFound: no subnet of the network has it.
    """
    number = ipaddress.ip_address(address)
    subnet = _subnet_of(network, number)
    if subnet is None:
        raise errors.NotFound(f'Network {network.id} has no subnet with the address {address}.')
    return base.Found(name=f'{address}@{network.id}', capacity={}, facts={
        'network_id': network.id, 'subnet_id': subnet.id, 'address': address})


def _subnet_of(network, number):
    """Return the Subnet of a network that has an ipaddress object, or None."""
    return next((each for each in network.subnets if number in ipaddress.ip_network(each.cidr)),
                None)


def _why_unfit(address, network):
    """Return why Neutron, the gateway or the network itself uses an address, or None."""
    number = ipaddress.ip_address(address)
    subnet = _subnet_of(network, number)
    if subnet is None:
        return base.UNKNOWN
    network = ipaddress.ip_network(subnet.cidr)
    pool = next((each for each in subnet.pools
                 if ipaddress.ip_address(each[0]) <= number <= ipaddress.ip_address(each[1])), None)
    if subnet.gateway is not None and number == ipaddress.ip_address(subnet.gateway):
        return f'is the gateway of subnet {subnet.id}'
    if number == network.network_address and network.num_addresses > 2:
        return f'is the address of the network {subnet.cidr} itself'
    if number.version == 4 and number == network.broadcast_address and network.num_addresses > 2:
        return f'is the broadcast address of {subnet.cidr}'
    if pool is not None:
        return (f'is in the allocation pool {pool[0]} to {pool[1]} of subnet {subnet.id}, from '
                'which Neutron gives addresses to everybody: take it out of the pool first')
    return None
