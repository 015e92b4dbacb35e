# SPDX-License-Identifier: Apache-2.0
"""Return the hosts that were cleared for a lease and that it does not need."""
from climate import errors
from climate.db import events
from climate.db import resources
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import texts
from climate.domain.clearing import plans
from climate.manager.pools import withdrawal


class LentHosts:
    """Withdraws lent hosts, so that they serve ordinary servers again. Calls can be repeated."""

    def __init__(self, core):
        self._core = core
        self._withdrawals = withdrawal.Withdrawals(core)

    def return_unneeded(self, lease):
        """Withdraw the hosts that are lent to a lease but not allocated to it.

        :raises StillBusy: servers still run on a host.
        """
        with self._core.database.reader() as connection:
            hosts = _unneeded(connection, lease)
        self._withdraw(hosts)

    def return_lent_to(self, reservation_id):
        """Withdraw all hosts that are lent to a reservation that is over.

        :raises StillBusy: servers still run on a host.
        """
        with self._core.database.reader() as connection:
            hosts = resources.lent(connection, [reservation_id])
        self._withdraw(hosts)

    def _withdraw(self, hosts):
        busy = []
        for host in hosts:
            try:
                self._withdrawals.withdraw(host.pool, host.id)
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
    """Order the event that returns the unneeded hosts of a lease, if there are any.

    :param lease: the Lease as it is in this transaction.
    :param over: True if the lease does not need any host any more.
    """
    if lease.acquisition is None or lease.acquisition.plan is None:
        return
    if plans.from_json(lease.acquisition.plan).is_settled and not (
            _unneeded(connection, lease, over)):
        return
    events.change(connection, lease.id,
                  lease_events.ordered(lease, event_kinds.GIVE_BACK, now), now)


def _unneeded(connection, lease, over=False):
    """Return the Resources, without properties, that are lent to a lease but not needed."""
    needed = set() if over else {
        key for each in lease.open_reservations for key in each.resource_ids}
    lent = resources.lent(connection, [each.id for each in lease.reservations])
    return [each for each in lent if each.id not in needed]
