# SPDX-License-Identifier: Apache-2.0
"""The search for the earliest later start at which demands fit, on a grid of equal slots of time.

A slot counts as booked if any part of it is. So each start that is found really fits, though an
earlier one within the slot may fit, too.
"""
import numpy as np

from climate.db import booking_columns
from climate.domain import interval
from climate.domain import selection

_SLOTS = 360
_SHORTEST = 3600 * 10 ** 6


class SlotGrid:
    """The slots of a window, and in which of them each resource is booked.

    :param count: the number of resources.
    :param window: the Interval.
    :param margin: the microseconds that are kept free before and after each booking.
    """

    def __init__(self, count, window, margin):
        self._origin = booking_columns.microseconds(window.start)
        length = booking_columns.microseconds(window.end) - self._origin
        self._slot = max(_SHORTEST, -(-length // _SLOTS))
        self._number = int(length // self._slot)
        self._margin = margin
        self._booked = np.zeros((count, self._number), np.int32)
        # For each resource: the number of booked slots before each slot.
        self._before = np.zeros((count, self._number + 1), np.int32)
        self._stale = set()
        self._hopeless = {}

    def mark(self, place, start, end, change):
        """Count one booking more (`change` 1) or less (-1) of a resource."""
        first, last = self._slots(start, end)
        if last > first:
            self._booked[place, first:last] += change
            self._stale.add(place)
        if change < 0:
            self._hopeless.clear()

    def starts(self, asks, span, pool):
        """Yield moments after the start of `span` at which each of the asks fits by itself.

        :param pool: the PoolCopy that has the bookings.
        """
        length = booking_columns.microseconds(span.end) - booking_columns.microseconds(span.start)
        slots = max(1, -(-length // self._slot))
        first = max(0, -(-(booking_columns.microseconds(span.start) - self._origin) // self._slot))
        if first + slots > self._number or self._is_hopeless(asks, slots, first):
            return
        fitting = np.ones(self._number - slots + 1, bool)
        for ask in asks:
            fitting &= self._fits(ask, slots, pool)
        places = np.flatnonzero(fitting[first:])
        if not len(places):
            self._hopeless.setdefault(_key(asks), []).append((_least(asks), slots, first))
        for place in places.tolist():
            yield booking_columns.moment(self._origin + (first + place) * self._slot)

    def _is_hopeless(self, asks, slots, first):
        """Return whether an earlier search for a smaller demand, over more time, found nothing."""
        return any(all(has <= wants for has, wants in zip(least, _least(asks), strict=True))
                   and length <= slots and since <= first
                   for least, length, since in self._hopeless.get(_key(asks), ()))

    def _fits(self, ask, slots, pool):
        demand = ask.demand
        if demand.amount is selection.WHOLE:
            for place in self._stale:
                np.cumsum(self._booked[place] > 0, out=self._before[place, 1:])
            self._stale.clear()
            before = self._before[ask.matching]
            free = (before[:, slots:] == before[:, :-slots]).sum(axis=0)
            return free >= demand.at_least
        copies = _lowest(self._copies(demand.amount, ask.matching, pool), slots)
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
                each, copies = kinds[kind]
                first, last = self._slots(start, end)
                if last > first:
                    # A whole resource leaves nothing.
                    count = (capacities[place].get(name, 0) if each is selection.WHOLE
                             else each.get(name, 0) * copies)
                    used[place, first] += count
                    used[place, last] -= count
            capacity = np.array([each.get(name, 0) for each in capacities], np.int64)
            left = (capacity[:, None] - np.cumsum(used, axis=1)[:, :-1]) // units
            copies_free = left if copies_free is None else np.minimum(copies_free, left)
        return copies_free[matching].clip(0)

    def _slots(self, start, end):
        first = (start - self._margin - self._origin) // self._slot
        last = -(-(end + self._margin - self._origin) // self._slot)
        return max(0, int(first)), min(self._number, int(last))


def _lowest(values, width):
    """Return the lowest value of each `width` neighbours in each row."""
    windows = np.lib.stride_tricks.sliding_window_view(values, width, axis=1)
    return windows.min(axis=2)


def _key(asks):
    return tuple((ask.matching.tobytes(), ask.demand.spread,
                  None if ask.demand.amount is selection.WHOLE
                  else tuple(sorted(ask.demand.amount.items()))) for ask in asks)


def _least(asks):
    return tuple(ask.demand.at_least for ask in asks)


def at(span, moment):
    """Return an interval of the same length that begins at `moment`."""
    return interval.Interval(moment, moment + span.duration)
