# SPDX-License-Identifier: Apache-2.0
"""The order in which plugins are called for the reservations of a lease."""
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
    """Yields the reservations in order, and decides which of them must still wait.

    :ivar lease: the lease for the plugins; the reservations that others depend on have their new
        bindings.
    :ivar waiting: a sentence for each reservation that waits for others.
    """

    def __init__(self, lease, method, reservations, over):
        """Order the reservations.

        :param method: the name of the plugins' method.
        :param over: the ids of reservations that are over, although the lease does not show it yet.
        """
        self.lease = lease
        self.waiting = []
        self._method = method
        self._reservations = reservations
        self._order = _ORDERS[method](lease.reservations)
        self._over = {each.id for each in lease.reservations
                      if each.state == lifecycle.RESERVATION_DELETED}.union(over)
        # Reservations without a call have nothing to do, so others do not wait for them.
        self._done = {each.id for each in lease.reservations}.difference(
            each.id for each in reservations)

    def __iter__(self):
        return iter(self._order.sorted(self._reservations))

    def must_wait(self, reservation):
        """Return whether a reservation waits for others that have not succeeded in this try."""
        first = [each.label or each.id for each in self._order.waits_for(
            reservation, self._done | self._over)] if self._order.before else []
        if first:
            self.waiting.append(f'Reservation {reservation.id} waits for {", ".join(first)}.')
            LOG.info('Lease %s, reservation %s: %s waits for %s', self.lease.id, reservation.id,
                     self._method, ', '.join(first))
        return bool(first)

    def refuse_without_dependencies(self, reservation):
        """Refuse to start a reservation if one of its dependencies is over.

        :raises Conflict: a dependency is over; the error names it.
        """
        if self._method != 'start' or reservation.state == lifecycle.RESERVATION_ACTIVE:
            return
        gone = [each.label for each in self._order.before.get(reservation.id, ())
                if each.id in self._over]
        if gone:
            raise errors.Conflict(reason=(
                f'it depends on {", ".join(gone)}, which is over. Delete the lease, and make '
                'another one.'))

    def record_resources(self, current):
        """Record the new resources of a reservation; return it with its state in this try.

        :param current: the Reservation as it is in the database.
        """
        [before] = [each for each in self.lease.reservations if each.id == current.id]
        return self._replace(dataclasses.replace(
            before, allocated=current.allocated, resources_changed=current.resources_changed))

    def record_success(self, reservation, state, binding):
        """Record the new state and binding of a reservation; None: unchanged."""
        self._done.add(reservation.id)
        if reservation.id in self._order.awaited:
            self._replace(dataclasses.replace(
                reservation, state=state or reservation.state,
                binding=reservation.binding if binding is None else binding))

    def _replace(self, after):
        """Replace a Reservation of the lease, and return it."""
        self.lease = dataclasses.replace(self.lease, reservations=tuple(
            after if each.id == after.id else each for each in self.lease.reservations))
        return after

    def record_gone(self, reservation):
        """Record that the target of a reservation is not in the cloud any more."""
        self._over.add(reservation.id)
