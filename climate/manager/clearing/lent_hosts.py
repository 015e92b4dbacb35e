# SPDX-License-Identifier: Apache-2.0
"""Hosts that were cleared or lent for a lease: their return when it does not need them."""
from climate import errors
from climate.db import events
from climate.db import resources
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import texts
from climate.domain.clearing import plans
from climate.manager.pools import resources as pools


class LentHosts:
    """Returns lent hosts to their lender."""

    def __init__(self, core):
        self._core = core
        self._pools = pools.ResourceRequests(core)

    def return_unneeded(self, lease):
        """Withdraw the hosts that are lent to a lease and not allocated to it. Repeatable.

        :raises StillBusy: servers still run on one of them.
        """
        with self._core.database.reader() as connection:
            hosts = _unneeded(connection, lease)
        self._withdraw(hosts)

    def return_lent_to(self, reservation_id):
        """Withdraw all hosts that are lent to a reservation that is over. Repeatable.

        :raises StillBusy: servers still run on one of them.
        """
        with self._core.database.reader() as connection:
            hosts = resources.lent(connection, [reservation_id])
        self._withdraw(hosts)

    def _withdraw(self, hosts):
        busy = []
        for host in hosts:
            try:
                self._pools.withdraw(host.pool, host.id)
            except errors.ResourceNotFound:
                # Another manager has withdrawn it already.
                continue
            except errors.ResourceInUse as error:
                busy.append(texts.of_error(error))
        if busy:
            raise errors.StillBusy(
                service='Climate', reason=texts.joined(*busy).operator,
                owner_reason='hosts that were lent for the lease are being returned.')


def order_return(connection, lease, now, over=False):
    """Add the event that returns the hosts that a lease does not need.

    :param lease: the Lease as it is in this transaction.
    :param over: True if the lease does not need any of its hosts any more.
    """
    if lease.acquisition is None or lease.acquisition.plan is None:
        return
    if plans.from_json(lease.acquisition.plan).is_settled and not (
            _unneeded(connection, lease, over)):
        return
    events.change(connection, lease.id,
                  lease_events.ordered(lease, event_kinds.GIVE_BACK, now), now)


def _unneeded(connection, lease, over=False):
    """Return the Resources, without properties, that are lent to a lease and not allocated to it.

    :param over: as in `order_return`.
    """
    needed = set() if over else {
        key for each in lease.open_reservations for key in each.resource_ids}
    lent = resources.lent(connection, [each.id for each in lease.reservations])
    return [each for each in lent if each.id not in needed]
