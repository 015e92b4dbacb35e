# SPDX-License-Identifier: Apache-2.0
"""Read a lease, a list of leases, or the history of a lease."""
from climate.db import journal
from climate.db import leases
from climate.manager.leases import targets


class Read:
    """The use cases of GET /v1/leases."""

    def __init__(self, parts):
        self._core = parts

    def get(self, lease_id):
        """Return a lease, even a deleted one; its reason names the targets that it waits for.

        :raises LeaseNotFound: no lease has this id.
        """
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        return targets.explained(self._core.registry, lease)

    def history(self, lease_id, marker, limit, most_bytes):
        """Return the HistoryLines of a lease after the line `marker`, in order.

        The last item is ``pages.EARLY_END`` if `most_bytes` ends the page early.
        """
        with self._core.database.reader() as connection:
            return journal.history(connection, lease_id, marker, limit, most_bytes)

    def find(self, query):
        """Return the leases that match a LeaseQuery, with reasons as in `get`.

        The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            page = leases.find(connection, query, now)
        # ``pages.EARLY_END`` is None.
        return [lease and targets.explained(self._core.registry, lease) for lease in page]
