# SPDX-License-Identifier: Apache-2.0
"""Which version of the REST interface a request speaks."""
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
    """The Version that the headers ask for: 1.0 where they ask for none of this service.

    :param headers: a mapping of header names, in any case.
    :raises BadField: it is not MAJOR.MINOR.
    :raises NotAcceptable: it is not served.
    """
    asked = microversion_parse.get_version(headers, SERVICE_TYPE)
    if asked is None:
        return MINIMUM
    if asked == 'latest':
        return MAXIMUM
    major, dot, minor = asked.partition('.')
    if not (dot and major.isascii() and minor.isascii() and major.isdigit() and minor.isdigit()
            and len(asked) < 12):
        raise errors.BadField(field='OpenStack-API-Version', reason=(
            f'"{asked[:40]}" is not a version: send "{SERVICE_TYPE} {MAXIMUM}".'))
    version = Version(int(major), int(minor))
    if not MINIMUM <= version <= MAXIMUM:
        raise errors.NotAcceptable(version=asked, minimum=str(MINIMUM), maximum=str(MAXIMUM))
    return version


def headers_of(version):
    """The headers with which an answer says its version."""
    return {'OpenStack-API-Version': f'{SERVICE_TYPE} {version}',
            'Vary': 'OpenStack-API-Version'}
