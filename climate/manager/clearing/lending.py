# SPDX-License-Identifier: Apache-2.0
"""The return of hosts that were lent for a lease to their lender."""
from climate import errors
from climate.db import resources
from climate.domain import texts
from climate.manager.clearing import returns
from climate.manager.pools import resources as pools


class Lending:
    """Returns lent hosts to their lender."""

    def __init__(self, core):
        self._core = core
        self._pools = pools.ResourceRequests(core)

    def return_unneeded(self, lease):
        """Withdraw the hosts that are lent to a lease and not allocated to it. Repeatable.

        :raises StillBusy: servers still run on one of them.
        """
        with self._core.database.reader() as connection:
            found = returns.lent_in_vain(connection, lease)
        self._withdraw(found)

    def return_lent_to(self, reservation_id):
        """Withdraw all hosts that are lent to a reservation that is over. Repeatable.

        :raises StillBusy: servers still run on one of them.
        """
        with self._core.database.reader() as connection:
            found = resources.lent(connection, [reservation_id])
        self._withdraw(found)

    def _withdraw(self, found):
        busy = []
        for resource in found:
            try:
                self._pools.withdraw(resource.pool, resource.id)
            except errors.ResourceNotFound:
                # Another manager has withdrawn it already.
                continue
            except errors.ResourceInUse as error:
                busy.append(texts.of_error(error))
        if busy:
            told = texts.joined(*busy)
            raise errors.StillBusy(service='Climate', reason=told.operator, owner_reason=(
                'hosts that were lent for the lease are being returned.'))
