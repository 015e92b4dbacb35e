# SPDX-License-Identifier: Apache-2.0
"""The candidates for one need: resources that meet its criteria, and their bookings.

Candidates are read in the order of their ids, by at most three statements, however large the pool
is. The first statement reads a number of resources that usually suffices. Otherwise the second
statement reads an estimated number, and the third one reads all other resources.
"""
import math

from climate.db import booking_columns
from climate.db import free_resources
from climate.manager.booking import criteria
from climate.manager.booking import prefilter

# The number of shared resources that the first statement reads, and the least number of whole
# resources if there are criteria or a race was lost.
FIRST_SHARED, FIRST_WHOLE = 500, 100
# The second statement reads this multiple of the estimated number.
_LEEWAY = 3


def unused(core, connection, need, terms, most=None):
    """Return the resources without any booking, as a CandidateSet.

    :param most: stop reading after this number of candidates; None: read all.
    """
    excluded = {*terms.overdue(connection), *terms.avoid}
    reader = _CandidateReader(core, connection, need, terms, excluded)
    rows, limit = [], free_resources.ALL if most is None else most + len(excluded)
    if most is not None and (reader.has_criteria or terms.lost):
        limit = max(limit, FIRST_WHOLE)
    while not reader.ended and (most is None or len(rows) < most):
        rows += terms.in_order(reader.read(free_resources.free, limit))
        if not reader.ended:
            limit = reader.next_limit(limit, len(rows), most)
    return prefilter.CandidateSet(rows)


def shared(core, connection, need, terms, most=None):
    """Return the reservable resources with their bookings, except those of `terms.replaced`.

    :param most: stop reading after this number of candidates that are preferred to all later ones;
        None: read all.
    :returns: a CandidateSet.
    """
    late = booking_columns.of([
        (key, booking_columns.microseconds(terms.while_overdue.start),
         booking_columns.microseconds(terms.while_overdue.end), amount, 1)
        for key, overdue in terms.overdue(connection).items() for _, amount in overdue])
    reader = _CandidateReader(core, connection, need, terms, terms.avoid)
    rows, taken, candidate_set = [], [], prefilter.CandidateSet([])
    limit, preferred = free_resources.ALL if most is None else FIRST_SHARED, 0
    while not reader.ended and (most is None or preferred < most):
        new = reader.read(free_resources.in_order, limit)
        rows += new
        taken.append(booking_columns.of_resources(connection, [key for key, _ in new],
                                                  reader.search.span, reader.search.ignoring))
        candidate_set = prefilter.CandidateSet(rows, taken, terms.cleaning, late)
        if not reader.ended:
            preferred = prefilter.preferred(need.demand, candidate_set, terms.span)
            limit = reader.next_limit(limit, preferred, most)
    return candidate_set


class _CandidateReader:
    """Reads the resources of a pool that meet the criteria of a need, in the order of their ids.

    :ivar ended: True after all were read.
    :ivar has_criteria: True if some rows must be dropped after they were read.
    """

    def __init__(self, core, connection, need, terms, excluded):
        self.ended, self._statements, self._after = False, 0, 0
        self._connection = connection
        self._excluded = excluded
        self._sieve = criteria.Sieve(core, need)
        self.has_criteria = bool(self._sieve.names)
        self.search = free_resources.ResourceSearch(
            pool=need.pool, span=terms.span.widened(terms.cleaning), own=terms.own,
            soon=terms.soon, ignoring=terms.replaced, condition=self._sieve.condition,
            names=self._sieve.names, well=terms.must_be_well, kept=terms.kept)

    def read(self, rows_of, limit):
        """Read the next resources; return pairs (id, JSON text of the capacity).

        :param rows_of: ``free_resources.free`` or ``free_resources.in_order``.
        :param limit: the number of rows to read; rows that do not meet the criteria are dropped.
        """
        rows = rows_of(self._connection, self.search, self._after, limit)
        self.ended, self._statements = len(rows) < limit, self._statements + 1
        if rows:
            self._after = rows[-1].id
        return [(row.id, row.capacity) for row in self._sieve.meeting(rows)
                if row.id not in self._excluded]

    def next_limit(self, limit, suitable, most):
        """Return the number of rows that the next statement should read.

        :param limit: the number of rows that the first statement read.
        :param suitable: the number of suitable rows among them.
        :param most: the number of suitable rows that is enough.
        """
        if self._statements > 1 or not suitable:
            return free_resources.ALL
        return limit * math.ceil((most - suitable) / suitable) * _LEEWAY
