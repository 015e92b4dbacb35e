# SPDX-License-Identifier: Apache-2.0
"""The search for the moments at which all wishes of a lease can be served.

The place of a wish is its index in the list of wishes.
"""
import dataclasses
import datetime
import threading

import numpy as np

from climate import errors
from climate.domain import free_starts
from climate.domain import interval
from climate.domain import joint_selection
from climate.domain import selection
from climate.manager.booking import pool_bookings
from climate.manager.booking import start_ranges

# The greatest number of moments at which a search checks whether several wishes fit together.
_TRIES = 300
# The greatest number of moments in one range at which a search checks whether several wishes still
# fit together.
_LATER_TRIES = 40
# The greatest number of rounded starts that are checked.
_ROUNDED_TRIES = 100
# The first windows of a search. Most requests are for the near future, and most of the cost of a
# search is the reading of allocations.
AHEAD = tuple(datetime.timedelta(days=days) for days in (2, 20))
#: The limit of concurrent searches; acquire it after the database connection. With 10,000 hosts a
#: search needs 30 MB, and more threads would only wait for each other.
SEARCH_SLOTS = threading.BoundedSemaphore(2)


class StartSearch:
    """A search for all wishes in one window: it reads once and answers for many durations.

    :ivar complete: False after the search has stopped at its greatest number of moments.
    """

    def __init__(self, core, connection, wishes, terms, window, like=None, tries=_TRIES):
        """Read the pools of the wishes.

        :param like: a StartSearch for the same wishes in another window; reuse its resources.
        :param tries: the greatest number of moments at which the search checks whether several
            wishes fit together.
        """
        self.tries = tries
        # A lease can be made without its optional wishes, so they must not delay it.
        self.wishes = [wish for wish in wishes if not wish.need.optional]
        self.window = window
        self.complete = True
        shared = {wish.need.pool for wish in self.wishes
                  if wish.need.demand.amount is not selection.WHOLE}
        self.pools = {
            pool: pool_bookings.PoolBookings(connection, pool, terms, window, pool in shared,
                                             like.pools[pool].resources if like else None)
            for pool in {wish.need.pool for wish in self.wishes}}
        self.matching = like.matching if like else [
            self.pools[wish.need.pool].matching(core, connection, wish.need)
            for wish in self.wishes]
        self._ranges = {}

    @property
    def demands(self):
        """The Demand of each wish, as a list."""
        return [wish.need.demand for wish in self.wishes]

    def openings(self, duration, limit):
        """Return the best ``free_starts.StartRange``s for the wishes, at most `limit`."""
        demands = self.demands
        return free_starts.openings(self._starts(demands, duration), _least_count(demands),
                                    _most_count(demands), self.window.start, limit)

    def is_final(self, duration, limit, openings):
        """Return True if a search in a longer window would give the same answer.

        Three things make that certain. `limit` openings end before the last start in the window.
        The last opening has the greatest possible count. The best moment of each wish alone has
        all copies that the wish can use.

        :param openings: the result of `openings`.
        """
        demands = self.demands
        latest = self.window.end - duration
        return (len(openings) == limit and all(opening.last < latest for opening in openings)
                and openings[-1].count == _most_count(demands)
                and all(self.most(place, duration) == _useful_copies(demand)
                        for place, demand in enumerate(demands)))

    def picks(self, opening, duration):
        """Return the selection.Picks of each wish at the start of an opening, or None.

        If the result is None, the caller must make a plan. A single wish for whole resources needs
        no plan, because a plan would also choose the first free resources.
        """
        if len(self.wishes) != 1 or self.demands[0].amount is not selection.WHOLE:
            return None
        free = self.ranges_of(0, self.demands[0], duration).free(opening.start)
        ids = self.pools[self.wishes[0].need.pool].ids(self.matching[0][free[:opening.count]])
        return [tuple(selection.Pick(key, 1) for key in ids.tolist())]

    def first(self, demands, duration):
        """Return the first moment at which all demands fit, or None.

        :param demands: one Demand for each wish; it may be smaller than the demand of the wish.
        """
        return self._starts(demands, duration).next(_least_count(demands), self.window.start)

    def first_rounded(self, demands, duration, grain):
        """Return the first whole multiple of `grain` at which all demands fit, or None.

        The number of moments that are checked is limited.
        """
        starts, moment = self._starts(demands, duration), self.window.start
        least = _least_count(demands)
        for _ in range(_ROUNDED_TRIES):
            start = starts.next(least, moment)
            if start is None:
                return None
            moment = interval.rounded_up(start, grain)
            if moment == start:
                return start
        return None

    def most(self, place, duration):
        """Return the number of copies of one wish alone that fit at the best moment."""
        demand = self.demands[place]
        count = self.ranges_of(place, demand, duration).most()
        if demand.spread is selection.Spread.TOGETHER:
            return _useful_copies(demand) if count else 0
        return min(count, _useful_copies(demand))

    def free_at_start(self, place, duration):
        """Return the number of copies of one wish alone that are free at the start of the window.

        The number may exceed the demand.
        """
        need = self.wishes[place].need
        return self.pools[need.pool].copies_at_start(need.demand, self.matching[place], duration)

    def ranges_of(self, place, demand, duration):
        """Return the Ranges of a demand for one wish."""
        # `at_least` affects the ranges only if all copies must be together.
        if demand.spread is not selection.Spread.TOGETHER:
            demand = dataclasses.replace(demand, at_least=0)
        key = place, demand.at_least, demand.at_most, duration
        if key not in self._ranges:
            self._ranges[key] = self.pools[self.wishes[place].need.pool].ranges(
                demand, self.matching[place], duration)
        return self._ranges[key]

    def _starts(self, demands, duration):
        if not demands:
            nothing = np.zeros(0, np.int64)
            return start_ranges.Ranges(self.window, duration, 1, nothing, nothing, nothing)
        if len(demands) == 1:
            return self.ranges_of(0, demands[0], duration)
        return _JointStarts(self, demands, duration)


