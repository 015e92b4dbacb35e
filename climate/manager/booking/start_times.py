# SPDX-License-Identifier: Apache-2.0
"""The search for the moments at which the wishes of a lease can be served."""
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

# With several wishes, the greatest number of moments at which a search checks whether all fit
# together, and the greatest number of later moments at which it checks how long they do.
_TRIES = 300
_TRIES_ON = 40
# The greatest number of moments at which a start on a whole multiple of minutes is tried.
_ROUNDED = 100
# The first windows of a search. Most requests are for the near future, and reading a month of
# allocations costs more than all the rest of a search.
AHEAD = tuple(datetime.timedelta(days=days) for days in (2, 20))
#: The limit of concurrent searches: acquire it after the database connection. With 10,000 hosts a
#: search has 30 MB of columns, and more threads would only wait for each other.
TURNS = threading.BoundedSemaphore(2)


class StartSearch:
    """A search for all wishes in one window: it reads once and answers for many durations.

    :ivar complete: False once there were more moments than may be tried.
    """

    def __init__(self, core, connection, wishes, terms, window, like=None, tries=_TRIES):
        """Read the pools of the wishes.

        :param like: a StartSearch for the same wishes in another window, whose resources are used.
        :param tries: the greatest number of moments at which the search checks whether several
            wishes fit together.
        """
        self.tries = tries
        # A lease can be made without its optional wishes, so they must not delay it.
        self.wishes = [wish for wish in wishes if not wish.need.optional]
        self.window = window
        self.complete = True
        parts = {wish.need.pool for wish in self.wishes
                 if wish.need.demand.amount is not selection.WHOLE}
        self.pools = {
            pool: pool_bookings.PoolBookings(connection, pool, terms, window, pool in parts,
                                             like.pools[pool].resources if like else None)
            for pool in {wish.need.pool for wish in self.wishes}}
        self.matching = like.matching if like else [
            self.pools[wish.need.pool].matching(core, connection, wish.need)
            for wish in self.wishes]
        self._known = {}

    @property
    def demands(self):
        """The Demand of each wish, as a list."""
        return [wish.need.demand for wish in self.wishes]

    def openings(self, duration, limit):
        """Return the best ``free_starts.StartRange``s for the wishes, at most `limit`."""
        demands = self.demands
        return free_starts.openings(self._starts(demands, duration), _least(demands),
                                    _most(demands), self.window.start, limit)

    def settles(self, duration, limit, openings):
        """Return True if a longer window from the same beginning would give the same answer.

        It does if it has the same first openings, and if each wish already has the greatest number
        of free copies that counts.

        :param openings: the result of `openings`.
        """
        demands = self.demands
        latest = self.window.end - duration
        return (len(openings) == limit and all(each.last < latest for each in openings)
                and openings[-1].count == _most(demands)
                and all(self.most(place, duration) == _enough(demand)
                        for place, demand in enumerate(demands)))

    def picks(self, opening, duration):
        """Return the selection.Picks of each wish at the beginning of an opening, or None.

        They are the same as those of a plan. Only a single wish for whole resources can be answered
        without a plan: it takes the first ones that are free. For other wishes the result is None.
        """
        if len(self.wishes) != 1 or self.demands[0].amount is not selection.WHOLE:
            return None
        free = self.ranges_of(0, self.demands[0], duration).free(opening.start)
        ids = self.pools[self.wishes[0].need.pool].ids(self.matching[0][free[:opening.count]])
        return [tuple(selection.Pick(key, 1) for key in ids.tolist())]

    def first(self, demands, duration):
        """Return the first moment at which other demands of the same wishes are met, or None."""
        return self._starts(demands, duration).next(_least(demands), self.window.start)

    def first_rounded(self, demands, duration, grain):
        """Return the first whole multiple of `grain` at which demands are met, or None.

        It is also None if none is found in a limited number of free times.
        """
        starts, least, moment = self._starts(demands, duration), _least(demands), self.window.start
        for _ in range(_ROUNDED):
            start = starts.next(least, moment)
            if start is None:
                return None
            moment = interval.rounded_up(start, grain)
            if moment == start:
                return start
        return None

    def most(self, place, duration):
        """Return the number of copies of one wish alone that fit at the best moment.

        :param place: the index of the wish.
        """
        demand = self.demands[place]
        count = self.ranges_of(place, demand, duration).most()
        if demand.spread is selection.Spread.TOGETHER:
            return _enough(demand) if count else 0
        return min(count, _enough(demand))

    def free_at_start(self, place, duration):
        """Return the number of copies of one wish alone that are free at the start of the window.

        Copies beyond the demand count, too.

        :param place: the index of the wish.
        """
        need = self.wishes[place].need
        return self.pools[need.pool].copies_at_start(need.demand, self.matching[place], duration)

    def ranges_of(self, place, demand, duration):
        """Return the Ranges of another demand of one wish.

        :param place: the index of the wish.
        """
        # `at_least` affects what is free only if all copies must be together.
        if demand.spread is not selection.Spread.TOGETHER:
            demand = dataclasses.replace(demand, at_least=0)
        key = place, demand.at_least, demand.at_most, duration
        if key not in self._known:
            self._known[key] = self.pools[self.wishes[place].need.pool].ranges(
                demand, self.matching[place], duration)
        return self._known[key]

    def _starts(self, demands, duration):
        if not demands:
            nothing = np.zeros(0, np.int64)
            return start_ranges.Ranges(self.window, duration, 1, nothing, nothing, nothing)
        if len(demands) == 1:
            return self.ranges_of(0, demands[0], duration)
        return _Together(self, demands, duration)


