# SPDX-License-Identifier: Apache-2.0
"""The conditions of one booking: its span, its reservations, and the configured rules."""
import dataclasses
import datetime
import random

from climate.db import allocations
from climate.domain import interval


@dataclasses.dataclass(frozen=True)
class BookingTerms:
    """The conditions of one booking.

    :ivar own: ids of the reservations that are booked.
    :ivar replaced: ids of the reservations whose allocations do not count, because new ones replace
        them, and ids of the blocks of sick resources that the lease uses.
    :ivar avoid: ids of resources that must not be chosen.
    :ivar cleaning: the time kept free between two bookings of a resource.
    :ivar grace: a booking that starts within this time needs resources that are already free in
        the cloud.
    :ivar longest_pause: the longest time between two attempts to end a lease.
    :ivar ahead: bookings that start within this time do not get resources that are out of service.
    :ivar kept: ids of resources that the reservations have.
    :ivar lost: the number of races for free resources that this booking has lost. After each lost
        race, resources are taken in another random order instead of the order of their ids.
    :ivar explains: whether a refusal is explained, which takes longer than the refusal.
    """

    span: interval.Interval
    now: datetime.datetime
    own: frozenset
    replaced: frozenset
    avoid: frozenset
    cleaning: datetime.timedelta
    grace: datetime.timedelta
    longest_pause: datetime.timedelta
    ahead: datetime.timedelta
    kept: frozenset
    lost: int = 0
    explains: bool = True

    @property
    def soon(self):
        """True if the chosen resources must already be free in the cloud."""
        return self.span.start <= self.now + self.grace

    @property
    def must_be_well(self):
        """True if resources that are out of service must not be chosen, unless they are kept.

        Their blocks do not suffice: when a lease leaves such a resource, the block has a gap until
        the next health check.
        """
        return self.span.start < self.now + self.ahead

    def may_have(self, resource):
        """Return True unless a resource is lent to a reservation that is not in `own`."""
        return resource.lent_to in {None, *self.own}

    def booked(self, connection, ids, span):
        """Return the bookings except those of `replaced`, with cleaning time before and after each.

        If the span starts soon, overdue allocations are included.

        :param ids: the ids of the resources.
        :returns: {resource id: [(Interval, amount)]}.
        """
        bookings = allocations.bookings(connection, ids, span.widened(self.cleaning),
                                        ignoring=self.replaced)
        booked = {key: [(booking.widened(self.cleaning), amount) for booking, amount in pairs]
                  for key, pairs in bookings.items()}
        for key, late in self.overdue(connection, ids).items():
            booked.setdefault(key, []).extend((self.while_overdue, amount) for _, amount in late)
        return booked

    @property
    def while_overdue(self):
        """The Interval in which an overdue allocation blocks its resource."""
        return interval.Interval(self.span.start, self.now + self.grace + interval.RESOLUTION)

    def in_order(self, ids):
        """Return resource ids in the order of preference: unchanged, or shuffled after a lost race.

        Concurrent bookings find the same first resources free. After a lost race, each booking
        shuffles the ids with a different seed, so that they do not compete for the same resources
        again.
        """
        if not self.lost:
            return ids
        return random.Random(f'{sorted(self.own)} {self.lost}').sample(ids, len(ids))

    def overdue(self, connection, ids=None):
        """Return ``allocations.overdue`` if the span starts soon, else {}.

        Before a later start, the cloud may still release the resources.
        """
        return allocations.overdue(connection, self.now, self.now + self.longest_pause, ids,
                                   self.replaced) if self.soon else {}


def longest_pause(conf):
    """Return the longest time between two attempts of an action, by the options of [manager]."""
    # The last two options apply to an end that was given up and is tried again.
    return datetime.timedelta(seconds=max(conf.retry_longest_seconds, conf.busy_seconds,
                                          conf.heal_seconds, conf.heal_longest_seconds))
