# SPDX-License-Identifier: Apache-2.0
"""The order in which plugins are called for the reservations of a lease, and the lease they see."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.domain import lifecycle
from climate.domain import start_order

LOG = log.getLogger(__name__)

_ORDERS = {'prepare': start_order.of_start, 'stage': start_order.any_order,
           'start': start_order.of_start, 'before_end': start_order.any_order,
           'secure': start_order.any_order, 'end': start_order.of_end}


class CallOrder:
    """Yields the reservations in their order and knows which of them must still wait.

    :ivar lease: the lease with the new bindings of the reservations that others depend on.
    :ivar waiting: sentences that say which reservation waits for which.
    """

    def __init__(self, lease, method, reservations, over):
        """Order reservations, which are given in any order.

        :param method: the name of the method that is called.
        :param over: the ids of reservations that are over though this is not written yet.
        """
        self.lease = lease
        self.waiting = []
        self._method = method
        self._reservations = reservations
        self._order = _ORDERS[method](lease.reservations)
        self._over = {each.id for each in lease.reservations
                      if each.state == lifecycle.RESERVATION_DELETED}.union(over)
        # Reservations that are not called have nothing left to do.
        self._done = {each.id for each in lease.reservations}.difference(
            each.id for each in reservations)

    def __iter__(self):
        return iter(self._order.sorted(self._reservations))

    def must_wait(self, reservation):
        """Return whether a reservation that comes first has not succeeded in this try."""
        first = [each.label or each.id for each in self._order.waits_for(
            reservation, self._done | self._over)] if self._order.before else []
        if first:
            self.waiting.append(f'Reservation {reservation.id} waits for {", ".join(first)}.')
            LOG.info('Lease %s, reservation %s: %s waits for %s', self.lease.id, reservation.id,
                     self._method, ', '.join(first))
        return bool(first)

    def refuse_alone(self, reservation):
        """Refuse to start a reservation if one that it depends on is over.

        :raises Conflict: it is over; the error names it.
        """
        if self._method != 'start' or reservation.state == lifecycle.RESERVATION_ACTIVE:
            return
        gone = [each.label for each in self._order.before.get(reservation.id, ())
                if each.id in self._over]
        if gone:
            raise errors.Conflict(reason=(
                f'it depends on {", ".join(gone)}, which is over. Delete the lease, and make '
                'another one.'))

    def with_resources_of(self, current):
        """Record that a reservation has other resources; return it as it is in this try.

        :param current: the Reservation as it is in the database.
        """
        [before] = [each for each in self.lease.reservations if each.id == current.id]
        return self._changed(dataclasses.replace(
            before, allocated=current.allocated, resources_changed=current.resources_changed))

    def went_well(self, reservation, state, binding):
        """Record the new state and binding of a reservation; None: unchanged."""
        self._done.add(reservation.id)
        if reservation.id in self._order.awaited:
            self._changed(dataclasses.replace(
                reservation, state=state or reservation.state,
                binding=reservation.binding if binding is None else binding))

    def _changed(self, after):
        """Replace a Reservation of the lease, and return it."""
        self.lease = dataclasses.replace(self.lease, reservations=tuple(
            after if each.id == after.id else each for each in self.lease.reservations))
        return after

    def is_gone(self, reservation):
        """Record that the target of a reservation is not in the cloud any more."""
        self._over.add(reservation.id)
