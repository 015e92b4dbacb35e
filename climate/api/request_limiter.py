# SPDX-License-Identifier: Apache-2.0
"""Limit of the requests that are processed at the same time."""
import threading

from climate import errors
from climate.api import hooks

_RETRY_SECONDS = 2


class RequestLimiter:
    """WSGI middleware that passes at most `limit` requests at a time to `application`.

    Further requests get a 503 at once. Thus memory and the queue on the message bus stay bounded,
    however many callers there are.
    """

    def __init__(self, application, limit):
        self._application = application
        self._limit = limit
        self._active = 0
        self._lock = threading.Lock()

    def __call__(self, environ, start_response):
        with self._lock:
            full = self._active >= self._limit
            self._active += not full
        if full:
            refusal = hooks.refused(environ, errors.Overloaded(retry_after=_RETRY_SECONDS))
            return refusal(environ, start_response)
        try:
            # Responses are not streamed: the work is done when the application returns.
            return self._application(environ, start_response)
        finally:
            with self._lock:
                self._active -= 1
