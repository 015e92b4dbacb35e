# SPDX-License-Identifier: Apache-2.0
"""Hosts that were lent for a lease go back to whoever lends them."""
from climate import errors
from climate.db import resources
from climate.manager import resources as pools
from climate.manager.acquire import returns


class Lending:
    """Gives back."""

    def __init__(self, core):
        self._core = core
        self._pools = pools.Resources(core)

    def give_back(self, lease):
        """Take what is lent to a lease, and not promised to it, out of its pool. Repeatable.

        :raises StillBusy: something runs on it yet.
        """
        with self._core.database.reader() as connection:
            found = returns.lent_in_vain(connection, lease)
        self._withdraw(found)

    def give_back_of(self, reservation_id):
        """Take all that is lent to a reservation, which is over, out of its pool. Repeatable.

        :raises StillBusy: something runs on it yet.
        """
        with self._core.database.reader() as connection:
            found = resources.lent(connection, [reservation_id])
        self._withdraw(found)

    def _withdraw(self, found):
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
