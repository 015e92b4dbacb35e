# SPDX-License-Identifier: Apache-2.0
"""The bookings of a pool in a window of time, in arrays."""
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

    :ivar places: the index of the resource in the timeline.
    :ivar starts: microseconds from the beginning of the window; `ends` too.
    :ivar kinds: indices into `amounts`, which are as in ``booking_columns.Bookings``.
    """

    places: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    kinds: np.ndarray
    amounts: list

    def where(self, chosen):
        """Return a Taken with some of the rows.

        :param chosen: a mask of booleans, or the indices of the rows.
        """
        return dataclasses.replace(self, **{name: getattr(self, name)[chosen] for name in (
            'places', 'starts', 'ends', 'kinds')})


class PoolBookings:
    """The resources of one pool that can be booked, and their bookings during one window."""

    def __init__(self, connection, pool, terms, window, parts, resources=None):
        """Read the pool.

        :param parts: whether the allocated amount of a resource matters.
        :param resources: the resources of other PoolBookings of the same pool, to read them only
            once.
        """
        self._window = window
        self.resources = resources or {
            key: each for key, each in allocations.reservable_resources(connection, pool).items()
            if key not in terms.avoid and terms.may_have(each)}
        self._ids = np.array(list(self.resources), np.int64)
        self._taken = self._known(*self._columns(connection, pool, terms, parts))

    def matching(self, core, connection, need):
        """Return the sorted places of the resources that meet the criteria of a need."""
        ids = criteria.matching(core, connection, need, self.resources)
        return np.searchsorted(self._ids, np.array(ids, np.int64))

    def ids(self, places):
        return self._ids[places]

    def ranges(self, demand, matching, duration):
        """Return the Ranges of a demand; their places are resources, or copies on resources."""
        taken = self._of(matching)
        if demand.amount is selection.WHOLE:
            return start_ranges.Ranges(self._window, duration, len(matching), taken.places,
                                       taken.starts, taken.ends)
        return start_ranges.Ranges(self._window, duration, *_copies(
            self._levels(demand, matching, taken), demand))

    def _of(self, matching):
        """Return the Taken of the matching resources; its places are indexes into `matching`."""
        among = np.full(len(self._ids), -1)
        among[matching] = np.arange(len(matching))
        places = among[self._taken.places]
        return dataclasses.replace(self._taken, places=places).where(places >= 0)

    def _levels(self, demand, matching, taken):
        return start_ranges.Levels(demand.amount, [
            self.resources[int(key)].capacity for key in self._ids[matching]], taken)

    def copies_at_start(self, demand, matching, duration):
        """Return the number of copies that are free for a duration from the start of the window.

        Copies beyond the demand count, too.
        """
        end = duration // interval.RESOLUTION
        taken = self._of(matching)
        if demand.amount is selection.WHOLE:
            busy = taken.places[(taken.starts < end) & (taken.ends > 0)]
            return len(matching) - len(np.unique(busy))
        free = self._levels(demand, matching, taken).throughout(end)
        if demand.spread is selection.Spread.TOGETHER:
            return int(free.max(initial=0))
        return int(np.minimum(free, 1).sum() if demand.spread is selection.Spread.APART
                   else free.sum())

    def times(self, duration):
        """Return the sorted start times at which a span of this duration gains or loses a booking.

        :returns: microseconds from the beginning of the window.
        """
        latest = (self._window.duration - duration) // interval.RESOLUTION
        times = np.concatenate([[0], self._taken.ends,
                                self._taken.starts - duration // interval.RESOLUTION + 1])
        return np.unique(times[(times >= 0) & (times <= latest)])

    def asks(self, demands, span):
        """Yield the joint_selection.ReservationDemand of each demand during `span`.

        :param demands: pairs (Demand, matching places).
        """
        start, end = ((each - self._window.start) // interval.RESOLUTION
                      for each in (span.start, span.end))
        taken = self._taken.where((self._taken.starts < end) & (self._taken.ends > start))
        booked = collections.defaultdict(list)
        for place, begin, stop, kind in zip(*(each.tolist() for each in (
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

    def _columns(self, connection, pool, terms, parts):
        """Return ((resource ids, starts, ends, kinds), amounts) of all bookings in the window."""
        booked = booking_columns.of_pool(connection, pool, self._window.widened(terms.cleaning),
                                         terms.replaced, parts)
        origin = booking_columns.microseconds(self._window.start)
        margin = terms.cleaning // interval.RESOLUTION
        columns = [(booked.owners, booked.starts - origin - margin, booked.ends - origin + margin,
                    booked.kinds)]
        amounts = list(booked.amounts)
        if terms.soon:
            # A resource that is still held in the cloud is not free for a span that starts soon.
            until = (terms.now + terms.grace - self._window.start) // interval.RESOLUTION + 1
            held = [key for key, each in self.resources.items()
                    if each.held_by not in {None, *terms.own}]
            late = [(key, amount) for key, taken in terms.overdue(connection).items()
                    for _, amount in taken]
            keys = [*held, *(key for key, _ in late)]
            columns.append((np.array(keys, np.int64), np.zeros(len(keys), np.int64),
                            np.full(len(keys), until), len(amounts) + np.arange(len(keys))))
            amounts += [(selection.WHOLE, 1)] * len(held) + [(amount, 1) for _, amount in late]
        return [np.concatenate(each) for each in zip(*columns, strict=True)], amounts

    def _known(self, columns, amounts):
        """Return the Taken of the resources that may be booked."""
        owners, *rest = columns
        places = np.searchsorted(self._ids, owners)
        taken = Taken(places, *rest, amounts)
        known = places < len(self._ids)
        known[known] = self._ids[places[known]] == owners[known]
        # Sort here, once, by place and end: all later queries need that order.
        return taken.where(np.flatnonzero(known)[np.lexsort((taken.ends[known], places[known]))])


def _copies(levels, demand):
    """Return (number of places, places, starts, ends) of a demand for amounts, for Ranges.

    A place is a slot for one more copy on a resource: the slot for a second copy is free at other
    times than the slot for the first. If all copies must be together, a resource has one slot, for
    the least number of copies.
    """
    if demand.spread is selection.Spread.TOGETHER:
        counts = [max(demand.at_least, 1)]
    elif demand.spread is selection.Spread.APART:
        counts = [1]
    else:
        counts = range(1, min(demand.at_most, int(levels.empty.max(initial=0))) + 1)
    size, columns = 0, [[np.zeros(0, np.int64)] * 3]
    for count in counts:
        # The resources with enough capacity for this number of copies.
        among = np.full(len(levels.empty), -1)
        able = np.flatnonzero(levels.empty >= count)
        among[able] = size + np.arange(len(able))
        places, starts, ends = levels.below(count)
        able_rows = among[places] >= 0
        columns.append([among[places][able_rows], starts[able_rows], ends[able_rows]])
        size += len(able)
    return size, *(np.concatenate(each) for each in zip(*columns, strict=True))
