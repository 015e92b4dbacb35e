# SPDX-License-Identifier: Apache-2.0
"""Prefilter many candidates to the few that ``domain.selection`` could choose, with arrays.

``selection`` checks one resource after the other. The prefilter checks all of them at once, and
leaves out only those that ``selection`` would not choose. ``selection`` then chooses among the few
that are left, with all their bookings.
"""
from collections.abc import Sequence
import dataclasses
import datetime
import json

import numpy as np

from climate import errors
from climate.db import booking_columns
from climate.domain import interval
from climate.domain import joint_selection
from climate.domain import selection


class CandidateSet:
    """Candidate resources and the bookings of others on them, in columns.

    :ivar ids: of the resources, in the order of preference; ascending if any has bookings.
    """

    def __init__(self, resources, taken=(), cleaning=datetime.timedelta(), late=None):
        """Combine resources and bookings.

        :param resources: pairs (id, JSON text of the capacity).
        :param taken: a list of ``booking_columns.Bookings``; those of other resources are ignored.
        :param cleaning: the time kept free before and after each booking in `taken`.
        :param late: further Bookings, without cleaning time.
        """
        ids, capacities = zip(*resources, strict=True) if resources else ((), ())
        self.ids = np.array(ids, np.int64)
        known = {text: place for place, text in enumerate(dict.fromkeys(capacities))}
        self._capacities = [json.loads(text) for text in known]
        self._capacity = np.array([known[text] for text in capacities], np.int64)
        #: For each kind of booking: (amount, number of copies booked at once).
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

    def _columns(self, given, margin):
        first = len(self._amounts)
        self._amounts += given.amounts
        return np.array([given.owners, given.starts - margin, given.ends + margin,
                         given.kinds + first])

    def free_copies(self, amount, span):
        """Return the free copies of each resource during `span`, and whether it is used.

        :returns: two arrays, in the order of `ids`: (free copies, whether used), as ``selection``
            counts them.
        """
        touching = ((self._start < booking_columns.microseconds(span.end))
                    & (self._end > booking_columns.microseconds(span.start)))
        used = self._marked(self._owner[touching])
        if amount is selection.WHOLE:
            return (~used).astype(np.int64), used
        whole = np.array([each is selection.WHOLE for each, _ in self._amounts], bool)
        closed = self._marked(self._owner[touching & whole[self._kind]])
        free = self._copies_beside(amount, np.flatnonzero(touching & ~closed[self._owner]))
        free[closed] = 0
        return free, used

    def _copies_beside(self, amount, booked):
        """Return the free copies of each resource beside its bookings, as ``usage.copies_beside``.

        :param booked: the indices of the bookings that count.
        """
        names = [name for name, units in amount.items() if units > 0]
        if not names:
            raise ValueError('An amount needs at least one unit of some class.')
        units = _units([({}, 0) if each is selection.WHOLE else (each, copies)
                        for each, copies in self._amounts], names)
        peaks = _peaks(len(self.ids), self._owner[booked], self._start[booked],
                       self._end[booked], units[self._kind[booked]])
        capacity = _units([(each, 1) for each in self._capacities], names)[self._capacity]
        wanted = np.array([amount[name] for name in names], np.int64)
        return ((capacity - peaks) // wanted).min(axis=1, initial=np.iinfo(np.int64).max).clip(0)

    def _marked(self, places):
        mask = np.zeros(len(self.ids), bool)
        mask[places] = True
        return mask

    def candidates(self, ids=None):
        """Return the resources as selection.Candidates, in order; only those of `ids`, if given."""
        chosen = (np.ones(len(self.ids), bool) if ids is None
                  else np.isin(self.ids, np.fromiter(ids, np.int64)))
        bookings = {place: [] for place in np.flatnonzero(chosen).tolist()}
        mine = np.flatnonzero(chosen[self._owner])
        for place, start, end, kind in zip(*(
                column[mine].tolist() for column in (
                    self._owner, self._start, self._end, self._kind)), strict=True):
            amount, copies = self._amounts[kind]
            span = interval.Interval(booking_columns.moment(start), booking_columns.moment(end))
            bookings[place] += [(span, amount)] * copies
        return [selection.Candidate(int(self.ids[place]), self._capacities[self._capacity[place]],
                                    tuple(booked))
                for place, booked in bookings.items()]


@dataclasses.dataclass(frozen=True)
class CandidateDemand:
    """A ``joint_selection.ReservationDemand`` with many candidates.

    :ivar candidate_set: the resources, with all bookings except those of the demands that are
        served at the same time.
    """

    demand: selection.Demand
    candidate_set: CandidateSet
    must_keep: bool = False

    def among(self, ids=None):
        """Return a ``joint_selection.ReservationDemand`` with the resources `ids`, or all."""
        return joint_selection.ReservationDemand(
            self.demand, self.candidate_set.candidates(ids), self.must_keep)


def choose(asks: Sequence[CandidateDemand], span: interval.Interval):
    """Return what ``joint_selection.choose`` would choose among all resources.

    :raises NotEnough: as ``joint_selection.choose``.
    """
    count = most(ask.demand for ask in asks)
    few = set().union(*(best(ask.demand, ask.candidate_set, count, span) for ask in asks))
    try:
        return joint_selection.in_order([ask.among(few) for ask in asks], span)
    except errors.NotEnough:
        if len(asks) == 1:
            raise
    # The demands do not all fit in the given order. ``joint_selection.choose`` also tries another
    # order, by the number of candidates of each demand, so it needs all candidates.
    return joint_selection.choose([ask.among() for ask in asks], span)


def most(demands):
    """Return the greatest number of resources that the demands can take together."""
    return sum(demand.at_most for demand in demands)


def best(demand, candidate_set, count, span):
    """Return a list of ids of the resources that are enough for ``selection.choose``.

    These are the resources that the demand keeps, and the first `count` others in the order of
    preference. Other demands of the same lease may use some of them meanwhile, which moves those
    in the order; all others keep their position. If `count` is the most that all demands together
    can take, enough of the first resources for this demand keep their position. If fewer than
    `count` have free slots, all of them are returned, so that an error names the same number.
    """
    free, used = candidate_set.free_copies(demand.amount, span)
    kept = np.isin(candidate_set.ids, [pick.resource_id for pick in demand.keep])
    if demand.spread is selection.Spread.TOGETHER:
        able = np.flatnonzero(free >= max(demand.at_least, 1))
        order = able[np.lexsort((free[able], ~used[able],
                                 -np.minimum(free[able], demand.at_most)))]
        if not len(able):
            # The resource with the most free copies: the error names that number.
            order = np.argsort(-free)[:1]
    else:
        order = np.flatnonzero(free)
        if demand.amount is not selection.WHOLE:
            order = order[np.lexsort((free[order], ~used[order]))]
    order = order[~kept[order]][:count]
    return candidate_set.ids[np.concatenate([np.flatnonzero(kept), order])].tolist()


def preferred(demand, candidate_set, span):
    """Return the number of the `best` resources that none with a greater id could displace.

    A used resource with the least free copies is preferred to all others; among such resources the
    lowest ids come first. The result is 0 if a resource that the demand keeps was not read yet.
    """
    kept = [pick.resource_id for pick in demand.keep]
    if not len(candidate_set.ids) or max(kept, default=0) > candidate_set.ids[-1]:
        return 0
    free, used = candidate_set.free_copies(demand.amount, span)
    least = demand.at_most if demand.spread is selection.Spread.TOGETHER else 1
    return int(np.count_nonzero(used & (free == least) & ~np.isin(candidate_set.ids, kept)))


def _units(amounts, names):
    """Return a row for each of `amounts`, pairs (units, copies), with a column for each class."""
    return np.array([[each.get(name, 0) * copies for name in names] for each, copies in amounts],
                    np.int64).reshape(-1, len(names))


def _peaks(count, owner, start, end, units):
    """Return the peak usage of `count` resources, as ``usage.peak``: a row of classes for each."""
    peaks = np.zeros((count, units.shape[1]), np.int64)
    alone = np.bincount(owner, minlength=count)[owner] == 1
    peaks[owner[alone]] = units[alone]
    if alone.all():
        return peaks
    owner, start, end, units = (column[~alone] for column in (owner, start, end, units))
    owner = np.concatenate([owner, owner])
    # A booking that ends at the moment at which another starts is released first.
    moment = np.concatenate([2 * start + 1, 2 * end])
    order = np.lexsort((moment, owner))
    # Each booking is also released, so the sum is zero where the next resource begins.
    level = np.cumsum(np.concatenate([units, -units])[order], axis=0)
    owner = owner[order]
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    peaks[owner[first]] = np.maximum.reduceat(level, first, axis=0).clip(0)
    return peaks
