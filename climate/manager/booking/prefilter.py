# SPDX-License-Identifier: Apache-2.0
"""A fast prefilter that drops candidates that ``domain.selection`` would not choose.

``selection`` checks one candidate after the other. The prefilter checks all of them with arrays,
so that ``selection`` only has to choose among a few. It chooses the same resources as without the
prefilter.
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
    """Candidate resources and their bookings, as columns.

    :ivar ids: resource ids in the order of preference; ascending if any resource has bookings.
    """

    def __init__(self, resources, taken=(), cleaning=datetime.timedelta(), late=None):
        """Combine resources and bookings.

        :param resources: pairs (id, JSON text of the capacity).
        :param taken: a list of ``booking_columns.Bookings``; those of other resources are ignored.
        :param cleaning: the time kept free before and after each booking in `taken`.
        :param late: other Bookings, to which no cleaning time is added.
        """
        ids, capacities = zip(*resources, strict=True) if resources else ((), ())
        self.ids = np.array(ids, np.int64)
        index_of = {text: index for index, text in enumerate(dict.fromkeys(capacities))}
        self._capacities = [json.loads(text) for text in index_of]
        self._capacity = np.array([index_of[text] for text in capacities], np.int64)
        #: For each kind of booking: (amount, number of copies booked at once).
        self._amounts = []
        margin = cleaning // interval.RESOLUTION
        columns = [np.zeros((4, 0), np.int64),
                   *(self._columns(bookings, margin) for bookings in taken),
                   *([self._columns(late, 0)] if late else [])]
        owners, *booked = np.concatenate(columns, axis=1)
        owner = np.searchsorted(self.ids, owners)
        is_candidate = np.append(self.ids, -1)[owner] == owners
        self._owner = owner[is_candidate]
        self._start, self._end, self._kind = (column[is_candidate] for column in booked)

    def _columns(self, bookings, margin):
        first = len(self._amounts)
        self._amounts += bookings.amounts
        return np.array([bookings.owners, bookings.starts - margin, bookings.ends + margin,
                         bookings.kinds + first])

    def free_copies(self, amount, span):
        """Return the number of free copies on each resource, and a mask of the used resources.

        :returns: two arrays in the order of `ids`, with the values that ``selection`` computes.
        """
        touching = ((self._start < booking_columns.microseconds(span.end))
                    & (self._end > booking_columns.microseconds(span.start)))
        used = self._marked(self._owner[touching])
        if amount is selection.WHOLE:
            return (~used).astype(np.int64), used
        whole = np.array([each is selection.WHOLE for each, _ in self._amounts], bool)
        booked_whole = self._marked(self._owner[touching & whole[self._kind]])
        free = self._copies_beside(amount, np.flatnonzero(touching & ~booked_whole[self._owner]))
        free[booked_whole] = 0
        return free, used

    def _copies_beside(self, amount, booked):
        """Return ``booked_capacity.copies_beside`` for each resource.

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
        per_copy = np.array([amount[name] for name in names], np.int64)
        return ((capacity - peaks) // per_copy).min(axis=1, initial=np.iinfo(np.int64).max).clip(0)

    def _marked(self, places):
        mask = np.zeros(len(self.ids), bool)
        mask[places] = True
        return mask

    def candidates(self, ids=None):
        """Return the resources `ids` as selection.Candidates, in order; None: all resources."""
        chosen = (np.ones(len(self.ids), bool) if ids is None
                  else np.isin(self.ids, np.fromiter(ids, np.int64)))
        bookings = {place: [] for place in np.flatnonzero(chosen).tolist()}
        rows = np.flatnonzero(chosen[self._owner])
        for place, start, end, kind in zip(*(
                column[rows].tolist() for column in (
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

    :ivar candidate_set: the resources, with all bookings except those of the reservations that are
        booked together.
    """

    demand: selection.Demand
    candidate_set: CandidateSet
    must_keep: bool = False

    def among(self, ids=None):
        """Return the ``joint_selection.ReservationDemand`` for the resources `ids`; None: all."""
        return joint_selection.ReservationDemand(
            self.demand, self.candidate_set.candidates(ids), self.must_keep)


def choose(demands: Sequence[CandidateDemand], span: interval.Interval):
    """Return the result of ``joint_selection.choose`` among all resources.

    :raises NotEnough: as ``joint_selection.choose``.
    """
    count = most(each.demand for each in demands)
    best_ids = set().union(*(best(each.demand, each.candidate_set, count, span)
                             for each in demands))
    try:
        return joint_selection.in_order([each.among(best_ids) for each in demands], span)
    except errors.NotEnough:
        if len(demands) == 1:
            raise
    # The demands do not all fit in this order. ``joint_selection.choose`` also tries them in the
    # order of the number of their candidates, so it needs all candidates.
    return joint_selection.choose([each.among() for each in demands], span)


def most(demands):
    """Return the greatest number of resources that the demands can take together."""
    return sum(demand.at_most for demand in demands)


def best(demand, candidate_set, count, span):
    """Return the ids of enough resources for ``selection.choose`` to choose the same.

    These are the resources that the demand keeps, and the first `count` others in the order of
    preference. Other demands of the same lease may take some of them before this demand is served.
    So `count` must be the greatest number of resources that all demands together can take. If
    fewer resources have free copies, all of them are returned, so that an error counts the same.
    If the demand has rations, all with free copies are returned, too.
    """
    free, used = candidate_set.free_copies(demand.amount, span)
    kept = np.isin(candidate_set.ids, [pick.resource_id for pick in demand.keep])
    if demand.spread is selection.Spread.TOGETHER:
        able = np.flatnonzero(free >= max(demand.at_least, 1))
        order = able[np.lexsort((free[able], ~used[able],
                                 -np.minimum(free[able], demand.at_most)))]
        if not len(able):
            # An error needs the greatest number of free copies on one resource.
            order = np.argsort(-free)[:1]
    else:
        order = np.flatnonzero(free)
        if demand.amount is not selection.WHOLE:
            order = order[np.lexsort((free[order], ~used[order]))]
    # A choice with rations prefers resources by what they take of the rations.
    order = order[~kept[order]][:None if demand.rations else count]
    return candidate_set.ids[np.concatenate([np.flatnonzero(kept), order])].tolist()


def preferred(demand, candidate_set, span):
    """Return the number of candidates that are preferred to any resource with a greater id.

    These are the used resources with the fewest free copies that suffice, because among equal
    resources the lowest id is preferred. The result is 0 if the candidates lack a resource that the
    demand keeps.
    """
    kept = [pick.resource_id for pick in demand.keep]
    if not len(candidate_set.ids) or max(kept, default=0) > candidate_set.ids[-1]:
        return 0
    free, used = candidate_set.free_copies(demand.amount, span)
    least = demand.at_most if demand.spread is selection.Spread.TOGETHER else 1
    return int(np.count_nonzero(used & (free == least) & ~np.isin(candidate_set.ids, kept)))


def _units(amounts, names):
    """Return an array with a row for each pair (units, copies), and a column for each class."""
    return np.array([[each.get(name, 0) * copies for name in names] for each, copies in amounts],
                    np.int64).reshape(-1, len(names))


def _peaks(count, owner, start, end, units):
    """Return ``booked_capacity.peak`` for each resource, with a column for each class."""
    peaks = np.zeros((count, units.shape[1]), np.int64)
    alone = np.bincount(owner, minlength=count)[owner] == 1
    peaks[owner[alone]] = units[alone]
    if alone.all():
        return peaks
    owner, start, end, units = (column[~alone] for column in (owner, start, end, units))
    owner = np.concatenate([owner, owner])
    # At the same moment, ends come before starts.
    moment = np.concatenate([2 * start + 1, 2 * end])
    order = np.lexsort((moment, owner))
    # Each booking ends, so the sum is zero before the first booking of the next resource.
    level = np.cumsum(np.concatenate([units, -units])[order], axis=0)
    owner = owner[order]
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    peaks[owner[first]] = np.maximum.reduceat(level, first, axis=0).clip(0)
    return peaks
