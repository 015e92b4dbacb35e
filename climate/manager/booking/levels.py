# SPDX-License-Identifier: Apache-2.0
"""The number of copies of an amount that fit on each resource over time, computed with arrays."""
import numpy as np

from climate.domain import selection


class Levels:
    """The free copies on each resource over time: ``domain.booked_capacity`` for all at once."""

    def __init__(self, amount, capacities, taken):
        """Add up the bookings.

        :param capacities: {class: units} of each resource, in the order of their places.
        :param taken: a timeline.Taken of those places.
        """
        names = [name for name, units in amount.items() if units > 0]
        units = np.array([amount[name] for name in names], np.int64)
        capacity = np.array([[each.get(name, 0) for name in names] for each in capacities],
                            np.int64).reshape(-1, len(names))
        #: How many copies fit on each resource while nothing is booked on it.
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
        """Return how many copies are free on each resource from the beginning until `end`."""
        found = self.empty.copy()
        # What is free from one change on stays until the next change on the same resource. Between
        # two changes at one moment nothing is.
        same = (self._places[:-1] == self._places[1:]) & (self._times[:-1] < self._times[1:])
        rows = np.flatnonzero(same & (self._times[:-1] < end) & (self._times[1:] > 0))
        np.minimum.at(found, self._places[rows], self._free[rows])
        return np.maximum(found, 0)


def _units(amount, copies, names):
    """Return a row: 1 if the whole resource is taken, else 0; then the units of each class."""
    if amount is selection.WHOLE:
        return [1, *(0 for _ in names)]
    return [0, *(amount.get(name, 0) * copies for name in names)]
