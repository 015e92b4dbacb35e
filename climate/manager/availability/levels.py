# SPDX-License-Identifier: Apache-2.0
"""How many copies of an amount have room on each resource over time, from arrays."""
import numpy as np

from climate.domain import fit


class Levels:
    """Of each resource, how many copies are free; as in ``domain.usage``, but for all at once."""

    def __init__(self, amount, capacities, taken):
        """Add up what is taken.

        :param capacities: {class: units} of each resource, in the order of their places.
        :param taken: a board.Taken of those places.
        """
        names = [name for name, units in amount.items() if units > 0]
        units = np.array([amount[name] for name in names], np.int64)
        capacity = np.array([[each.get(name, 0) for name in names] for each in capacities],
                            np.int64).reshape(-1, len(names))
        #: How many copies each resource has room for when nobody has anything of it.
        self.empty = (capacity // units).min(axis=1) if len(capacities) else np.zeros(0, np.int64)
        # What changes at the beginning of what is taken, and back at its end.
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
        """(places, starts, ends): when fewer copies than `level` are free."""
        less = (self._free[:-1] < level) & (self._places[:-1] == self._places[1:])
        return self._places[:-1][less], self._times[:-1][less], self._times[1:][less]


def _units(amount, copies, names):
    """How much of each class is taken, after how many have all of it."""
    if amount is fit.WHOLE:
        return [1, *(0 for _ in names)]
    return [0, *(amount.get(name, 0) * copies for name in names)]
