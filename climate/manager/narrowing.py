# SPDX-License-Identifier: Apache-2.0
"""Which few of very many resources could be chosen: the rules of ``domain.fit``, over arrays.

``fit`` looks at one resource after the other. Here all are looked at at once, only to leave out
those that it would not choose anyway; among the few that are left it chooses itself, with all that
is booked of them.
"""
from collections.abc import Sequence
import dataclasses
import datetime
import json

import numpy as np

from climate import errors
from climate.db import calendars
from climate.domain import fit
from climate.domain import interval
from climate.domain import joint


class Ground:
    """Resources, and what others have of them, in columns.

    :ivar ids: of the resources, in the order of preference; ascending where something is taken.
    """

    def __init__(self, resources, taken=(), cleaning=datetime.timedelta(), late=None):
        """Put together what was read.

        :param resources: pairs of id and JSON text of the capacity.
        :param taken: a list of ``calendars.Promises``; those of resources that are not asked about
            are passed over.
        :param cleaning: the time kept free before and after each of these.
        :param late: further Promises, which no cleaning follows.
        """
        ids, capacities = zip(*resources, strict=True) if resources else ((), ())
        self.ids = np.array(ids, np.int64)
        known = {text: place for place, text in enumerate(dict.fromkeys(capacities))}
        self._capacities = [json.loads(text) for text in known]
        self._capacity = np.array([known[text] for text in capacities], np.int64)
        #: Of each kind, the amount and how many times it is promised at once.
        self._amounts = []
        margin = cleaning // interval.RESOLUTION
        columns = [np.zeros((4, 0), np.int64),
                   *(self._columns(each, margin) for each in taken),
                   *([self._columns(late, 0)] if late else [])]
        owners, *booked = np.concatenate(columns, axis=1)
        owner = np.searchsorted(self.ids, owners)
        mine = np.append(self.ids, -1)[owner] == owners
        self._owner = owner[mine]
        self._start, self._end, self._kind = (column[mine] for column in booked)

    def _columns(self, promises, margin):
        first = len(self._amounts)
        self._amounts += promises.amounts
        return np.array([promises.owners, promises.starts - margin, promises.ends + margin,
                         promises.kinds + first])

    def rooms(self, amount, span):
        """As ``fit`` sees each resource during `span`: (copies that are free, whether it is used).

        :returns: two arrays, in the order of `ids`.
        """
        touching = ((self._start < calendars.microseconds(span.end))
                    & (self._end > calendars.microseconds(span.start)))
        used = self._marked(self._owner[touching])
        if amount is fit.WHOLE:
            return (~used).astype(np.int64), used
        whole = np.array([each is fit.WHOLE for each, _ in self._amounts], bool)
        closed = self._marked(self._owner[touching & whole[self._kind]])
        free = self._copies_beside(amount, np.flatnonzero(touching & ~closed[self._owner]))
        free[closed] = 0
        return free, used

    def _copies_beside(self, amount, booked):
        """As ``usage.copies_beside`` of each resource; `booked` are the places of the bookings."""
        names = [name for name, units in amount.items() if units > 0]
        if not names:
            raise ValueError('An amount needs at least one unit of some class.')
        units = _units([({}, 0) if each is fit.WHOLE else (each, copies)
                        for each, copies in self._amounts], names)
        peaks = _peaks(len(self.ids), self._owner[booked], self._start[booked],
                       self._end[booked], units[self._kind[booked]])
        capacity = _units([(each, 1) for each in self._capacities], names)[self._capacity]
        wanted = np.array([amount[name] for name in names], np.int64)
        return ((capacity - peaks) // wanted).min(axis=1, initial=np.iinfo(np.int64).max).clip(0)

    def _marked(self, places):
        found = np.zeros(len(self.ids), bool)
        found[places] = True
        return found

    def candidates(self, ids=None):
        """The resources (those of `ids`) as Candidates, in order."""
        chosen = (np.ones(len(self.ids), bool) if ids is None
                  else np.isin(self.ids, np.fromiter(ids, np.int64)))
        bookings = {place: [] for place in np.flatnonzero(chosen).tolist()}
        mine = np.flatnonzero(chosen[self._owner])
        for place, start, end, kind in zip(*(
                column[mine].tolist() for column in (
                    self._owner, self._start, self._end, self._kind)), strict=True):
            amount, copies = self._amounts[kind]
            span = interval.Interval(calendars.moment(start), calendars.moment(end))
            bookings[place] += [(span, amount)] * copies
        return [fit.Candidate(int(self.ids[place]),
                              self._capacities[self._capacity[place]], tuple(booked))
                for place, booked in bookings.items()]


@dataclasses.dataclass(frozen=True)
class Ask:
    """As ``joint.Ask``, of very many resources.

    :ivar ground: with what everybody has of them who is not asked for at the same time.
    """

    demand: fit.Demand
    ground: Ground
    must_keep: bool = False

    def among(self, ids=None):
        """The same, of those resources alone, as a ``joint.Ask``."""
        return joint.Ask(self.demand, self.ground.candidates(ids), self.must_keep)


def choose(asks: Sequence[Ask], span: interval.Interval):
    """What ``joint.choose`` chooses among all resources.

    :raises NotEnough: as there.
    """
    count = most(ask.demand for ask in asks)
    few = set().union(*(best(ask.demand, ask.ground, count, span) for ask in asks))
    try:
        return joint.in_order([ask.among(few) for ask in asks], span)
    except errors.NotEnough:
        if len(asks) == 1:
            raise
    # They do not all fit in their order. The other order looks at how much each could choose from.
    return joint.choose([ask.among() for ask in asks], span)


def most(demands):
    """On how many resources they can be together, at most."""
    return sum(demand.at_most for demand in demands)


def best(demand, ground, count, span):
    """The ids of resources that are enough for ``fit.choose``, as a list.

    What the demand has, and the first `count` others in the order in which they are preferred.
    Those that are used for other demands of the same lease meanwhile may come earlier or later in
    that order, and are chosen from as well; all others stay as they are. As long as `count` is the
    most that all demands together can take, as many of the first as this one can take are among
    those that stayed. Where there are fewer, all that have room are here, so that an error tells
    the same number.
    """
    free, used = ground.rooms(demand.amount, span)
    kept = np.isin(ground.ids, [pick.resource_id for pick in demand.keep])
    if demand.spread is fit.Spread.TOGETHER:
        room = np.flatnonzero(free >= max(demand.at_least, 1))
        order = room[np.lexsort((free[room], ~used[room],
                                 -np.minimum(free[room], demand.at_most)))]
        if not len(room):
            # The one with the most room: the error tells how much it is.
            order = np.argsort(-free)[:1]
    else:
        order = np.flatnonzero(free)
        if demand.amount is not fit.WHOLE:
            order = order[np.lexsort((free[order], ~used[order]))]
    order = order[~kept[order]][:count]
    return ground.ids[np.concatenate([np.flatnonzero(kept), order])].tolist()


def preferred(demand, ground, span):
    """How many of the `best` no resource with a greater id could displace; 0 where one has to come.

    Nothing is preferred to a resource that is used and has the least room; of those the first ids
    come first.
    """
    kept = [pick.resource_id for pick in demand.keep]
    if not len(ground.ids) or max(kept, default=0) > ground.ids[-1]:
        return 0
    free, used = ground.rooms(demand.amount, span)
    least = demand.at_most if demand.spread is fit.Spread.TOGETHER else 1
    return int(np.count_nonzero(used & (free == least) & ~np.isin(ground.ids, kept)))


def _units(amounts, names):
    """A row for each of `amounts`, pairs of units and copies; a column for each class."""
    return np.array([[each.get(name, 0) * copies for name in names] for each, copies in amounts],
                    np.int64).reshape(-1, len(names))


def _peaks(count, owner, start, end, units):
    """As ``usage.peak`` of each of `count` resources, a row of classes each."""
    peaks = np.zeros((count, units.shape[1]), np.int64)
    alone = np.bincount(owner, minlength=count)[owner] == 1
    peaks[owner[alone]] = units[alone]
    if alone.all():
        return peaks
    owner, start, end, units = (column[~alone] for column in (owner, start, end, units))
    owner = np.concatenate([owner, owner])
    # What ends at the moment at which something starts is given back before.
    moment = np.concatenate([2 * start + 1, 2 * end])
    order = np.lexsort((moment, owner))
    # All that is taken of a resource is given back, so the next one begins at zero.
    level = np.cumsum(np.concatenate([units, -units])[order], axis=0)
    owner = owner[order]
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    peaks[owner[first]] = np.maximum.reduceat(level, first, axis=0).clip(0)
    return peaks
