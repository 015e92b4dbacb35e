# SPDX-License-Identifier: Apache-2.0
"""Hold resources back for the first in the queue, so that smaller requests do not starve it."""
import collections
import dataclasses
import math

from climate import errors
from climate.db import resources
from climate.db import wait_queue
from climate.domain import selection
from climate.manager import ownership
from climate.manager.booking import booking
from climate.manager.queue import wakeups

# A number of copies that is more than fits on any resource.
_ALL = 10 ** 9


class Holding:
    """Holds back a share of the free resources, as allocations that block all other leases."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        self._share = core.conf.acquire.hold_back_share

    def take_from_others(self, lease):
        """Release what other leases in the queue hold back; return True if any held something.

        Only the first lease in the queue may do so. Otherwise two leases that each hold what the
        other needs would both wait for ever.
        """
        with self._core.database.reader() as connection:
            if not wait_queue.is_first(connection, lease.id):
                return False
        return wakeups.release_held_back(self._core, lease)

    def hold(self, lease, wishes, span, now):
        """Hold back the share for a claimed lease that is first in the queue and does not fit.

        A lease never holds back more than it needs. It keeps what it held back before, where that
        is still possible. It holds back more only after something was released; otherwise the
        number of tries would decide how much it holds.

        :returns: how many copies are held back now; 0 if the lease is not the first.
        :raises ClaimLost: another manager has taken the lease over.
        :raises Withdrawn: the lease is to be deleted.
        """
        with self._core.database.reader() as connection:
            if not self._share or not wait_queue.is_first(connection, lease.id):
                return 0
        wishes = [wish for wish in wishes if not wish.need.optional]
        avoid = self._too_small(wishes, span)
        share = 0 if lease.acquisition.by_clock(now) else self._share
        parts = [self._part(wish, span, now, avoid, share) for wish in wishes]

        def write(connection, chosen):
            ownership.current(connection, lease)
            self._booking.replace(connection, chosen, now,
                                  [each.id for each in lease.reservations])
            return sum(given.copies for given in chosen)
        try:
            return self._booking.book(parts, span, now, write, avoid=avoid)
        except errors.LostRace:
            # Other requests were faster each time. The next try holds back what they left.
            return 0

    def _part(self, wish, span, now, avoid, share):
        """Return the Wish for the copies that are held back for a given Wish.

        :param share: the fraction of the free copies that is added to those held back before.
        """
        free = self._booking.plan([_at_most(wish, _ALL)], span, now, avoid)
        kept = collections.Counter(wish.keep)
        held = sum(min(given.copies, kept[given.resource_id]) for given in free)
        more = sum(given.copies for given in free) - held
        return _at_most(wish, min(wish.need.demand.at_least,
                                  held + math.ceil(share * more)))

    def _too_small(self, wishes, span):
        """Return the ids of resources too small for a wish that needs all copies on one."""
        found = set()
        for wish in wishes:
            demand = wish.need.demand
            if demand.spread is not selection.Spread.TOGETHER:
                continue
            with self._core.database.reader() as connection:
                for each in resources.find(connection, wish.need.pool):
                    candidate = selection.Candidate(each.id, each.capacity)
                    if selection.ways(demand, [candidate], span) == (0, 0):
                        found.add(each.id)
        return found


def _at_most(wish, copies):
    demand = dataclasses.replace(wish.need.demand, at_least=0, at_most=copies)
    return dataclasses.replace(wish, need=dataclasses.replace(wish.need, demand=demand))
