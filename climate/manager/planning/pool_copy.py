# SPDX-License-Identifier: Apache-2.0
"""A copy of a pool in memory: its resources, and their bookings over time."""
import contextlib
import dataclasses
import itertools
import json

import numpy as np

from climate import errors
from climate.db import booking_columns
from climate.domain import interval
from climate.domain import joint_selection
from climate.domain import selection
from climate.manager.booking import prefilter
from climate.manager.planning import slot_grid

_GROWTH = 4096
# The number of later starts that `choose_later` tries.
_TRIES = 20


@dataclasses.dataclass(frozen=True)
class MaskedDemand:
    """The demand of a need, and the resources that meet its criteria.

    :ivar matching: a mask of booleans over ``PoolCopy.ids``.
    """

    demand: selection.Demand
    matching: np.ndarray


class PoolCopy:
    """A pool in memory, to which bookings can be added. At first it has none.

    :param capacities: {resource id: JSON text of {class: units}}.
    :param cleaning: the time kept free before and after each booking.
    :param window: the Interval that `choose_later` searches.
    :ivar ids: the sorted ids of the resources.
    """

    def __init__(self, capacities, cleaning, window):
        self.ids = np.array(sorted(capacities), np.int64)
        self._capacities = [(key, capacities[key]) for key in self.ids.tolist()]
        self._margin = cleaning // interval.RESOLUTION
        # Each column is a booking: the index of its resource in `ids`, its start and end, the index
        # of its kind in `_amounts`, and 1, or 0 if it is released.
        self._rows = np.zeros((5, _GROWTH), np.int64)
        self._size = 0
        self._amounts, self._kinds, self._owners = [], {}, {}
        self._grid = slot_grid.SlotGrid(len(self.ids), window, self._margin)
        #: {class: units} of each resource.
        self.capacities = [json.loads(text) for _, text in self._capacities]

    def add(self, owner, bookings):
        """Add bookings of an owner.

        :param owner: the name by which `release` finds them.
        :param bookings: an iterable of (resource id, Interval, amount or selection.WHOLE, copies).
            Bookings of unknown resources are left out.
        """
        for resource_id, span, amount, copies in bookings:
            place = int(np.searchsorted(self.ids, resource_id))
            if place == len(self.ids) or self.ids[place] != resource_id:
                continue
            if self._size == self._rows.shape[1]:
                self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)], axis=1)
            start, end = (booking_columns.microseconds(each) for each in (span.start, span.end))
            self._rows[:, self._size] = place, start, end, self._kind(amount, copies), 1
            self._grid.mark(place, start, end, 1)
            self._owners.setdefault(owner, []).append(self._size)
            self._size += 1

    def release(self, owner):
        """Remove the bookings of an owner, if it has any."""
        for row in self._owners.pop(owner, ()):
            self._rows[4, row] = 0
            self._grid.mark(*self._rows[:3, row].tolist(), -1)

    def columns(self):
        """Return (the rows of resource, start, end and kind; [(amount, copies)] of the kinds)."""
        rows = self._rows[:, :self._size]
        return rows[:4, rows[4] == 1], self._amounts

    def places_of(self, owner):
        """Return the indices of the columns that are bookings of an owner."""
        rows = self._owners.get(owner, [])
        return np.cumsum(self._rows[4, :self._size])[rows] - 1

    def choose(self, demands, span):
        """Return the selection.Picks of each MaskedDemand during `span`.

        :raises NotEnough: the demands do not all fit.
        """
        rows = self._touching(span)
        if all(masked.demand.amount is selection.WHOLE for masked in demands):
            return self._choose_whole(demands, rows, span)
        bookings = booking_columns.Bookings(self.ids[rows[0]], rows[1] - self._margin,
                                            rows[2] + self._margin, rows[3], self._amounts)
        return prefilter.choose([prefilter.CandidateDemand(masked.demand, prefilter.CandidateSet(
            [self._capacities[place] for place in np.flatnonzero(masked.matching)], [bookings]))
                                 for masked in demands], span)

    def choose_later(self, demands, span):
        """Return (a later Interval of the same length, the picks during it), or None.

        It tries the first `_TRIES` starts in the window at which each demand fits by itself.
        """
        for start in itertools.islice(self._grid.starts(demands, span, self), _TRIES):
            later = interval.Interval(start, start + span.duration)
            with contextlib.suppress(errors.NotEnough):
                return later, self.choose(demands, later)
        return None

    def _choose_whole(self, demands, rows, span):
        free = np.ones(len(self.ids), bool)
        free[rows[0]] = False
        # The first free resources are enough, unless several demands compete for them.
        count = prefilter.most(masked.demand for masked in demands)
        try:
            return joint_selection.choose(
                [self._with_candidates(masked, free, count) for masked in demands], span)
        except errors.NotEnough:
            if len(demands) == 1:
                raise
        return joint_selection.choose(
            [self._with_candidates(masked, free, None) for masked in demands], span)

    def _with_candidates(self, masked, free, count):
        """Return a ReservationDemand whose candidates are `count` free resources; None means all.

        Resources that the lease keeps are always candidates.
        """
        places = np.flatnonzero(free & masked.matching)
        if count is not None and len(places) > count:
            kept = np.searchsorted(self.ids, [pick.resource_id for pick in masked.demand.keep])
            places = np.union1d(places[:count], np.intersect1d(places, kept))
        return joint_selection.ReservationDemand(masked.demand, [
            selection.Candidate(key, {}) for key in self.ids[places].tolist()])

    def _touching(self, span):
        rows = self._rows[:, :self._size]
        start, end = (booking_columns.microseconds(each) for each in (span.start, span.end))
        return rows[:4, np.flatnonzero((rows[1] < end + self._margin)
                                       & (rows[2] > start - self._margin) & (rows[4] == 1))]

    def _kind(self, amount, copies):
        key = (None if amount is selection.WHOLE else tuple(sorted(amount.items())), copies)
        if key not in self._kinds:
            self._kinds[key] = len(self._amounts)
            self._amounts.append((amount, copies))
        return self._kinds[key]
