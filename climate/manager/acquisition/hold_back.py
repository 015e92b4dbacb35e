# SPDX-License-Identifier: Apache-2.0
"""Hold resources back for the first in the queue, so that smaller requests do not starve it."""
import collections
import dataclasses
import datetime
import fractions
import math

from climate import errors
from climate.db import allocations
from climate.db import releases
from climate.db import resources
from climate.db import wait_queue
from climate.domain import interval
from climate.domain import records
from climate.domain import selection
from climate.manager import ownership
from climate.manager.booking import booking
from climate.manager.booking import shortage
from climate.manager.queue import wakeups

# A number of copies that is more than fits on any resource.
_ALL = 10 ** 9


class Holding:
    """Holds back a share of the free resources, as allocations that block all other leases."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        # As it is written: a float of 0.2 is a little more than a fifth.
        self._share = fractions.Fraction(str(core.conf.acquire.hold_back_share))

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
        is still possible.

        The share is one of all that is free or held back. If others use all that was left to them,
        the share of what they release is added; otherwise they could take turns with it for ever.

        :returns: what is held back now in words, such as "2 hosts"; '' if that is nothing.
        :raises ClaimLost: another manager has taken the lease over.
        :raises Withdrawn: the lease is to be deleted.
        """
        with self._core.database.reader() as connection:
            if not self._share or not wait_queue.is_first(connection, lease.id):
                return ''
        wishes = [wish for wish in wishes if not wish.need.optional]
        avoid = self._too_small(wishes, span)
        share = 0 if lease.acquisition.by_clock(now) else self._share
        parts = self._parts(_Try(lease, span, now, avoid, share), wishes)

        def write(connection, chosen):
            ownership.current(connection, lease)
            self._booking.replace(connection, chosen, [each.id for each in lease.reservations])
            return chosen
        try:
            return _in_words(wishes, self._booking.book(parts, span, now, write, avoid=avoid))
        except errors.LostRace:
            # Other requests were faster each time. The next try holds back what they left.
            return ''

    def _parts(self, this, wishes):
        """Return a Wish for each of the Wishes: what it holds back, and its part of the share."""
        used = collections.Counter()
        parts = []
        for wish in wishes:
            least = wish.need.demand.at_least
            copies = min(len(wish.keep), least)
            pool = wish.need.pool
            if copies < least and this.share and used[pool] < 1:
                most = self._more(this, _spread_out(wish.need))
                # The needs of a pool have one share together, though their copies may differ.
                added = min(least - copies, int((1 - used[pool]) * most))
                used[pool] += fractions.Fraction(added, most) if added else 0
                copies += added
            parts.append(_at_most(wish, copies))
        return parts

    def _more(self, this, need):
        """Return how many copies of a need may be held back in addition; looks once for each."""
        known = [count for each, count in this.more if each == need]
        if not known:
            known.append(self._count_more(this, need))
            this.more.append((need, known[0]))
        return known[0]

    def _count_more(self, this, need):
        own = [each.id for each in this.lease.reservations]
        wish = booking.Wish('', need)
        with self._core.database.reader() as connection:
            held = allocations.of_reservations(connection, own)
        if not held:
            return math.ceil(this.share * _copies(self._plan(this, wish)))
        total = _copies(self._plan(this, wish, own))
        free = self._plan(this, wish)
        count = _copies(free)
        last = max(given.start for given in held)
        if count and count < total and not self._left_over(this, need, free, last):
            return math.ceil(this.share * count)
        return max(0, math.ceil(this.share * total) - (total - count))

    def _plan(self, this, wish, ignoring=()):
        return self._booking.plan([wish], this.span, this.now, this.avoid, ignoring=ignoring)

    def _left_over(self, this, need, free, last):
        """Return whether others left some of the free copies unused since the `last` hold-back."""
        cleaning = datetime.timedelta(minutes=self._core.conf.manager.cleaning_minutes)
        with self._core.database.reader() as connection:
            released = releases.since(connection, [given.resource_id for given in free], last,
                                      this.span, this.now, cleaning)
        return any(given.copies > sum(_room(amount, need.demand.amount)
                                      for amount in released.get(given.resource_id, ()))
                   for given in free)

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


@dataclasses.dataclass(frozen=True)
class _Try:
    """One try to hold back resources.

    :ivar share: the Fraction of the free copies that may be held back; 0: none in addition.
    :ivar more: pairs (need, how many copies of it may be held back in addition), as `_spread_out`
        returns the needs.
    """

    lease: records.Lease
    span: interval.Interval
    now: datetime.datetime
    avoid: frozenset
    share: fractions.Fraction
    more: list = dataclasses.field(default_factory=list)


def _in_words(wishes, chosen):
    """Return the chosen Allocations for `wishes` in words, such as "2 hosts, 1 address"."""
    called = {(wish.reservation_id, wish.need.key): wish.need.called or wish.need.pool
              for wish in wishes}
    counts = collections.Counter()
    for given in chosen:
        counts[called[given.reservation_id, given.need]] += given.copies
    return ', '.join(shortage.counted(count, name) for name, count in counts.items() if count)


def _at_most(wish, copies):
    demand = dataclasses.replace(wish.need.demand, at_least=0, at_most=copies)
    return dataclasses.replace(wish, need=dataclasses.replace(wish.need, demand=demand))


def _spread_out(need):
    """Return a need for all copies there are, which may be on different resources.

    It is the same for all needs that differ in their keys and in how much they need.
    """
    spread = need.demand.spread
    if spread is selection.Spread.TOGETHER:
        spread = selection.Spread.ANY
    return dataclasses.replace(need, key='', demand=dataclasses.replace(
        need.demand, at_least=0, at_most=_ALL, spread=spread, keep=()))


def _copies(chosen):
    return sum(given.copies for given in chosen)


def _room(released, amount):
    """Return the most copies of an amount for which a released amount made room."""
    if released is selection.WHOLE or amount is selection.WHOLE:
        return _ALL
    return max(-(-released.get(name, 0) // units) for name, units in amount.items() if units > 0)
