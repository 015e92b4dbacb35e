# SPDX-License-Identifier: Apache-2.0
"""Why a request to boot with a lease is refused, as Nova tells it."""

#: What it raises to read JSON that somebody else wrote, and that may be nested without end.
UNREADABLE = (ValueError, KeyError, TypeError, RecursionError)


class Refused(Exception):
    """A request that goes no further; the text names the field, and the way out.

    :ivar status: the HTTP status.
    :ivar retry_seconds: after how many seconds it may be tried again, or None.
    """

    def __init__(self, status, message, retry_seconds=None):
        super().__init__(message)
        self.status = status
        self.retry_seconds = retry_seconds


class BadRequest(Refused):
    """The request itself is wrong."""

    def __init__(self, field, reason):
        super().__init__(400, f'{field}: {reason}')


class Unreachable(Refused):
    """Climate gave no answer that can be used."""

    def __init__(self, retry_seconds):
        super().__init__(503, (
            'The reservation service, Climate, cannot be reached, so no instance was made: try '
            f'again in {retry_seconds} seconds.'), retry_seconds)
