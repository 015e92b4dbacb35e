# SPDX-License-Identifier: Apache-2.0
"""The number of changes in the database, by which an unchanged answer is recognized."""
from climate.db import changes
from climate.db import migrate


class ChangeCounts:
    """Reads the counter of changes as soon as every manager counts its changes."""

    def __init__(self):
        self._all_count = False

    def read(self, connection):
        """Return the number of changes; None: managers of an earlier release may run.

        These do not count. The last step of an upgrade refuses while one of them runs.
        """
        if not self._all_count:
            self._all_count = migrate.is_complete(connection)
        return changes.read(connection) if self._all_count else None
