# SPDX-License-Identifier: Apache-2.0
"""Which network addresses may be called on behalf of users."""
import ipaddress
import socket

# Prefix of IPv6 addresses that a translator (NAT64) turns into the IPv4 address at their end.
_NAT64 = ipaddress.ip_network('64:ff9b::/96')
# Networks that are not public, whatever the table of Python's release says. A large cloud has its
# metadata service in the first one.
_SPECIAL = [ipaddress.ip_network(each) for each in (
    '192.0.0.0/24', '192.88.99.0/24', '64:ff9b:1::/48', '3fff::/20', '5f00::/16', 'fec0::/10')]
# How the last 64 bits of an ISATAP address begin, with and without the bit for unique addresses.
_ISATAP = (0x00005efe, 0x02005efe)


def may_be_called(text, allowed):
    """Return whether an IP address may be called.

    :param text: the address, as ``getaddrinfo`` returns it.
    :param allowed: networks that may be called although they are not public.
    """
    address = ipaddress.ip_address(text.partition('%')[0])
    found = {address, *_embedded(address)}
    return all(_is_public(each) or any(each in network for network in allowed
                                       if network.version == each.version) for each in found)


def literal(host):
    """Return the IP address that a host name of a URL is, or None if it is a name.

    This knows the forms that the C library knows: decimal, octal and hexadecimal numbers too.
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
    """Return the IPv4 addresses that an IPv6 address leads to."""
    if address.version == 4:
        return set()
    found = {address.ipv4_mapped, address.sixtofour, *(address.teredo or ())}
    if address in _NAT64 or int(address) >> 32 == 0 or (
            int(address) >> 32 & 0xffffffff in _ISATAP):
        found.add(ipaddress.IPv4Address(int(address) & 0xffffffff))
    return found - {None}


def _is_public(address):
    if address.version == 6 and (address.ipv4_mapped or address in _NAT64):
        # What counts is the IPv4 address inside.
        return True
    if any(address in network for network in _SPECIAL if network.version == address.version):
        return False
    return address.is_global and not (
        address.is_multicast or address.is_loopback or address.is_link_local
        or address.is_private or address.is_reserved or address.is_unspecified)
