# SPDX-License-Identifier: Apache-2.0
"""So many requests are worked on at the same time; those beyond are told to come back."""
import threading

from climate import errors
from climate.api import hooks

_RETRY_SECONDS = 2


class Gate:
    """A WSGI application behind which at most `most` requests are at a time.

    The others get 503 at once, so that neither memory nor the line on the bus grows, however many
    callers there are.
    """

    def __init__(self, application, most):
        self._application = application
        self._most = most
        self._inside = 0
        self._lock = threading.Lock()

    def __call__(self, environ, start_response):
        with self._lock:
            full = self._inside >= self._most
            self._inside += not full
        if full:
            refusal = hooks.refused(environ, errors.Overloaded(retry_after=_RETRY_SECONDS))
            return refusal(environ, start_response)
        try:
            # The answers are whole documents: nothing is left to be done after this.
            return self._application(environ, start_response)
        finally:
            with self._lock:
                self._inside -= 1
