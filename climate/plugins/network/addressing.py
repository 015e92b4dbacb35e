# SPDX-License-Identifier: Apache-2.0
"""IP addresses: their parsing, their subnets and their allocation pools."""
import ipaddress

from climate import errors

#: The greatest number of addresses that one request can enrol.
MOST = 1024


def parse(field, text):
    """Return the ipaddress object of a text.

    :param field: the field of the request that the error names.
    :raises BadField: the text is not an address.
    """
    try:
        # Refuse a zone, as in fe80::1%eth0, because it would be a second name of the address.
        if '%' in text:
            raise ValueError
        return ipaddress.ip_address(text.strip())
    except ValueError:
        raise errors.BadField(field=field, reason=(
            f'"{text[:60]}" is not an IP address, such as 172.24.4.210.')) from None


def addresses(text):
    """Return the addresses of a range "FIRST-LAST" or of a block "ADDRESS/LENGTH", as strings.

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
        first, last = (parse('name', end) for end in text.split('-', 1))
    if first.version != last.version or last < first:
        raise errors.BadField(field='name', reason=(
            f'the range "{text[:60]}" must go from a lower to a higher address of one IP version.'))
    count = int(last) - int(first) + 1
    if count > MOST:
        raise errors.BadField(field='name', reason=(
            f'the range "{text[:60]}" has {count} addresses; one request can enrol {MOST}.'))
    return [str(first + offset) for offset in range(count)]


def why_unfit(address, subnet):
    """Return why an address of a subnet cannot be leased, as the end of a sentence, or None."""
    number, network = ipaddress.ip_address(address), ipaddress.ip_network(subnet.cidr)
    pool, why = _pool_of(subnet, number), None
    if number.version != 4:
        why = 'is not an IPv4 address, and Neutron supports floating IPs only for IPv4'
    elif subnet.gateway is not None and number == ipaddress.ip_address(subnet.gateway):
        why = f'is the gateway of subnet {subnet.id}'
    elif number == network.network_address and network.num_addresses > 2:
        why = f'is the address of the network {subnet.cidr} itself'
    elif number == network.broadcast_address and network.num_addresses > 2:
        why = f'is the broadcast address of {subnet.cidr}'
    elif pool is not None:
        why = (f'is in the allocation pool {pool[0]} to {pool[1]} of subnet {subnet.id}, from '
               'which Neutron assigns addresses to all projects: take it out of the pool first')
    return why


def pool_with(network, address):
    """Return the allocation pool of a Network with an address, as (first, last), or None."""
    number = ipaddress.ip_address(address)
    return next((pool for pool in (_pool_of(subnet, number) for subnet in network.subnets)
                 if pool is not None), None)


def subnet_with(network, address):
    """Return the Subnet of a Network with an address, or None."""
    number = ipaddress.ip_address(address)
    return next((each for each in network.subnets
                 if number in ipaddress.ip_network(each.cidr)), None)


def _pool_of(subnet, number):
    for first, last in subnet.pools:
        start, end = ipaddress.ip_address(first), ipaddress.ip_address(last)
        if number.version == start.version and start <= number <= end:
            return first, last
    return None
