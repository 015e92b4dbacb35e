# SPDX-License-Identifier: Apache-2.0
"""A copy of a pool in memory: its resources, and their bookings over time."""
import dataclasses
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
# The number of later starts that are tried, at which each demand of a lease fits by itself.
_TRIES = 20


@dataclasses.dataclass(frozen=True)
class MaskedDemand:
    """The demand of a need, and the resources that meet its criteria.

    :ivar matching: a mask of booleans over ``Board.ids``.
    """

    demand: selection.Demand
    matching: np.ndarray


class PoolCopy:
    """The bookings of a pool in columns, which may be added and released.

    :ivar ids: the sorted ids of the resources.
    """

    def __init__(self, capacities, cleaning, window):
        """Begin without bookings.

        :param capacities: {resource id: JSON text of {class: units}}.
        :param cleaning: the time kept free before and after each booking.
        :param window: the Interval in which later starts are looked for.
        """
        self.ids = np.array(sorted(capacities), np.int64)
        self._capacities = [(key, capacities[key]) for key in self.ids.tolist()]
        self._margin = cleaning // interval.RESOLUTION
        # Rows: place, start, end, kind, alive. The columns grow in steps.
        self._rows = np.zeros((5, _GROWTH), np.int64)
        self._size = 0
        self._amounts, self._kinds, self._owners = [], {}, {}
        self._grid = slot_grid.SlotGrid(len(self.ids), window, self._margin)
        #: {class: units} of each resource.
        self.capacities = [json.loads(text) for _, text in self._capacities]

    def add(self, owner, bookings):
        """Add bookings of an owner.

        :param owner: the name by which `release` finds them.
        :param bookings: an iterable of (resource id, Interval, amount or selection.WHOLE, copies);
            those of unknown resources are left out.
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
        """Return (rows of place, start, end and kind; [(amount, copies)] of each kind)."""
        rows = self._rows[:, :self._size]
        return rows[:4, rows[4] == 1], self._amounts

    def places_of(self, owner):
        """Return the indices, among `columns`, of the bookings of an owner."""
        rows = self._owners.get(owner, [])
        return np.cumsum(self._rows[4, :self._size])[rows] - 1

    def choose(self, asks, span):
        """Return the selection.Picks of each Ask during `span`.

        :raises NotEnough: they do not all fit.
        """
        rows = self._touching(span)
        if all(ask.demand.amount is selection.WHOLE for ask in asks):
            return self._choose_whole(asks, rows, span)
        bookings = booking_columns.Bookings(self.ids[rows[0]], rows[1] - self._margin,
                                            rows[2] + self._margin, rows[3], self._amounts)
        return prefilter.choose([prefilter.CandidateDemand(ask.demand, prefilter.CandidateSet(
            [self._capacities[place] for place in np.flatnonzero(ask.matching)], [bookings]))
                                 for ask in asks], span)

    def choose_later(self, asks, span):
        """Return (a later Interval of the same length, the picks) as early as possible, or None.

        Only times that end within the window are searched.
        """
        for tried, start in enumerate(self._grid.starts(asks, span, self)):
            if tried == _TRIES:
                break
            try:
                return slot_grid.at(span, start), self.choose(asks, slot_grid.at(span, start))
            except errors.NotEnough:
                continue
        return None

    def _choose_whole(self, asks, rows, span):
        free = np.ones(len(self.ids), bool)
        free[rows[0]] = False
        # The first free ones are enough, unless several demands compete for the same resources.
        count = prefilter.most(ask.demand for ask in asks)
        try:
            return joint_selection.choose([self._among(ask, free, count) for ask in asks], span)
        except errors.NotEnough:
            if len(asks) == 1:
                raise
        return joint_selection.choose([self._among(ask, free, None) for ask in asks], span)

    def _among(self, ask, free, count):
        places = np.flatnonzero(free & ask.matching)
        if count is not None and len(places) > count:
            kept = np.searchsorted(self.ids, [pick.resource_id for pick in ask.demand.keep])
            places = np.union1d(places[:count], np.intersect1d(places, kept))
        return joint_selection.ReservationDemand(ask.demand, [
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
