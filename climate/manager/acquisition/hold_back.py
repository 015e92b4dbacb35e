# SPDX-License-Identifier: Apache-2.0
"""Hold resources back for the first lease in the queue, so that smaller leases do not starve it."""
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
from climate.manager.booking import wish_lists
from climate.manager.limits import checking
from climate.manager.limits import subjects
from climate.manager.queue import wakeups

# More copies than fit on any resource.
_ALL = 10 ** 9


class HoldBack:
    """Holds back a share of the free resources, as allocations that block all other leases."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        # A Fraction is exact, but a float of 0.2 is a little more than a fifth.
        self._share = fractions.Fraction(str(core.conf.acquire.hold_back_share))

    def take_from_others(self, lease):
        """Release resources that other queued leases hold back; return True if any held some.

        Only the first lease in the queue may do so. Otherwise two leases could each hold back
        resources that the other needs, and both wait for ever.
        """
        with self._core.database.reader() as connection:
            if not wait_queue.is_first(connection, lease.id):
                return False
        return wakeups.release_held_back(self._core, lease)

    def hold(self, lease, wishes, span, now):
        """Hold back resources for a claimed lease that is first in the queue and does not fit.

        A lease never holds back more than it needs. If possible, it keeps the resources that are
        already held back for it.

        The limit is the share [acquire] hold_back_share of all resources that are free or held
        back. If other leases use all the remaining resources, the share of the resources that they
        release is added. Otherwise smaller leases could use the released resources for ever.

        :returns: the resources held back now in words, such as "2 hosts"; '' if there are none.
        :raises ClaimLost: another manager has taken the lease over.
        :raises Withdrawn: the lease is being deleted.
        """
        with self._core.database.reader() as connection:
            if not self._share or not wait_queue.is_first(connection, lease.id):
                return ''
        wishes = [wish for wish in wishes if not wish.need.optional]
        avoid = self._too_small(wishes, span)
        share = 0 if lease.acquisition.by_clock(now) else self._share
        parts = self._parts(_HoldBackAttempt(lease, span, now, avoid, share), wishes)

        limits = checking.applying(self._core, lease.project_id, lease.user_id, now)

        def write(connection, chosen):
            limits.refuse_excess(connection, subjects.of_attempt(
                self._core, lease, chosen, span, acquired=False))
            ownership.current(connection, lease)
            allocations.replace(connection, [each.id for each in lease.reservations], chosen)
            return chosen
        try:
            return _in_words(wishes, self._booking.book(parts, span, now, write, avoid=avoid))
        except errors.LimitExceeded:
            # What is held back already stays; it may exceed a lower limit, but does not grow.
            return ''
        except errors.LostRace:
            # Other requests were faster each time. The next try of the lease holds back more.
            return ''

    def _parts(self, attempt, wishes):
        """Return the Wishes, each reduced to the copies that it keeps and those that are added."""
        used = collections.Counter()
        parts = []
        for wish in wishes:
            least = wish.need.demand.at_least
            copies = min(len(wish.keep), least)
            pool = wish.need.pool
            if copies < least and attempt.share and used[pool] < 1:
                most = self._additional(attempt, _spread_out(wish.need))
                # All needs of a pool use up one common share, even if their copies differ in size.
                added = min(least - copies, int((1 - used[pool]) * most))
                used[pool] += fractions.Fraction(added, most) if added else 0
                copies += added
            parts.append(wish.demanding(at_least=0, at_most=copies))
        return parts

    def _additional(self, attempt, need):
        """Return how many more copies of a need may be held back; compute it once per attempt."""
        for counted_need, count in attempt.additional:
            if counted_need == need:
                return count
        attempt.additional.append((need, self._count_additional(attempt, need)))
        return attempt.additional[-1][1]

    def _count_additional(self, attempt, need):
        own = [each.id for each in attempt.lease.reservations]
        wish = wish_lists.Wish('', need)
        with self._core.database.reader() as connection:
            held = allocations.of_reservations(connection, own)
        if not held:
            return math.ceil(attempt.share * _copies(self._plan(attempt, wish)))
        total = _copies(self._plan(attempt, wish, own))
        free = self._plan(attempt, wish)
        count = _copies(free)
        last = max(allocation.start for allocation in held)
        if count and count < total and not self._left_over(attempt, need, free, last):
            return math.ceil(attempt.share * count)
        return max(0, math.ceil(attempt.share * total) - (total - count))

    def _plan(self, attempt, wish, ignoring=()):
        return self._booking.plan([wish], attempt.span, attempt.now, attempt.avoid,
                                  ignoring=ignoring)

    def _left_over(self, attempt, need, free, last):
        """Return whether other leases have left free copies unused since the `last` hold-back."""
        cleaning = datetime.timedelta(minutes=self._core.conf.manager.cleaning_minutes)
        with self._core.database.reader() as connection:
            released = releases.since(connection, [part.resource_id for part in free], last,
                                      attempt.span, attempt.now, cleaning)
        return any(part.copies > sum(_fitting_copies(amount, need.demand.amount)
                                     for amount in released.get(part.resource_id, ()))
                   for part in free)

    def _too_small(self, wishes, span):
        """Return the ids of resources too small for a wish with all copies on one resource."""
        too_small = set()
        for wish in wishes:
            demand = wish.need.demand
            if demand.spread is not selection.Spread.TOGETHER:
                continue
            with self._core.database.reader() as connection:
                for resource in resources.find(connection, wish.need.pool):
                    candidate = selection.Candidate(resource.id, resource.capacity)
                    if selection.free_slots(demand, [candidate], span) == (0, 0):
                        too_small.add(resource.id)
        return too_small


@dataclasses.dataclass(frozen=True)
class _HoldBackAttempt:
    """One try to hold back resources.

    :ivar share: the Fraction of the free copies that may be held back; 0: no additional copies.
    :ivar additional: pairs (need as `_spread_out` returns it, the number of its copies that may be
        held back in addition).
    """

    lease: records.Lease
    span: interval.Interval
    now: datetime.datetime
    avoid: frozenset
    share: fractions.Fraction
    additional: list = dataclasses.field(default_factory=list)


def _in_words(wishes, chosen):
    """Return the chosen Allocations for `wishes` in words, such as "2 hosts, 1 address"."""
    names = {(wish.reservation_id, wish.need.key): wish.need.called or wish.need.pool
             for wish in wishes}
    counts = collections.Counter()
    for allocation in chosen:
        counts[names[allocation.reservation_id, allocation.need]] += allocation.copies
    return ', '.join(shortage.counted(count, name) for name, count in counts.items() if count)


def _spread_out(need):
    """Return a need for as many copies of the amount as are free, on any number of resources.

    Needs that differ only in their keys and numbers of copies have the same result.
    """
    spread = need.demand.spread
    if spread is selection.Spread.TOGETHER:
        spread = selection.Spread.ANY
    return dataclasses.replace(need, key='', demand=dataclasses.replace(
        need.demand, at_least=0, at_most=_ALL, spread=spread, keep=()))


def _copies(chosen):
    return sum(allocation.copies for allocation in chosen)


def _fitting_copies(released, amount):
    """Return the greatest number of copies of an amount that a released amount allows."""
    if released is selection.WHOLE or amount is selection.WHOLE:
        return _ALL
    return max(-(-released.get(name, 0) // units) for name, units in amount.items() if units > 0)
