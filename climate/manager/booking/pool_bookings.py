# SPDX-License-Identifier: Apache-2.0
"""The bookings of a pool in a window of time, as arrays.

A place is the index of a resource among the resources of the pool.
"""
import collections
import dataclasses

import numpy as np

from climate.db import allocations
from climate.db import booking_columns
from climate.domain import interval
from climate.domain import joint_selection
from climate.domain import selection
from climate.manager.booking import criteria
from climate.manager.booking import start_ranges


@dataclasses.dataclass(frozen=True)
class Taken:
    """Bookings as columns of equal length, ordered by place and end.

    :ivar starts: microseconds from the beginning of the window, like `ends`.
    :ivar kinds: indices into `amounts`, the pairs (amount, copies) of ``booking_columns.Bookings``.
    """

    places: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    kinds: np.ndarray
    amounts: list

    def where(self, rows):
        """Return a Taken with some of the rows.

        :param rows: a mask of booleans, or indices.
        """
        return dataclasses.replace(self, **{name: getattr(self, name)[rows] for name in (
            'places', 'starts', 'ends', 'kinds')})


class PoolBookings:
    """The resources of one pool that can be booked, and their bookings during one window."""

    def __init__(self, connection, pool, terms, window, with_amounts, resources=None):
        """Read the pool.

        :param with_amounts: read the booked amounts; if False, each booking counts as whole.
        :param resources: the resources, if other PoolBookings of the pool have read them.
        """
        self._window = window
        self.resources = resources or {
            key: resource
            for key, resource in allocations.reservable_resources(connection, pool).items()
            if key not in terms.avoid and terms.may_have(resource)}
        self._ids = np.array(list(self.resources), np.int64)
        self._taken = self._in_places(*self._columns(connection, pool, terms, with_amounts))

    def matching(self, core, connection, need):
        """Return the sorted places of the resources that meet the criteria of a need."""
        ids = criteria.matching(core, connection, need, self.resources)
        return np.searchsorted(self._ids, np.array(ids, np.int64))

    def ids(self, places):
        return self._ids[places]

    def ranges(self, demand, matching, duration):
        """Return the Ranges of a demand on the places `matching`.

        For an amount, each place of the Ranges is a slot for one copy; see `_copies`.
        """
        taken = self._on(matching)
        if demand.amount is selection.WHOLE:
            return start_ranges.Ranges(self._window, duration, len(matching), taken.places,
                                       taken.starts, taken.ends)
        return start_ranges.Ranges(self._window, duration, *_copies(
            self._levels(demand, matching, taken), demand))

    def copies(self, demand, matching):
        """Return ([(moment, number of free copies of an amount from then on)], total number).

        The first moment is the beginning of the window. Each number differs from the one before.
        """
        levels = self._levels(demand, matching, self._on(matching))
        times, counts = levels.totals()
        shown = np.flatnonzero((np.diff(counts, prepend=-1) != 0)
                               & (times < self._window.duration // interval.RESOLUTION))
        return [(self._window.start + int(times[index]) * interval.RESOLUTION, int(counts[index]))
                for index in shown], int(levels.empty.sum())

    def _on(self, matching):
        """Return the Taken of the matching resources; its places are indices into `matching`."""
        new_places = np.full(len(self._ids), -1)
        new_places[matching] = np.arange(len(matching))
        places = new_places[self._taken.places]
        return dataclasses.replace(self._taken, places=places).where(places >= 0)

    def _levels(self, demand, matching, taken):
        return start_ranges.Levels(demand.amount, [
            self.resources[int(key)].capacity for key in self._ids[matching]], taken)

    def copies_at_start(self, demand, matching, duration):
        """Return the number of copies that are free for a duration from the start of the window.

        The number may exceed the demand.
        """
        end = duration // interval.RESOLUTION
        taken = self._on(matching)
        if demand.amount is selection.WHOLE:
            busy = taken.places[(taken.starts < end) & (taken.ends > 0)]
            return len(matching) - len(np.unique(busy))
        free = self._levels(demand, matching, taken).throughout(end)
        if demand.spread is selection.Spread.TOGETHER:
            return int(free.max(initial=0))
        return int(np.minimum(free, 1).sum() if demand.spread is selection.Spread.APART
                   else free.sum())

    def times(self, duration):
        """Return the sorted start times at which the bookings during a span change.

        :param duration: the duration of the span.
        :returns: microseconds from the beginning of the window.
        """
        latest = (self._window.duration - duration) // interval.RESOLUTION
        times = np.concatenate([[0], self._taken.ends,
                                self._taken.starts - duration // interval.RESOLUTION + 1])
        return np.unique(times[(times >= 0) & (times <= latest)])

    def reservation_demands(self, demands, span):
        """Yield the joint_selection.ReservationDemand of each demand during `span`.

        :param demands: pairs (Demand, matching places).
        """
        start, end = ((moment - self._window.start) // interval.RESOLUTION
                      for moment in (span.start, span.end))
        taken = self._taken.where((self._taken.starts < end) & (self._taken.ends > start))
        booked = collections.defaultdict(list)
        for place, begin, stop, kind in zip(*(column.tolist() for column in (
                taken.places, taken.starts, taken.ends, taken.kinds)), strict=True):
            amount, copies = taken.amounts[kind]
            booked[place] += [(self._interval(begin, stop), amount)] * copies
        for demand, matching in demands:
            places = matching.tolist()
            if demand.amount is selection.WHOLE:
                places = [place for place in places if place not in booked]
            yield joint_selection.ReservationDemand(demand, [
                selection.Candidate(key, self.resources[key].capacity, tuple(booked.get(place, ())))
                for place, key in zip(places, self._ids[places].tolist(), strict=True)])

    def _interval(self, begin, stop):
        return interval.Interval(self._window.start + begin * interval.RESOLUTION,
                                 self._window.start + stop * interval.RESOLUTION)

    def _columns(self, connection, pool, terms, with_amounts):
        """Return ((resource ids, starts, ends, kinds), amounts) of all bookings in the window."""
        booked = booking_columns.of_pool(connection, pool, self._window.widened(terms.cleaning),
                                         terms.replaced, with_amounts)
        origin = booking_columns.microseconds(self._window.start)
        margin = terms.cleaning // interval.RESOLUTION
        columns = [(booked.owners, booked.starts - origin - margin, booked.ends - origin + margin,
                    booked.kinds)]
        amounts = list(booked.amounts)
        if terms.soon:
            # A resource that is still occupied in the cloud is not free for a span that starts
            # soon.
            until = (terms.now + terms.grace - self._window.start) // interval.RESOLUTION + 1
            held = [key for key, resource in self.resources.items()
                    if resource.held_by not in {None, *terms.own}]
            late = [(key, amount) for key, overdue in terms.overdue(connection).items()
                    for _, amount in overdue]
            keys = [*held, *(key for key, _ in late)]
            columns.append((np.array(keys, np.int64), np.zeros(len(keys), np.int64),
                            np.full(len(keys), until), len(amounts) + np.arange(len(keys))))
            amounts += [(selection.WHOLE, 1)] * len(held) + [(amount, 1) for _, amount in late]
        return [np.concatenate(column) for column in zip(*columns, strict=True)], amounts

    def _in_places(self, columns, amounts):
        """Return the Taken of the resources that may be booked."""
        owners, *others = columns
        places = np.searchsorted(self._ids, owners)
        taken = Taken(places, *others, amounts)
        valid = places < len(self._ids)
        valid[valid] = self._ids[places[valid]] == owners[valid]
        # All queries need the rows in this order.
        return taken.where(np.flatnonzero(valid)[np.lexsort((taken.ends[valid], places[valid]))])


def _copies(levels, demand):
    """Return (number of slots, slots, starts, ends): when the slots for an amount are taken.

    The first slot of a resource is free while one copy fits, the second one while two copies fit,
    and so on. If all copies must be together, a resource has a single slot, which is free while
    the least number of copies fits.
    """
    if demand.spread is selection.Spread.TOGETHER:
        counts = [max(demand.at_least, 1)]
    elif demand.spread is selection.Spread.APART:
        counts = [1]
    else:
        counts = range(1, min(demand.at_most, int(levels.empty.max(initial=0))) + 1)
    size, columns = 0, [[np.zeros(0, np.int64)] * 3]
    for count in counts:
        large_enough = np.flatnonzero(levels.empty >= count)
        slot_of = np.full(len(levels.empty), -1)
        slot_of[large_enough] = size + np.arange(len(large_enough))
        places, starts, ends = levels.below(count)
        slots = slot_of[places]
        rows = slots >= 0
        columns.append([slots[rows], starts[rows], ends[rows]])
        size += len(large_enough)
    return size, *(np.concatenate(column) for column in zip(*columns, strict=True))
