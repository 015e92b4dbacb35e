# SPDX-License-Identifier: Apache-2.0
"""The IP addresses that webhooks may call: public ones, and those that an operator allows."""
import ipaddress
import socket

# A NAT64 translator replaces an IPv6 address with this prefix by the IPv4 address in its last bits.
_NAT64 = ipaddress.ip_network('64:ff9b::/96')
# Networks that are not public, but that some releases of Python consider public. The first network
# has the metadata service of a large cloud.
_SPECIAL = [ipaddress.ip_network(network) for network in (
    '192.0.0.0/24', '192.88.99.0/24', '64:ff9b:1::/48', '3fff::/20', '5f00::/16', 'fec0::/10')]
# The first half of the interface identifier of an ISATAP address, without and with the universal
# bit.
_ISATAP = (0x00005efe, 0x02005efe)


def may_be_called(text, allowed):
    """Return whether an IP address may be called.

    :param text: the address, as ``getaddrinfo`` returns it.
    :param allowed: networks that may be called although they are not public.
    """
    address = ipaddress.ip_address(text.partition('%')[0])
    return all(
        _is_public(target) or any(target in network for network in allowed
                                  if network.version == target.version)
        for target in {address, *_embedded(address)})


def literal(host):
    """Return the IP address that a host in a URL is; None if it is a name.

    Like the C library, this also accepts decimal, octal and hexadecimal numbers.
    """
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return None


def _embedded(address):
    """Return the IPv4 addresses to which packets for an IPv6 address may be sent."""
    if address.version == 4:
        return set()
    embedded = {address.ipv4_mapped, address.sixtofour, *(address.teredo or ())}
    if address in _NAT64 or int(address) >> 32 == 0 or (
            int(address) >> 32 & 0xffffffff in _ISATAP):
        embedded.add(ipaddress.IPv4Address(int(address) & 0xffffffff))
    return embedded - {None}


def _is_public(address):
    if address.version == 6 and (address.ipv4_mapped or address in _NAT64):
        # `may_be_called` checks the embedded IPv4 address.
        return True
    if any(address in network for network in _SPECIAL if network.version == address.version):
        return False
    return address.is_global and not (
        address.is_multicast or address.is_loopback or address.is_link_local
        or address.is_private or address.is_reserved or address.is_unspecified)
