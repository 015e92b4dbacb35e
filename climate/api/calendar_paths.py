# SPDX-License-Identifier: Apache-2.0
"""The addresses of calendars, which contain a secret and need no token."""
import re

from climate.api import subscription_body

PREFIX = '/v1/calendars/'
_SUFFIX = '.ics'
_SECRET = re.compile('[A-Za-z0-9_-]{20,128}')
_UNKNOWN = 'unknown'


class HiddenSecrets:
    """WSGI middleware that replaces the secret in the path of a calendar by its SHA-256.

    The application finds the calendar by the hash. So it does not get the secret and cannot log it.
    The hash cannot be used in an address.
    """

    def __init__(self, application):
        self._application = application

    def __call__(self, environ, start_response):
        secret = environ['PATH_INFO'].removeprefix(PREFIX)
        known = secret.endswith(_SUFFIX) and _SECRET.fullmatch(secret.removesuffix(_SUFFIX))
        environ['PATH_INFO'] = PREFIX + (subscription_body.calendar_hash(
            secret.removesuffix(_SUFFIX)) if known else _UNKNOWN)
        for name in ('REQUEST_URI', 'RAW_URI', 'RAW_PATH_INFO'):
            environ.pop(name, None)
        return self._application(environ, start_response)
