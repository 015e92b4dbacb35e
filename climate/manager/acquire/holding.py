# SPDX-License-Identifier: Apache-2.0
"""What is held back for the first in line, so that smaller requests do not starve it."""
import collections
import dataclasses
import math

from climate import errors
from climate.db import acquisitions
from climate.db import resources
from climate.domain import fit
from climate.manager import booking
from climate.manager import core as cores
from climate.manager.acquire import sought

# More copies than fit anywhere.
_ALL = 10 ** 9


class Holding:
    """Holds back a part of what is free, as promises that nobody else can have."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        self._share = core.conf.acquire.hold_back_share

    def take_from_others(self, lease):
        """True where others in line held something back and do not any more.

        Only the first in line may: two that each held what the other needs would both wait for
        ever.
        """
        with self._core.database.reader() as connection:
            if acquisitions.first(connection) != lease.id:
                return False
        return give_way(self._core, lease)

    def hold(self, lease, wishes, span, now):
        """Hold back the share for a claimed lease that is first in line and does not fit.

        Never more than it needs. What was held back before stays where it still can; more comes to
        it only after something was given back, or how often it is looked would count.

        :returns: how many copies are held back now; 0 where it is not the first.
        :raises ClaimLost: another manager has taken the lease over.
        :raises Withdrawn: it is to be deleted.
        """
        with self._core.database.reader() as connection:
            if not self._share or acquisitions.first(connection) != lease.id:
                return 0
        wishes = [wish for wish in wishes if not wish.need.optional]
        avoid = self._too_small(wishes, span)
        share = 0 if lease.acquisition.by_clock(now) else self._share
        parts = [self._part(wish, span, now, avoid, share) for wish in wishes]

        def write(connection, chosen):
            sought.current(connection, lease)
            self._booking.replace(connection, chosen, now,
                                  [each.id for each in lease.reservations])
            return sum(given.copies for given in chosen)
        try:
            return self._booking.book(parts, span, now, write, avoid=avoid)
        except errors.LostRace:
            # Others were faster each time; the next try holds back what they left.
            return 0

    def _part(self, wish, span, now, avoid, share):
        """The Wish for what is held back of what another Wish needs.

        :param share: the part of what is free that comes to what is held back already.
        """
        free = self._booking.plan([_at_most(wish, _ALL)], span, now, avoid)
        kept = collections.Counter(wish.keep)
        held = sum(min(given.copies, kept[given.resource_id]) for given in free)
        more = sum(given.copies for given in free) - held
        return _at_most(wish, min(wish.need.demand.at_least,
                                  held + math.ceil(share * more)))

    def _too_small(self, wishes, span):
        """Ids of resources that could never have all copies of a wish that needs them together."""
        found = set()
        for wish in wishes:
            demand = wish.need.demand
            if demand.spread is not fit.Spread.TOGETHER:
                continue
            with self._core.database.reader() as connection:
                for each in resources.find(connection, wish.need.pool):
                    candidate = fit.Candidate(each.id, each.capacity)
                    if fit.ways(demand, [candidate], span) == (0, 0):
                        found.add(each.id)
        return found


@cores.again_after_a_race
def give_way(core, lease):
    """True where others than a lease held something back in line, and do not any more."""
    with core.database.reader() as connection:
        others = acquisitions.holders(connection, lease.id)
    if others:
        with core.database.writer() as connection:
            acquisitions.take_back(connection, others)
    return bool(others)


def _at_most(wish, copies):
    demand = dataclasses.replace(wish.need.demand, at_least=0, at_most=copies)
    return dataclasses.replace(wish, need=dataclasses.replace(wish.need, demand=demand))
