# SPDX-License-Identifier: Apache-2.0
"""The order in which the plugins of a lease's reservations are called, and what each sees."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.domain import lifecycle
from climate.domain import start_order

LOG = log.getLogger(__name__)

_ORDERS = {'prepare': start_order.of_start, 'start': start_order.of_start,
           'before_end': start_order.any_order, 'end': start_order.of_end}


class Turns:
    """Reservations one after the other, each once all that come before it went well.

    :ivar lease: the lease with what was made for the reservations until now, as far as others
        depend on it.
    :ivar told: who waits for whom, in words.
    """

    def __init__(self, lease, method, reservations, over):
        """Take the reservations in any order.

        :param method: the name of the method that is called.
        :param over: the ids of reservations that are over though this is not written yet.
        """
        self.lease = lease
        self.told = []
        self._method = method
        self._reservations = reservations
        self._order = _ORDERS[method](lease.reservations)
        self._over = {each.id for each in lease.reservations
                      if each.state == lifecycle.RESERVATION_DELETED}.union(over)
        # Those that are not called need nothing.
        self._done = {each.id for each in lease.reservations}.difference(
            each.id for each in reservations)

    def __iter__(self):
        return iter(self._order.sorted(self._reservations))

    def must_wait(self, reservation):
        """True where another one comes before it that did not go well in this try."""
        first = [each.label or each.id for each in self._order.waits_for(
            reservation, self._done | self._over)] if self._order.before else []
        if first:
            self.told.append(f'Reservation {reservation.id} waits for {", ".join(first)}.')
            LOG.info('Lease %s, reservation %s: %s waits for %s', self.lease.id, reservation.id,
                     self._method, ', '.join(first))
        return bool(first)

    def refuse_alone(self, reservation):
        """Refuse to start what depends on something that is over.

        :raises Conflict: it says on what.
        """
        if self._method != 'start' or reservation.state == lifecycle.RESERVATION_ACTIVE:
            return
        gone = [each.label for each in self._order.before.get(reservation.id, ())
                if each.id in self._over]
        if gone:
            raise errors.Conflict(reason=(
                f'it depends on {", ".join(gone)}, which is over. Delete the lease, and make '
                'another one.'))

    def went_well(self, reservation, state, binding):
        """Note the new state of a reservation and its binding; None where it stays as it was."""
        self._done.add(reservation.id)
        if reservation.id not in self._order.awaited:
            return
        after = dataclasses.replace(
            reservation, state=state or reservation.state,
            binding=reservation.binding if binding is None else binding)
        self.lease = dataclasses.replace(self.lease, reservations=tuple(
            after if each.id == after.id else each for each in self.lease.reservations))

    def is_gone(self, reservation):
        """Note that what a reservation leased is not in the cloud any more."""
        self._over.add(reservation.id)
