# SPDX-License-Identifier: Apache-2.0
"""The fast form of ``domain.free_starts`` and ``domain.booked_capacity``, with arrays.

All times are whole numbers of microseconds from the beginning of the window.
"""
import numpy as np

from climate.domain import interval
from climate.domain import selection


class Ranges:
    """The times at which a span may start, and on how many places: a ``domain.free_starts.Starts``.

    A place is a resource, or a slot for one copy on it.
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
        # The number of free places grows only where a gap begins and falls only where one ends. If
        # several gaps begin (or end) at one moment, only the last of them has the right count.
        ordinal = np.arange(1, len(self._begins) + 1)
        self._at_begins = ordinal - np.searchsorted(self._ends, self._begins, 'right')
        self._at_ends = np.searchsorted(self._begins, self._ends, 'right') - ordinal

    def free(self, moment):
        """Return the sorted places on which the span may start at `moment`."""
        time = self._time(moment)
        return np.sort(self._places[(self._firsts <= time) & (time < self._stops)])

    def count(self, moment):
        return int(self.counts(self._time(moment)))

    def counts(self, times):
        """Return the number of places on which the span may start, for each of the times."""
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
        """Return the number of places on which the span may start at the best moment, or 0."""
        return int(self._at_begins.max(initial=0))

    def steps(self, most):
        """Return the first `most` moments at which the number of places changes, with the number.

        :returns: pairs (moment, number) in order; the first is at the beginning of the window.
        """
        times = np.unique(np.concatenate([[0], self._begins, self._ends]))
        times = times[times <= self._latest]
        counts = self.counts(times)
        changed = np.flatnonzero(np.diff(counts, prepend=-1))[:most]
        return [(self._moment(times[each]), int(counts[each])) for each in changed]

    def _time(self, moment):
        return (moment - self._origin) // interval.RESOLUTION

    def _moment(self, time):
        return self._origin + int(time) * interval.RESOLUTION


class Levels:
    """The free copies on each resource over time: ``domain.booked_capacity`` for all at once."""

    def __init__(self, amount, capacities, taken):
        """Add up the bookings.

        :param capacities: {class: units} of each resource, in the order of their places.
        :param taken: the ``pool_bookings.Taken`` of those places.
        """
        names = [name for name, units in amount.items() if units > 0]
        units = np.array([amount[name] for name in names], np.int64)
        capacity = np.array([[each.get(name, 0) for name in names] for each in capacities],
                            np.int64).reshape(-1, len(names))
        #: The number of copies that fit on each resource without bookings.
        self.empty = (capacity // units).min(axis=1) if len(capacities) else np.zeros(0, np.int64)
        # The change of usage at the beginning of each booking; its end undoes it.
        table = np.array([_units(each, copies, names) for each, copies in taken.amounts],
                         np.int64).reshape(-1, len(names) + 1)
        change = table[taken.kinds]
        times = np.concatenate([taken.starts, taken.ends])
        places = np.concatenate([taken.places, taken.places])
        order = np.lexsort((times, places))
        self._times, self._places = times[order], places[order]
        used = np.cumsum(np.concatenate([change, -change])[order], axis=0)
        self._free = ((capacity[self._places] - used[:, 1:]) // units).min(axis=1, initial=2 ** 62)
        self._free[used[:, 0] > 0] = 0

    def below(self, level):
        """Return columns (places, starts, ends): when fewer copies than `level` are free."""
        less = (self._free[:-1] < level) & (self._places[:-1] == self._places[1:])
        return self._places[:-1][less], self._times[:-1][less], self._times[1:][less]

    def throughout(self, end):
        """Return the copies that are free on each resource from the beginning until `end`."""
        free = self.empty.copy()
        # The free copies after a change stay the same until the next change on the same resource.
        same = (self._places[:-1] == self._places[1:]) & (self._times[:-1] < self._times[1:])
        rows = np.flatnonzero(same & (self._times[:-1] < end) & (self._times[1:] > 0))
        np.minimum.at(free, self._places[rows], self._free[rows])
        return np.maximum(free, 0)


def _units(amount, copies, names):
    """Return a row: 1 if the whole resource is taken, else 0; then the units of each class."""
    if amount is selection.WHOLE:
        return [1, *(0 for _ in names)]
    return [0, *(amount.get(name, 0) * copies for name in names)]


def _gaps(size, places, starts, ends, duration, latest):
    """Return the gaps as columns (place, first possible start, first start that is too late)."""
    # A booking forbids all starts from `duration` before its start until its end.
    begins = np.clip(starts - duration + 1, 0, latest + 1)
    stops = np.clip(ends, 0, latest + 1)
    hinders = begins < stops
    # Each place gets an empty booking at time 0, so that the first gap begins like all others:
    # after the end of a booking.
    owners = np.concatenate([np.arange(size), places[hinders]])
    begins = np.concatenate([np.full(size, latest + 1), begins[hinders]])
    stops = np.concatenate([np.zeros(size, np.int64), stops[hinders]])
    # Place and time make one number, so that the bookings of two places never mix.
    base = owners * (latest + 2)
    # The stable sort is three times faster because the rows are mostly in order already.
    order = np.argsort(base + stops, kind='stable')
    owners, stops, base = owners[order], stops[order], base[order]
    # After each end, the place is free until the earliest start of the bookings that end later.
    soonest = np.minimum.accumulate((base + begins[order])[::-1])[::-1]
    nexts = np.full(len(owners), latest + 1)
    nexts[:-1] = np.minimum(soonest[1:] - base[:-1], latest + 1)
    gaps = stops < nexts
    return owners[gaps], stops[gaps], nexts[gaps]
