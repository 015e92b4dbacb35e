# SPDX-License-Identifier: Apache-2.0
"""The search for later starts at which demands fit, on a grid of equal time slots.

A slot counts as booked if any part of it is booked. So each start that is found really fits, but a
start within an earlier slot may fit, too.
"""
import numpy as np

from climate.db import booking_columns
from climate.domain import selection

# A window has at most this number of slots.
_SLOTS = 360
_HOUR = 3600 * 10 ** 6


class SlotGrid:
    """The slots of a window, and the bookings of each resource in them.

    :param count: the number of resources.
    :param window: an Interval.
    :param margin: the microseconds that are kept free before and after each booking.
    """

    def __init__(self, count, window, margin):
        self._origin = booking_columns.microseconds(window.start)
        length = booking_columns.microseconds(window.end) - self._origin
        # The length of a slot, in microseconds.
        self._slot = max(_HOUR, -(-length // _SLOTS))
        self._number = int(length // self._slot)
        self._margin = margin
        self._booked = np.zeros((count, self._number), np.int32)
        # For each resource: the number of booked slots before each slot.
        self._before = np.zeros((count, self._number + 1), np.int32)
        self._stale = set()
        # {key of demands: [(counts, slots, first slot)]} of the searches that found no start.
        self._hopeless = {}

    def mark(self, place, start, end, change):
        """Add (`change` 1) or remove (-1) a booking of the resource with the index `place`."""
        first, last = self._slots(start, end)
        if last > first:
            self._booked[place, first:last] += change
            self._stale.add(place)
        if change < 0:
            self._hopeless.clear()

    def starts(self, demands, span, pool):
        """Yield later starts for `span`, in order, at which each of the demands fits by itself.

        :param pool: the PoolCopy that has the bookings.
        """
        length = booking_columns.microseconds(span.end) - booking_columns.microseconds(span.start)
        slots = max(1, -(-length // self._slot))
        first = max(0, -(-(booking_columns.microseconds(span.start) - self._origin) // self._slot))
        if first + slots > self._number or self._is_hopeless(demands, slots, first):
            return
        fitting = np.ones(self._number - slots + 1, bool)
        for masked in demands:
            fitting &= self._fits(masked, slots, pool)
        offsets = np.flatnonzero(fitting[first:])
        if not len(offsets):
            self._hopeless.setdefault(_key(demands), []).append((_counts(demands), slots, first))
        for offset in offsets.tolist():
            yield booking_columns.moment(self._origin + (first + offset) * self._slot)

    def _is_hopeless(self, demands, slots, first):
        """Return whether a search that was easier than this one has found no start."""
        counts = _counts(demands)
        return any(all(lower <= count for lower, count in zip(lower_counts, counts, strict=True))
                   and fewer_slots <= slots and earlier_first <= first
                   for lower_counts, fewer_slots, earlier_first in self._hopeless.get(
                       _key(demands), ()))

    def _fits(self, masked, slots, pool):
        demand = masked.demand
        if demand.amount is selection.WHOLE:
            for place in self._stale:
                np.cumsum(self._booked[place] > 0, out=self._before[place, 1:])
            self._stale.clear()
            before = self._before[masked.matching]
            free = (before[:, slots:] == before[:, :-slots]).sum(axis=0)
            return free >= demand.at_least
        # For each slot, the copies that fit in this slot and in the next `slots` - 1 slots.
        copies = np.lib.stride_tricks.sliding_window_view(
            self._copies(demand.amount, masked.matching, pool), slots, axis=1).min(axis=2)
        if demand.spread is selection.Spread.TOGETHER:
            return copies.max(axis=0, initial=0) >= demand.at_least
        if demand.spread is selection.Spread.APART:
            copies = np.minimum(copies, 1)
        return copies.sum(axis=0) >= demand.at_least

    def _copies(self, amount, matching, pool):
        """Return the copies of an amount that fit on each matching resource in each slot."""
        (rows, kinds), capacities = pool.columns(), pool.capacities
        copies_free = None
        shape = self._booked.shape[0], self._number + 1
        for name, units in amount.items():
            if units <= 0:
                continue
            used = np.zeros(shape, np.int64)
            for place, start, end, kind in rows.T.tolist():
                booked, copies = kinds[kind]
                first, last = self._slots(start, end)
                if last > first:
                    # A booking of the whole resource leaves no units.
                    count = (capacities[place].get(name, 0) if booked is selection.WHOLE
                             else booked.get(name, 0) * copies)
                    used[place, first] += count
                    used[place, last] -= count
            capacity = np.array([units_of.get(name, 0) for units_of in capacities], np.int64)
            of_class = (capacity[:, None] - np.cumsum(used, axis=1)[:, :-1]) // units
            copies_free = of_class if copies_free is None else np.minimum(copies_free, of_class)
        return copies_free[matching].clip(0)

    def _slots(self, start, end):
        first = (start - self._margin - self._origin) // self._slot
        last = -(-(end + self._margin - self._origin) // self._slot)
        return max(0, int(first)), min(self._number, int(last))


def _key(demands):
    return tuple((masked.matching.tobytes(), masked.demand.spread,
                  None if masked.demand.amount is selection.WHOLE
                  else tuple(sorted(masked.demand.amount.items()))) for masked in demands)


def _counts(demands):
    return tuple(masked.demand.at_least for masked in demands)
