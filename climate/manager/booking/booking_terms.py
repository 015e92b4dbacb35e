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

    :ivar own: ids of the reservations that may hold the resources.
    :ivar replaced: ids of the reservations whose allocations the new ones replace, and of blocks of
        sick resources that the lease uses.
    :ivar avoid: ids of resources that must not be chosen.
    :ivar cleaning: the time kept free between two bookings of a resource.
    :ivar grace: a booking that starts within this time needs resources that are already free in
        the cloud.
    :ivar longest_pause: the longest time between two tries of a lease end that fails.
    :ivar ahead: the time ahead in which resources that are out of service are kept free of leases.
    :ivar kept: ids of resources that the reservations have.
    :ivar lost: the number of races for free resources that this booking has lost. If it is 0,
        resources are taken in the order of their ids; otherwise in a random order, another one each
        time.
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

    @property
    def soon(self):
        """True if the chosen resources must already be free in the cloud."""
        return self.span.start <= self.now + self.grace

    @property
    def must_be_well(self):
        """True if resources that are out of service must not be chosen, unless they are kept.

        Their blocks have a gap where a lease has just left, until the next health check.
        """
        return self.span.start < self.now + self.ahead

    def may_have(self, resource):
        """Return False if the resource is lent to another reservation, else True."""
        return resource.lent_to in {None, *self.own}

    def booked(self, connection, ids, span):
        """Return the bookings of others on resources, with cleaning time before and after each.

        Overdue bookings that conflict are among them.

        :returns: {resource id: [(Interval, amount)]}.
        """
        bookings = allocations.bookings(connection, ids, span.widened(self.cleaning),
                                        ignoring=self.replaced)
        booked = {key: [(each.widened(self.cleaning), amount) for each, amount in taken]
                  for key, taken in bookings.items()}
        for key, taken in self.overdue(connection, ids).items():
            booked.setdefault(key, []).extend((self.while_overdue, amount)
                                              for _, amount in taken)
        return booked

    @property
    def while_overdue(self):
        """The Interval in which an overdue booking blocks its resource."""
        return interval.Interval(self.span.start, self.now + self.grace + interval.RESOLUTION)

    def in_order(self, ids):
        """Return the ids in the order in which to take them: unchanged, or shuffled after a race.

        All bookings that plan at the same moment find the same first resources free. After a lost
        race, each booking shuffles the ids with a seed of its own, so that the bookings do not
        compete for the same resources again.
        """
        if not self.lost:
            return ids
        return random.Random(f'{sorted(self.own)} {self.lost}').sample(ids, len(ids))

    def overdue(self, connection, ids=None):
        """Return ``allocations.overdue``, or {} if they may be released before the span starts."""
        return allocations.overdue(connection, self.now, self.now + self.longest_pause, ids,
                                   self.replaced) if self.soon else {}


def longest_pause(conf):
    """Return the longest time between two tries of an action, by the options of [manager]."""
    # The last two are those of an end that was given up and is tried again.
    return datetime.timedelta(seconds=max(conf.retry_longest_seconds, conf.busy_seconds,
                                          conf.heal_seconds, conf.heal_longest_seconds))
