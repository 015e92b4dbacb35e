# SPDX-License-Identifier: Apache-2.0
"""The quick form of ``domain.calendar.Calendar``: the same answers from arrays.

All times are whole numbers of microseconds from the beginning of the window on.
"""
import numpy as np

from climate.domain import interval


class Ranges:
    """When a span may start, and on how many places: a ``domain.calendar.Starts``.

    A place is a resource, or room for one copy on it.
    """

    def __init__(self, window, duration, size, places, starts, ends):
        """Find the gaps in which the places 0 to `size` are free for the duration.

        :param places, starts, ends: columns of equal length: which place is taken, and when.
        """
        self._origin = window.start
        self._latest = (window.duration - duration) // interval.RESOLUTION
        self._places, self._firsts, self._stops = _gaps(
            size, places, starts, ends, duration // interval.RESOLUTION, self._latest)
        self._begins, self._ends = np.sort(self._firsts), np.sort(self._stops)
        # There are more of them only where one begins, and fewer where one ends. Of those of one
        # moment the last has the right count, and the others less (or more).
        ordinal = np.arange(1, len(self._begins) + 1)
        self._at_begins = ordinal - np.searchsorted(self._ends, self._begins, 'right')
        self._at_ends = np.searchsorted(self._begins, self._ends, 'right') - ordinal

    def free(self, moment):
        """The places on which it may start then, in order."""
        time = self._time(moment)
        return np.sort(self._places[(self._firsts <= time) & (time < self._stops)])

    def count(self, moment):
        return int(self.counts(self._time(moment)))

    def counts(self, times):
        """On how many places it may start at each of the times."""
        return (np.searchsorted(self._begins, times, 'right')
                - np.searchsorted(self._ends, times, 'right'))

    def next(self, count, after):
        time = self._time(after)
        if time > self._latest:
            return None
        if self.counts(time) >= count:
            return after
        rest = np.searchsorted(self._begins, time, 'right')
        enough = self._at_begins[rest:] >= count
        place = int(np.argmax(enough)) if len(enough) else 0
        return self._moment(self._begins[rest + place]) if enough.any() else None

    def until(self, count, moment):
        rest = np.searchsorted(self._ends, self._time(moment), 'right')
        fewer = self._at_ends[rest:] < count
        if not fewer.any():
            return self._moment(self._latest)
        return self._moment(self._ends[rest + int(np.argmax(fewer))] - 1)

    def most(self):
        """On how many places it may start at the best moment; 0 where there is none."""
        return int(self._at_begins.max(initial=0))

    def _time(self, moment):
        return (moment - self._origin) // interval.RESOLUTION

    def _moment(self, time):
        return self._origin + int(time) * interval.RESOLUTION


def _gaps(size, places, starts, ends, duration, latest):
    """Columns: (place, the first start that a gap serves, the first after those that it serves)."""
    # What is taken from one time to another keeps a span from all starts between these two.
    begins = np.clip(starts - duration + 1, 0, latest + 1)
    stops = np.clip(ends, 0, latest + 1)
    hinders = begins < stops
    # Before all that hinders, each place has something that ends at once and so hinders nothing.
    owners = np.concatenate([np.arange(size), places[hinders]])
    begins = np.concatenate([np.full(size, latest + 1), begins[hinders]])
    stops = np.concatenate([np.zeros(size, np.int64), stops[hinders]])
    # One number for a place and a time, so that no place sees what belongs to the one before it.
    base = owners * (latest + 2)
    # What is in order for the most part is sorted three times faster so.
    order = np.argsort(base + stops, kind='stable')
    owners, stops, base = owners[order], stops[order], base[order]
    # After each end, the place is free until the first of all that ends later begins.
    soonest = np.minimum.accumulate((base + begins[order])[::-1])[::-1]
    nexts = np.full(len(owners), latest + 1)
    nexts[:-1] = np.minimum(soonest[1:] - base[:-1], latest + 1)
    gaps = stops < nexts
    return owners[gaps], stops[gaps], nexts[gaps]
