# SPDX-License-Identifier: Apache-2.0
"""The URLs of webhooks, and the IP addresses that webhooks may call.

These are public addresses, and those that an operator allows.
"""
import ipaddress
import re
import socket
from urllib import parse

from climate import bounded_http

_LONGEST_URL = 2000
# The name of a host in DNS, or an IPv6 address.
_LONGEST_NAME = 253
_HOST = re.compile(r'(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*'
                   r'[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?|[0-9a-f.]*:[0-9a-f:.]*(?:%.+)?')
# A NAT64 translator replaces an IPv6 address with this prefix by the IPv4 address in its last bits.
_NAT64 = ipaddress.ip_network('64:ff9b::/96')
# Networks that are not public, but that some releases of Python consider public. The first network
# has the metadata service of a large cloud.
_SPECIAL = [ipaddress.ip_network(network) for network in (
    '192.0.0.0/24', '192.88.99.0/24', '64:ff9b:1::/48', '3fff::/20', '5f00::/16', 'fec0::/10')]
# The first half of the interface identifier of an ISATAP address, without and with the universal
# bit.
_ISATAP = (0x00005efe, 0x02005efe)


def parsed(address):
    """Return the parts of a URL.

    :raises ValueError: the URL cannot be used; the error has the reason.
    """
    if len(address) > _LONGEST_URL:
        raise ValueError(f'a URL has at most {_LONGEST_URL} characters')
    if any(not 33 <= ord(letter) <= 126 for letter in address):
        raise ValueError('a URL has no spaces and no characters beyond ASCII: encode them with %')
    try:
        parts = parse.urlsplit(address)
        usable = (parts.scheme in bounded_http.PORTS and parts.port != 0
                  and _is_host(parts.hostname or ''))
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(f'"{address[:80]}" is not a URL such as https://example.org/hook')
    if '@' in parts.netloc:
        raise ValueError('a URL with a name or password would be shown in lists: check the '
                         'signature instead')
    if parts.fragment:
        raise ValueError('a URL of a webhook has no part after "#"')
    return parts


def _is_host(name):
    return len(name) <= _LONGEST_NAME + 1 and _HOST.fullmatch(name) is not None


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
