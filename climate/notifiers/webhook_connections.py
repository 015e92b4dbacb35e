# SPDX-License-Identifier: Apache-2.0
"""Connections to receivers of webhooks that stay open between two notifications."""
import threading
import time

# The longest time without a request, and the longest life, of an open connection. The address of
# the receiver is looked up and checked again for each new connection.
_IDLE_SECONDS = 10
_LIFE_SECONDS = 60
_MOST_OPEN = 64


class OpenConnections:
    """Open connections that no thread uses at the moment, by scheme, host and port."""

    def __init__(self, monotonic=time.monotonic):
        self._monotonic = monotonic
        self._lock = threading.Lock()
        # Tuples (key, connection, its opening, the end of its use), the longest unused one first.
        self._unused = []

    def take(self, key):
        """Return (an open connection, the time of its opening), or None if there is none."""
        now = self._monotonic()
        with self._lock:
            kept = [entry for entry in self._unused if _is_fresh(entry, now)]
            closed = [entry for entry in self._unused if not _is_fresh(entry, now)]
            fitting = [entry for entry in kept if entry[0] == key]
            if fitting:
                kept.remove(fitting[-1])
            self._unused = kept
        _close(closed)
        return fitting[-1][1:3] if fitting else None

    def put(self, key, connection, opened_at):
        """Keep a connection, whose answer was read, for the next notification."""
        with self._lock:
            self._unused.append((key, connection, opened_at, self._monotonic()))
            closed, self._unused = self._unused[:-_MOST_OPEN], self._unused[-_MOST_OPEN:]
        _close(closed)

    def close(self):
        """Close all connections that no thread uses."""
        with self._lock:
            closed, self._unused = self._unused, []
        _close(closed)


def _is_fresh(entry, now):
    _, _, opened_at, used_at = entry
    return now - used_at < _IDLE_SECONDS and now - opened_at < _LIFE_SECONDS


def _close(entries):
    for _, connection, _, _ in entries:
        connection.close()
