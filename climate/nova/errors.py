# SPDX-License-Identifier: Apache-2.0
"""The errors that refuse a request to boot with a lease."""

#: The errors while reading foreign JSON. Deeply nested JSON raises RecursionError.
UNREADABLE = (ValueError, KeyError, TypeError, RecursionError)


class BootRefused(Exception):
    """The request is refused. The text has the field and the correction.

    :ivar status: the HTTP status.
    :ivar retry_seconds: seconds after which the request may be repeated, or None.
    """

    def __init__(self, status, message, retry_seconds=None):
        super().__init__(message)
        self.status = status
        self.retry_seconds = retry_seconds


class BadBootRequest(BootRefused):
    """The request itself is wrong."""

    def __init__(self, field, reason):
        super().__init__(400, f'{field}: {reason}')


class LeasedAlready(BootRefused):
    """The server belongs to a lease that exists, so Climate creates none for it."""


class ClimateUnreachable(BootRefused):
    """Climate cannot be reached, or its answer cannot be used."""

    def __init__(self, retry_seconds):
        super().__init__(503, (
            'The reservation service, Climate, cannot be reached, so no instance was created: '
            f'try again in {retry_seconds} seconds.'), retry_seconds)
