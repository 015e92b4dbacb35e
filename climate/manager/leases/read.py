# SPDX-License-Identifier: Apache-2.0
"""Read leases: one, a list, the history of one."""
from climate.db import journal
from climate.db import leases
from climate.domain import records
from climate.manager.leases import target_waits


class Read:
    """The use cases of GET."""

    def __init__(self, parts):
        self._core = parts

    def get(self, lease_id):
        """Return a lease, even a deleted one, with what it waits for in its reason.

        :raises LeaseNotFound: no lease has that id.
        """
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        return target_waits.explained(self._core.registry, lease)

    def history(self, lease_id, marker, limit):
        """Return the HistoryLines of a lease after the line `marker`, at most `limit`, in order."""
        with self._core.database.reader() as connection:
            return [records.HistoryLine(**row._mapping)
                    for row in journal.history(connection, lease_id, marker, limit)]

    def find(self, query):
        """Return the leases that match a LeaseQuery, with what each waits for in its reason."""
        now = self._core.clock()
        with self._core.database.reader() as connection:
            found = leases.find(connection, query, now)
        return [target_waits.explained(self._core.registry, lease) for lease in found]