def growing(core, connection, wishes, terms, window, duration, like=None, tries=_TRIES,
            ahead=AHEAD):
    """Yield StartSearches in growing parts of a window; the last one covers the whole window.

    Each search is read when the caller iterates to it, so a caller that stops early reads less.

    :param ahead: the lengths of the smaller parts, without `duration`.
    """
    ends = [window.start + duration + length for length in ahead
            if length < (window.duration - duration) / 2]
    for end in [*ends, window.end]:
        like = StartSearch(core, connection, wishes, terms, interval.Interval(window.start, end),
                           like, tries)
        yield like


class _JointStarts:
    """The ``free_starts.Starts`` of several wishes; the count is 1 if all fit together, else 0.

    Arrays find the moments at which each wish alone fits. Then ``joint_selection`` checks at these
    moments whether all wishes fit together.
    """

    def __init__(self, search, demands, duration):
        self._search, self._demands, self._duration = search, demands, duration
        self._remaining_tries = search.tries
        self._times = np.unique(np.concatenate([
            bookings.times(duration) for bookings in search.pools.values()]))
        self._possible = np.all([
            search.ranges_of(place, demand, duration).counts(self._times) >= _least_count([demand])
            for place, demand in enumerate(demands)], axis=0)

    def count(self, moment):
        span = interval.Interval(moment, moment + self._duration)
        joint_demands = {}
        for pool, bookings in self._search.pools.items():
            places = [place for place, wish in enumerate(self._search.wishes)
                      if wish.need.pool == pool]
            demands = [(self._demands[place], self._search.matching[place]) for place in places]
            joint_demands |= zip(places, bookings.reservation_demands(demands, span), strict=True)
        try:
            joint_selection.choose([joint_demands[place] for place in sorted(joint_demands)], span)
        except errors.NotEnough:
            return 0
        return 1

    def next(self, count, after):
        for moment in self._moments(after):
            if self._remaining_tries == 0:
                self._search.complete = False
                return None
            self._remaining_tries -= 1
            if self.count(moment) >= count:
                return moment
        return None

    def until(self, count, moment):
        # The count can change only at one of the times.
        first = np.searchsorted(self._times, self._time(moment), 'right')
        for index in range(first, min(first + _LATER_TRIES, len(self._times))):
            start = self._moment(self._times[index])
            if not self._possible[index] or self.count(start) < count:
                return start - interval.RESOLUTION
        if first + _LATER_TRIES < len(self._times):
            return self._moment(self._times[first + _LATER_TRIES]) - interval.RESOLUTION
        return self._search.window.end - self._duration

    def _moments(self, after):
        """Yield `after` and the later moments at which each wish alone fits."""
        if after + self._duration <= self._search.window.end:
            yield after
        first = np.searchsorted(self._times, self._time(after), 'right')
        for time in self._times[first:][self._possible[first:]]:
            yield self._moment(time)

    def _time(self, moment):
        return (moment - self._search.window.start) // interval.RESOLUTION

    def _moment(self, time):
        return self._search.window.start + int(time) * interval.RESOLUTION


def _counts_copies(demands):
    """Return True if the Starts of these demands count copies; else a count of 1 suffices."""
    return len(demands) == 1 and demands[0].spread is not selection.Spread.TOGETHER


def _useful_copies(demand):
    """Return the number of copies beyond which more free copies are of no use to a demand."""
    return demand.at_least if demand.spread is selection.Spread.TOGETHER else demand.at_most


def _most_count(demands):
    """Return the count of Starts at which all copies of the demands fit."""
    return demands[0].at_most if _counts_copies(demands) else 1


def _least_count(demands):
    """Return the count of Starts at which the least number of copies fits."""
    return max(demands[0].at_least, 1) if _counts_copies(demands) else 1
