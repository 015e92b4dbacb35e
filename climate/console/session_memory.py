# SPDX-License-Identifier: Apache-2.0
"""The memory of sessions of one console, without a cache that several consoles share."""
import threading

import cachetools

# If there are more, the session that was unused the longest ends.
_MOST = 10_000


class SessionMemory(cachetools.TTLCache):
    """Stored sessions by name; those whose lifetime is over are removed.

    It is the dictionary of the backend "dogpile.cache.memory", which itself never removes anything.

    :param seconds: the lifetime of a session.
    """

    def __init__(self, seconds, most=_MOST, **options):
        super().__init__(most, seconds, **options)
        # Even reading removes what is over.
        self._lock = threading.RLock()

    def get(self, key, default=None):
        with self._lock:
            return super().get(key, default)

    def __setitem__(self, key, value):
        with self._lock:
            super().__setitem__(key, value)

    def pop(self, key, default=None):
        with self._lock:
            return super().pop(key, default)
