# SPDX-License-Identifier: Apache-2.0
"""When the wishes of a lease can be had: at which moments it is worth to plan."""
import dataclasses
import datetime
import threading

import numpy as np

from climate import errors
from climate.domain import calendar
from climate.domain import fit
from climate.domain import interval
from climate.domain import joint
from climate.manager.availability import board
from climate.manager.availability import ranges

# Of several wishes it is tried at so many moments whether they go together, unless fewer will do,
# and at so many more how long they do.
_TRIES = 300
_TRIES_ON = 40
# So far ahead is looked first, as most that is asked for is near: to read a month of promises costs
# more than all the rest.
_AHEAD = tuple(datetime.timedelta(days=days) for days in (2, 20))
#: Whoever searches takes one, after the connection. With 10,000 hosts a search has 30 MB of
#: columns, and more at once would only wait for each other, as threads do.
TURNS = threading.BoundedSemaphore(2)


class Search:
    """All wishes in one window of time; read once, asked for many durations and counts.

    :ivar complete: False once there were more moments than are tried.
    """

    def __init__(self, core, connection, wishes, terms, window, like=None, tries=_TRIES):
        """Read what there is.

        :param like: a Search for the same in another window: the resources are read already.
        :param tries: at how many moments it is tried whether several wishes go together.
        """
        self.tries = tries
        # What a lease is made without, where there is no room for it, keeps nobody waiting.
        self.wishes = [wish for wish in wishes if not wish.need.optional]
        self.window = window
        self.complete = True
        parts = {wish.need.pool for wish in self.wishes if wish.need.demand.amount is not fit.WHOLE}
        self.boards = {
            pool: board.Board(connection, pool, terms, window, pool in parts,
                              like.boards[pool].resources if like else None)
            for pool in {wish.need.pool for wish in self.wishes}}
        self.matching = like.matching if like else [
            self.boards[wish.need.pool].matching(core, connection, wish.need)
            for wish in self.wishes]
        self._known = {}

    @property
    def demands(self):
        """What each of the wishes asks for."""
        return [wish.need.demand for wish in self.wishes]

    def openings(self, duration, limit):
        """The best ``calendar.Opening``s for the wishes as they are."""
        demands = self.demands
        return calendar.openings(self._starts(demands, duration), _least(demands), _most(demands),
                                 self.window.start, limit)

    def settles(self, duration, limit, found):
        """True where a longer window, with the same beginning, has the same openings first.

        And where no more copies of any wish are free in it than count.

        :param found: what `openings` found.
        """
        demands = self.demands
        latest = self.window.end - duration
        return (len(found) == limit and all(each.last < latest for each in found)
                and found[-1].count == _most(demands)
                and all(self.most(place, duration) == _enough(demand)
                        for place, demand in enumerate(demands)))

    def picks(self, opening, duration):
        """What a plan of the wishes takes at the beginning of an opening, the fit.Picks of each.

        None where it takes a plan to tell: of whole resources it takes the first that are free.
        """
        if len(self.wishes) != 1 or self.demands[0].amount is not fit.WHOLE:
            return None
        free = self.ranges_of(0, self.demands[0], duration).free(opening.start)
        ids = self.boards[self.wishes[0].need.pool].ids(self.matching[0][free[:opening.count]])
        return [tuple(fit.Pick(key, 1) for key in ids.tolist())]

    def first(self, demands, duration):
        """The first moment at which other demands of the same wishes are met; None for never."""
        return self._starts(demands, duration).next(_least(demands), self.window.start)

    def most(self, place, duration):
        """How many copies of a wish, by itself, have room at the best moment."""
        demand = self.demands[place]
        found = self.ranges_of(place, demand, duration).most()
        if demand.spread is fit.Spread.TOGETHER:
            return _enough(demand) if found else 0
        return min(found, _enough(demand))

    def ranges_of(self, place, demand, duration):
        """The Ranges of another demand of one of the wishes."""
        # How few will do changes nothing in what is free, unless all are to be together.
        if demand.spread is not fit.Spread.TOGETHER:
            demand = dataclasses.replace(demand, at_least=0)
        key = place, demand.at_least, demand.at_most, duration
        if key not in self._known:
            self._known[key] = self.boards[self.wishes[place].need.pool].ranges(
                demand, self.matching[place], duration)
        return self._known[key]

    def _starts(self, demands, duration):
        if not demands:
            nothing = np.zeros(0, np.int64)
            return ranges.Ranges(self.window, duration, 1, nothing, nothing, nothing)
        if len(demands) == 1:
            return self.ranges_of(0, demands[0], duration)
        return _Together(self, demands, duration)


def growing(core, connection, wishes, terms, window, duration, like=None, tries=_TRIES):
    """Yield Searches for starts in the first days of a window, in more of it, and in all of it.

    Whoever takes no more of them reads no more.
    """
    ends = [window.start + duration + ahead for ahead in _AHEAD
            if ahead < (window.duration - duration) / 2]
    for end in [*ends, window.end]:
        like = Search(core, connection, wishes, terms, interval.Interval(window.start, end), like,
                      tries)
        yield like


class _Together:
    """The moments at which several wishes are met at once: a ``calendar.Starts`` that counts to 1.

    Arrays leave the moments at which each of them could be met alone; then ``joint`` decides.
    """

    def __init__(self, search, demands, duration):
        self._search, self._demands, self._duration = search, demands, duration
        self._left = search.tries
        places = range(len(demands))
        times = np.unique(np.concatenate([
            found.times(duration) for found in search.boards.values()]))
        possible = np.ones(len(times), bool)
        for place, demand in zip(places, demands, strict=True):
            possible &= search.ranges_of(place, demand, duration).counts(times) >= _least([demand])
        self._times, self._possible = times, possible

    def count(self, moment):
        span = interval.Interval(moment, moment + self._duration)
        asks = {}
        for pool, found in self._search.boards.items():
            mine = [place for place, wish in enumerate(self._search.wishes)
                    if wish.need.pool == pool]
            asks |= zip(mine, found.asks([(self._demands[place], self._search.matching[place])
                                          for place in mine], span), strict=True)
        try:
            joint.choose([asks[place] for place in sorted(asks)], span)
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
        # Between two of the times nothing changes.
        rest = np.searchsorted(self._times, self._time(moment), 'right')
        for place in range(rest, min(rest + _TRIES_ON, len(self._times))):
            found = self._moment(self._times[place])
            if not self._possible[place] or self.count(found) < count:
                return found - interval.RESOLUTION
        if rest + _TRIES_ON < len(self._times):
            return self._moment(self._times[rest + _TRIES_ON]) - interval.RESOLUTION
        return self._search.window.end - self._duration

    def _moments(self, after):
        """`after`, and the later times at which they could be met."""
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
    """Whether the places of their Starts are the copies that are had."""
    return len(demands) == 1 and demands[0].spread is not fit.Spread.TOGETHER


def _enough(demand):
    """How many copies are counted, of however many are free."""
    return demand.at_least if demand.spread is fit.Spread.TOGETHER else demand.at_most


def _most(demands):
    """How many places the Starts of the demands are asked for at most."""
    # Of others it only counts whether they are met.
    return demands[0].at_most if _counted(demands) else _least(demands)


def _least(demands):
    """How many places the Starts of the demands must have."""
    return max(demands[0].at_least, 1) if _counted(demands) else 1
