# SPDX-License-Identifier: Apache-2.0
"""The addresses of calendars, which are secret and need no token."""
import re

from climate.api import subscription_body

PREFIX = '/v1/calendars/'
_SUFFIX = '.ics'
# As long as secrets are, with the letters that they have.
_SECRET = re.compile('[A-Za-z0-9_-]{20,128}')
_UNKNOWN = 'unknown'


class HiddenSecrets:
    """WSGI middleware that replaces the secret in the path of a calendar by its SHA-256.

    Nothing behind it knows the secret, so nothing can log it. The hash leads to the calendar, and
    cannot be used as an address.
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
