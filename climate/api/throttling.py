# SPDX-License-Identifier: Apache-2.0
"""Throttling: limits on the concurrent requests of a process and of a project."""
import collections
import re
import threading

from climate import errors
from climate.api import hooks

_RETRY_SECONDS = 2
_SLOTS = 'climate.slots'
# The requests that Nova sends while it boots a server.
_OF_NOVA = re.compile('/v1/(reservations|servers)/[^/]+/hosts')


class Slots:
    """At most `limit` slots for each key."""

    def __init__(self, limit):
        self._limit = limit
        self._taken = collections.Counter()
        self._lock = threading.Lock()

    def take(self, key=None):
        """Return a TakenSlot, or None if all slots of the key are taken."""
        with self._lock:
            if self._taken[key] >= self._limit:
                return None
            self._taken[key] += 1
        return TakenSlot(self, key)

    def free(self, key):
        """Free a slot of the key; only a TakenSlot calls this."""
        with self._lock:
            self._taken[key] -= 1
            if not self._taken[key]:
                # Without this, the keys of all projects would stay in memory.
                del self._taken[key]


class TakenSlot:
    """A slot that is taken until it is released."""

    def __init__(self, slots, key):
        self._slots = slots
        self._key = key
        self._lock = threading.Lock()

    def release(self):
        """Release the slot; a second call has no effect."""
        with self._lock:
            slots, self._slots = self._slots, None
        if slots is not None:
            slots.free(self._key)


class RequestLimiter:
    """WSGI middleware that passes at most `limit` requests at a time to `application`.

    Further requests get a 503 at once, to bound memory and the queue on the message bus. Requests
    of Nova have a separate limit of the same size, so that other requests never displace them.
    Requests that only wait do not count.
    """

    def __init__(self, application, limit):
        self._application = application
        self._ordinary = Slots(limit)
        self._of_nova = Slots(limit)

    def __call__(self, environ, start_response):
        slot = (self._of_nova if _is_of_nova(environ) else self._ordinary).take()
        if slot is None:
            refusal = hooks.refused(environ, errors.Overloaded(retry_after=_RETRY_SECONDS))
            return refusal(environ, start_response)
        return _carried_out(self._application, slot, environ, start_response)


class ProjectLimiter:
    """WSGI middleware that passes at most `limit` requests of one project at a time.

    Further requests of the project get a 429 at once. The authentication, which is an outer
    middleware, determines the project. Requests of Nova do not count, because by policy only
    services send them, and all services share one project.

    :param limit: 0: no limit.
    """

    def __init__(self, application, limit):
        self._application = application
        self._limit = limit
        self._slots = Slots(limit)

    def __call__(self, environ, start_response):
        if not self._limit or _is_of_nova(environ):
            return self._application(environ, start_response)
        slot = self._slots.take(environ.get('HTTP_X_PROJECT_ID') or environ.get('HTTP_X_USER_ID'))
        if slot is None:
            refusal = hooks.refused(environ, errors.TooManyRequests(
                limit=self._limit, retry_after=_RETRY_SECONDS))
            return refusal(environ, start_response)
        return _carried_out(self._application, slot, environ, start_response)


def stop_counting(environ):
    """Release the slots of a request that only waits from now on."""
    for slot in environ.get(_SLOTS, ()):
        slot.release()


def _carried_out(application, slot, environ, start_response):
    """Return the response of `application`; then release the slot."""
    environ.setdefault(_SLOTS, []).append(slot)
    try:
        # Responses are not streamed, so the work is done when the application returns.
        return application(environ, start_response)
    finally:
        slot.release()


def _is_of_nova(environ):
    return (environ['REQUEST_METHOD'] == 'GET'
            and _OF_NOVA.fullmatch(environ.get('PATH_INFO') or '') is not None)
