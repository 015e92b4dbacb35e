# SPDX-License-Identifier: Apache-2.0
"""A cache of the versions of a book, which other managers may add to."""

# The time for which the versions are cached.
_KNOWN_SECONDS = 5
_NEVER = float('-inf')


class KnownVersions:
    """A cache of the versions of a price book or limit book."""

    def __init__(self):
        self._cached = _NEVER, ()
        self._forgotten = 0

    def every(self, core, read_all):
        """Return all versions, in order.

        :param read_all: callable(connection) that returns the versions.
        """
        read_at, versions = self._cached
        now = core.monotonic()
        if now - read_at <= _KNOWN_SECONDS:
            return versions
        forgotten = self._forgotten
        with core.database.reader() as connection:
            versions = read_all(connection)
        # A version that was added in the meantime may not be among those that were read.
        self._cached = (now if forgotten == self._forgotten else _NEVER), versions
        return versions

    def forget(self):
        """Read the versions again at the next use, because one was added."""
        self._forgotten += 1
        self._cached = _NEVER, ()
