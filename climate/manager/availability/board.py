# SPDX-License-Identifier: Apache-2.0
"""What is known of a pool for a window of time: its resources, and when they are taken."""
import collections
import dataclasses

import numpy as np

from climate.db import allocations
from climate.db import calendars
from climate.domain import fit
from climate.domain import interval
from climate.domain import joint
from climate.manager import criteria
from climate.manager.availability import levels
from climate.manager.availability import ranges


@dataclasses.dataclass(frozen=True)
class Taken:
    """Columns of equal length: what is taken of which place, and when; by place and end.

    :ivar starts: microseconds from the beginning of the window on; `ends` too.
    :ivar kinds: places in `amounts`, which are as in ``calendars.Promises``.
    """

    places: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    kinds: np.ndarray
    amounts: list

    def where(self, chosen):
        """The same with only those for which `chosen` is true, or whose indices it is."""
        return dataclasses.replace(self, **{name: getattr(self, name)[chosen] for name in (
            'places', 'starts', 'ends', 'kinds')})


class Board:
    """One pool during one window; what may be had of it, and when, by the Terms of booking."""

    def __init__(self, connection, pool, terms, window, parts, resources=None):
        """Read the pool.

        :param parts: whether it matters how much of a resource was promised.
        :param resources: those of another Board of the same pool, as they were read for it.
        """
        self._window = window
        self.resources = resources or {
            key: each for key, each in allocations.reservable_resources(connection, pool).items()
            if key not in terms.avoid and terms.may_have(each)}
        self._ids = np.array(list(self.resources), np.int64)
        self._taken = self._known(*self._columns(connection, pool, terms, parts))

    def matching(self, core, connection, need):
        """The places of the resources that meet the criteria of a need, in order."""
        found = criteria.matching(core, connection, need, self.resources)
        return np.searchsorted(self._ids, np.array(found, np.int64))

    def ids(self, places):
        return self._ids[places]

    def ranges(self, demand, matching, duration):
        """The Ranges of a demand: places are resources, or copies on them."""
        # The place of each resource among those that match; -1 for the others.
        among = np.full(len(self._ids), -1)
        among[matching] = np.arange(len(matching))
        mine = among[self._taken.places]
        taken = dataclasses.replace(self._taken, places=mine).where(mine >= 0)
        if demand.amount is fit.WHOLE:
            return ranges.Ranges(self._window, duration, len(matching), taken.places, taken.starts,
                                 taken.ends)
        found = levels.Levels(demand.amount, [
            self.resources[int(key)].capacity for key in self._ids[matching]], taken)
        return ranges.Ranges(self._window, duration, *_copies(found, demand))

    def times(self, duration):
        """All times at which a span begins or ceases to meet something, in order."""
        latest = (self._window.duration - duration) // interval.RESOLUTION
        found = np.concatenate([[0], self._taken.ends,
                                self._taken.starts - duration // interval.RESOLUTION + 1])
        return np.unique(found[(found >= 0) & (found <= latest)])

    def asks(self, demands, span):
        """The joint.Asks of demands: pairs (Demand, matching places)."""
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
            if demand.amount is fit.WHOLE:
                places = [place for place in places if place not in booked]
            yield joint.Ask(demand, [
                fit.Candidate(key, self.resources[key].capacity, tuple(booked.get(place, ())))
                for place, key in zip(places, self._ids[places].tolist(), strict=True)])

    def _interval(self, begin, stop):
        return interval.Interval(self._window.start + begin * interval.RESOLUTION,
                                 self._window.start + stop * interval.RESOLUTION)

    def _columns(self, connection, pool, terms, parts):
        """Ids of resources, starts, ends and kinds; and the amounts: of all that is in the way."""
        found = calendars.of_pool(connection, pool, self._window.widened(terms.cleaning),
                                  terms.replaced, parts)
        origin = calendars.microseconds(self._window.start)
        margin = terms.cleaning // interval.RESOLUTION
        columns = [(found.owners, found.starts - origin - margin, found.ends - origin + margin,
                    found.kinds)]
        amounts = list(found.amounts)
        if terms.soon:
            # What somebody has in the cloud yet is not free for what starts so soon.
            until = (terms.now + terms.grace - self._window.start) // interval.RESOLUTION + 1
            held = [key for key, each in self.resources.items()
                    if each.held_by not in {None, *terms.own}]
            late = [(key, amount) for key, taken in terms.overdue(connection).items()
                    for _, amount in taken]
            keys = [*held, *(key for key, _ in late)]
            columns.append((np.array(keys, np.int64), np.zeros(len(keys), np.int64),
                            np.full(len(keys), until), len(amounts) + np.arange(len(keys))))
            amounts += [(fit.WHOLE, 1)] * len(held) + [(amount, 1) for _, amount in late]
        return [np.concatenate(each) for each in zip(*columns, strict=True)], amounts

    def _known(self, columns, amounts):
        """The Taken of the resources that may be had."""
        owners, *rest = columns
        places = np.searchsorted(self._ids, owners)
        found = Taken(places, *rest, amounts)
        known = places < len(self._ids)
        known[known] = self._ids[places[known]] == owners[known]
        # Once for all that is asked of it.
        return found.where(np.flatnonzero(known)[np.lexsort((found.ends[known], places[known]))])


def _copies(found, demand):
    """(number of places, places, starts, ends), as Ranges takes them, of a demand for amounts.

    A place is room for one more copy on a resource: of two copies, one has room where the other has
    not. Where all are to be together, it is room for as few as will do.
    """
    if demand.spread is fit.Spread.TOGETHER:
        wanted = [max(demand.at_least, 1)]
    elif demand.spread is fit.Spread.APART:
        wanted = [1]
    else:
        wanted = range(1, min(demand.at_most, int(found.empty.max(initial=0))) + 1)
    size, columns = 0, [[np.zeros(0, np.int64)] * 3]
    for level in wanted:
        # The resources that have room for so many at all.
        among = np.full(len(found.empty), -1)
        able = np.flatnonzero(found.empty >= level)
        among[able] = size + np.arange(len(able))
        places, starts, ends = found.below(level)
        mine = among[places] >= 0
        columns.append([among[places][mine], starts[mine], ends[mine]])
        size += len(able)
    return size, *(np.concatenate(each) for each in zip(*columns, strict=True))
