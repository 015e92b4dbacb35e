# SPDX-License-Identifier: Apache-2.0
"""Read a lease, a list of leases, or the history of a lease."""
import dataclasses

from climate import errors
from climate.db import journal
from climate.db import lease_lists
from climate.db import leases
from climate.manager import owner_names
from climate.manager.leases import targets
from climate.manager.queue import fair_share


class Read:
    """The use cases of GET /v1/leases."""

    def __init__(self, parts):
        self._core = parts

    def get(self, lease_id):
        """Return a lease, even a deleted one; its reason names what it waits for.

        :raises LeaseNotFound: no lease has this id.
        """
        with self._core.database.reader() as connection:
            [lease] = owner_names.named(connection, [leases.get(connection, lease_id)])
            lease = fair_share.explained(connection, self._core.conf, lease)
        return targets.explained(self._core.registry, lease)

    def named(self, lease):
        """Return a lease with the names of its owner and its project, if they are known."""
        with self._core.database.reader() as connection:
            return owner_names.named(connection, [lease])[0]

    def history(self, lease_id, marker, limit, most_bytes):
        """Return the HistoryLines of a lease after the line `marker`, in order.

        The last item is ``pages.EARLY_END`` if `most_bytes` ends the page early.
        """
        with self._core.database.reader() as connection:
            return journal.history(connection, lease_id, marker, limit, most_bytes)

    def find(self, query):
        """Return the leases that match a LeaseQuery, with reasons as in `get`.

        The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.

        :raises BadField: the query names a resource that does not exist.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            query = _with_resource(connection, query)
            page = owner_names.named(connection, lease_lists.find(connection, query, now))
        # ``pages.EARLY_END`` is None.
        return [lease and targets.explained(self._core.registry, lease) for lease in page]


def _with_resource(connection, query):
    """Return a LeaseQuery whose resource exists; a number that is no name is an id.

    :raises BadField: no resource has the name or the id.
    """
    name = query.resource
    if name is None or lease_lists.has_resource(connection, name):
        return query
    if name.isascii() and name.isdigit() and len(name) < 19:
        return dataclasses.replace(query, resource=None, resource_id=int(name))
    raise errors.BadField(field='resource', reason=(
        f'no resource is called "{name}": give the name of a host, or of another resource, as the '
        'list of its pool shows it.'))
