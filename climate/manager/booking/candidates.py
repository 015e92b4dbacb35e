# SPDX-License-Identifier: Apache-2.0
"""The candidates for one need: resources that meet its criteria, and their bookings.

They are read in the order of their ids, in at most three steps: a first number of resources; then,
if later ones could be preferred, as many as should be enough; then all others. So a larger pool
does not need more statements.
"""
import dataclasses
import math

from climate.db import booking_columns
from climate.db import free_resources
from climate.manager.booking import criteria
from climate.manager.booking import prefilter

# The second step reads this many times the number that should be enough.
_LEEWAY = 3


@dataclasses.dataclass(frozen=True)
class First:
    """The number of resources that the first step reads.

    :ivar picked: for whole resources, if there are criteria or a race was lost.
    :ivar shared: for shared resources.
    """

    picked: int = 100
    shared: int = 500


FIRST = First()


def unused(core, connection, need, terms, most=None, read_first=FIRST):
    """Return the resources without any booking, as a CandidateSet.

    :param most: the number of candidates that is enough; None: all.
    """
    left_out = {*terms.overdue(connection), *terms.avoid}
    reader = _CandidateReader(core, connection, need, terms, left_out)
    first = None if most is None else most + len(left_out)
    if first is not None and (reader.picky or terms.lost):
        first = max(first, read_first.picked)
    rows, limit = [], free_resources.ALL if first is None else first
    while not reader.ended and (most is None or len(rows) < most):
        rows += terms.in_order(reader.read(free_resources.free, limit))
        if not reader.ended:
            limit = reader.next(limit, len(rows), most)
    return prefilter.CandidateSet(rows)


def shared(core, connection, need, terms, most=None, read_first=FIRST):
    """Return the reservable resources with the bookings of others, as a CandidateSet.

    :param most: the number of candidates that is enough, if no later one would be preferred to
        them; None: all.
    """
    late = _late(terms, terms.overdue(connection))
    reader = _CandidateReader(core, connection, need, terms, terms.avoid)
    rows, taken, candidate_set = [], [], prefilter.CandidateSet([])
    limit, preferred = free_resources.ALL if most is None else read_first.shared, 0
    while not reader.ended and (most is None or preferred < most):
        new = reader.read(free_resources.in_order, limit)
        rows += new
        taken.append(booking_columns.of_resources(connection, [key for key, _ in new],
                                                  reader.search.span, reader.search.ignoring))
        candidate_set = prefilter.CandidateSet(rows, taken, terms.cleaning, late)
        if not reader.ended:
            preferred = prefilter.preferred(need.demand, candidate_set, terms.span)
            limit = reader.next(limit, preferred, most)
    return candidate_set


class _CandidateReader:
    """Reads the resources of a pool that meet the criteria of a need, in the order of their ids.

    :ivar ended: True once all were read.
    """

    def __init__(self, core, connection, need, terms, left_out):
        self.ended, self._times, self._after = False, 0, 0
        self._connection = connection
        self._left_out = left_out
        self._sieve = criteria.Sieve(core, need)
        self.picky = bool(self._sieve.names)
        self.search = free_resources.ResourceSearch(
            pool=need.pool, span=terms.span.widened(terms.cleaning), own=terms.own,
            soon=terms.soon, ignoring=terms.replaced, condition=self._sieve.condition,
            names=self._sieve.names, well=terms.must_be_well, kept=terms.kept)

    def read(self, rows_of, limit):
        """Read the next resources; return pairs (id, JSON text of the capacity).

        :param rows_of: ``free_resources.free`` or ``free_resources.in_order``.
        :param limit: the number of rows to read; those that miss the criteria are then dropped.
        """
        rows = rows_of(self._connection, self.search, self._after, limit)
        self.ended, self._times = len(rows) < limit, self._times + 1
        if rows:
            self._after = rows[-1].id
        return [(row.id, row.capacity) for row in self._sieve.meeting(rows)
                if row.id not in self._left_out]

    def next(self, limit, suitable, wanted):
        """Return the number of rows to read after the first `limit`, some of which were suitable.

        All of them if none was suitable, or if the second step was not enough.

        :param suitable: the number of suitable rows among the first.
        """
        if self._times > 1 or not suitable:
            return free_resources.ALL
        return limit * math.ceil((wanted - suitable) / suitable) * _LEEWAY


def _late(terms, overdue):
    """Return the overdue bookings as ``booking_columns.Bookings``, or None if there are none."""
    if not overdue:
        return None
    start, end = (booking_columns.microseconds(moment) for moment in (
        terms.while_overdue.start, terms.while_overdue.end))
    return booking_columns.of([(key, start, end, amount, 1)
                               for key, given in overdue.items() for _, amount in given])
