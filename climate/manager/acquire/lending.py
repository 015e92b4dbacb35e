# SPDX-License-Identifier: Apache-2.0
"""Hosts that were lent for a lease go back to whoever lends them."""
from climate import errors
from climate.db import resources
from climate.manager import resources as pools


class Lending:
    """Gives back."""

    def __init__(self, core):
        self._core = core
        self._pools = pools.Resources(core)

    def give_back(self, reservation_ids):
        """Take all that is lent to reservations, which are over, out of its pool. Repeatable.

        :raises StillBusy: something runs on it yet.
        """
        with self._core.database.reader() as connection:
            found = resources.lent(connection, reservation_ids)
        busy = []
        for resource in found:
            try:
                self._pools.withdraw(resource.pool, resource.id)
            except errors.HostNotFound:
                # Another manager was faster.
                continue
            except errors.HostInUse as error:
                busy.append(error.message)
        if busy:
            raise errors.StillBusy(service='Climate', reason=' '.join(busy))
