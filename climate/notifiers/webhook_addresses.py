# SPDX-License-Identifier: Apache-2.0
"""The network addresses that webhooks may call: no private, local or reserved ones."""
import ipaddress
import socket

# The prefix of IPv6 addresses that a translator (NAT64) turns into the IPv4 address at their end.
_NAT64 = ipaddress.ip_network('64:ff9b::/96')
# Networks that are not public, in addition to the table of Python's release. A large cloud has its
# metadata service in the first one.
_SPECIAL = [ipaddress.ip_network(network) for network in (
    '192.0.0.0/24', '192.88.99.0/24', '64:ff9b:1::/48', '3fff::/20', '5f00::/16', 'fec0::/10')]
# The first 32 of the last 64 bits of ISATAP addresses, without and with the bit for unique ones.
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
    """Return the IP address that stands in a URL in place of a host name; None for a name.

    Like the C library, this accepts decimal, octal and hexadecimal numbers, too.
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
    embedded = {address.ipv4_mapped, address.sixtofour, *(address.teredo or ())}
    if address in _NAT64 or int(address) >> 32 == 0 or (
            int(address) >> 32 & 0xffffffff in _ISATAP):
        embedded.add(ipaddress.IPv4Address(int(address) & 0xffffffff))
    return embedded - {None}


def _is_public(address):
    if address.version == 6 and (address.ipv4_mapped or address in _NAT64):
        # The IPv4 address inside decides.
        return True
    if any(address in network for network in _SPECIAL if network.version == address.version):
        return False
    return address.is_global and not (
        address.is_multicast or address.is_loopback or address.is_link_local
        or address.is_private or address.is_reserved or address.is_unspecified)
