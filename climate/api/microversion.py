# SPDX-License-Identifier: Apache-2.0
"""Negotiation of the version of the REST interface."""
import dataclasses

import microversion_parse

from climate import errors

SERVICE_TYPE = 'reservation'


@dataclasses.dataclass(frozen=True, order=True)
class Version:
    """A version of the REST interface, such as 1.1."""

    major: int
    minor: int

    def __str__(self):
        return f'{self.major}.{self.minor}'


MINIMUM = Version(1, 0)
MAXIMUM = Version(1, 1)


def of_request(headers):
    """Return the Version that the headers request; 1.0 if they name no version of this service.

    :param headers: {header name: value}; upper and lower case are equal.
    :raises BadField: the version is not MAJOR.MINOR.
    :raises NotAcceptable: the version is not served.
    """
    requested = microversion_parse.get_version(headers, SERVICE_TYPE)
    if requested is None:
        return MINIMUM
    if requested == 'latest':
        return MAXIMUM
    major, dot, minor = requested.partition('.')
    if not (dot and major.isascii() and minor.isascii() and major.isdigit() and minor.isdigit()
            and len(requested) < 12):
        raise errors.BadField(field='OpenStack-API-Version', reason=(
            f'"{requested[:40]}" is not a version: send "{SERVICE_TYPE} {MAXIMUM}".'))
    version = Version(int(major), int(minor))
    if not MINIMUM <= version <= MAXIMUM:
        raise errors.NotAcceptable(version=requested, minimum=str(MINIMUM), maximum=str(MAXIMUM))
    return version


def headers_of(version):
    """Return the headers that name the version of a response."""
    return {'OpenStack-API-Version': f'{SERVICE_TYPE} {version}',
            'Vary': 'OpenStack-API-Version'}