def growing(core, connection, wishes, terms, window, duration, like=None, tries=_TRIES,
            ahead=AHEAD):
    """Yield StartSearches in growing parts of a window; the last one is for all of it.

    Each search is read when the caller asks for it, so a caller that stops early reads less.

    :param ahead: the lengths of the smaller parts.
    """
    ends = [window.start + duration + each for each in ahead
            if each < (window.duration - duration) / 2]
    for end in [*ends, window.end]:
        like = StartSearch(core, connection, wishes, terms, interval.Interval(window.start, end),
                           like, tries)
        yield like


class _Together:
    """The moments at which several wishes are met together: a ``calendar.Starts`` with counts 0, 1.

    Arrays find the moments at which each wish alone could be met; then ``joint`` decides.
    """

    def __init__(self, search, demands, duration):
        self._search, self._demands, self._duration = search, demands, duration
        self._left = search.tries
        places = range(len(demands))
        times = np.unique(np.concatenate([
            bookings.times(duration) for bookings in search.pools.values()]))
        possible = np.ones(len(times), bool)
        for place, demand in zip(places, demands, strict=True):
            possible &= search.ranges_of(place, demand, duration).counts(times) >= _least([demand])
        self._times, self._possible = times, possible

    def count(self, moment):
        span = interval.Interval(moment, moment + self._duration)
        asks = {}
        for pool, bookings in self._search.pools.items():
            places = [place for place, wish in enumerate(self._search.wishes)
                      if wish.need.pool == pool]
            demands = [(self._demands[place], self._search.matching[place]) for place in places]
            asks |= zip(places, bookings.asks(demands, span), strict=True)
        try:
            joint_selection.choose([asks[place] for place in sorted(asks)], span)
        except errors.NotEnough:
            return 0
        return 1

    def next(self, count, after):
        for moment in self._moments(after):
            if self._left == 0:
                self._search.complete = False
                return None
            self._left -= 1
            if self.count(moment) >= count:
                return moment
        return None

    def until(self, count, moment):
        # Between two neighbouring times nothing changes.
        rest = np.searchsorted(self._times, self._time(moment), 'right')
        for place in range(rest, min(rest + _TRIES_ON, len(self._times))):
            start = self._moment(self._times[place])
            if not self._possible[place] or self.count(start) < count:
                return start - interval.RESOLUTION
        if rest + _TRIES_ON < len(self._times):
            return self._moment(self._times[rest + _TRIES_ON]) - interval.RESOLUTION
        return self._search.window.end - self._duration

    def _moments(self, after):
        """Yield `after` and the later moments at which each wish alone could be met."""
        if after + self._duration <= self._search.window.end:
            yield after
        rest = np.searchsorted(self._times, self._time(after), 'right')
        for time in self._times[rest:][self._possible[rest:]]:
            yield self._moment(time)

    def _time(self, moment):
        return (moment - self._search.window.start) // interval.RESOLUTION

    def _moment(self, time):
        return self._search.window.start + int(time) * interval.RESOLUTION


def _counted(demands):
    """Return True if the counts of the Starts of these demands are numbers of copies."""
    return len(demands) == 1 and demands[0].spread is not selection.Spread.TOGETHER


def _enough(demand):
    """Return the greatest number of copies that counts for a demand; more free ones do not."""
    return demand.at_least if demand.spread is selection.Spread.TOGETHER else demand.at_most


def _most(demands):
    """Return the greatest number of places for which the Starts of the demands are asked."""
    # If copies are not counted, it only matters whether the demands are met.
    return demands[0].at_most if _counted(demands) else _least(demands)


def _least(demands):
    """Return the number of places that the Starts of the demands must have."""
    return max(demands[0].at_least, 1) if _counted(demands) else 1
