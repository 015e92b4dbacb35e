# SPDX-License-Identifier: Apache-2.0
"""What there is to choose from for one need: resources, and what others have of them.

They are read in the order of their ids: the first so many; then, unless nothing that comes later
would be preferred to what was found, as many as it should take; then all others. So there are no
more statements for larger pools.
"""
import math

from climate.db import calendars
from climate.db import room
from climate.manager import criteria
from climate.manager import narrowing

# So many are looked at first where not each of those that are free will do, and where they are
# shared.
_PICKED = 100
_SHARED = 500
# So many times as many are looked at next as it should take.
_LEEWAY = 3


def unused(core, connection, need, terms, most=None):
    """The resources of which nobody has anything, as a Ground.

    :param most: where given, so many of the first do.
    """
    left_out = {*terms.overdue(connection), *terms.avoid}
    look = _Look(core, connection, need, terms, left_out)
    first = None if most is None else most + len(left_out)
    if first is not None and (look.picky or terms.lost):
        first = max(first, _PICKED)
    found, limit = [], room.ALL if first is None else first
    while not look.ended and (most is None or len(found) < most):
        found += terms.in_order(look.read(room.free, limit))
        if not look.ended:
            limit = look.next(limit, len(found), most)
    return narrowing.Ground(found)


def shared(core, connection, need, terms, most=None):
    """The resources that are in order, with what others have of them, as a Ground.

    :param most: where given, that is enough of which so many of the first are preferred.
    """
    late = _late(terms, terms.overdue(connection))
    look = _Look(core, connection, need, terms, terms.avoid)
    found, taken, ground = [], [], narrowing.Ground([])
    limit, preferred = room.ALL if most is None else _SHARED, 0
    while not look.ended and (most is None or preferred < most):
        rows = look.read(room.in_order, limit)
        found += rows
        taken.append(calendars.of_resources(connection, [key for key, _ in rows],
                                            look.search.span, look.search.ignoring))
        ground = narrowing.Ground(found, taken, terms.cleaning, late)
        if not look.ended:
            preferred = narrowing.preferred(need.demand, ground, terms.span)
            limit = look.next(limit, preferred, most)
    return ground


class _Look:
    """Reads those resources of a pool that meet the criteria of a need, by id.

    :ivar ended: there are no more.
    """

    def __init__(self, core, connection, need, terms, left_out):
        self.ended, self._times, self._after = False, 0, 0
        self._connection = connection
        self._left_out = left_out
        self._sieve = criteria.Sieve(core, need)
        self.picky = bool(self._sieve.names)
        self.search = room.Search(
            pool=need.pool, span=terms.span.widened(terms.cleaning), own=terms.own,
            soon=terms.soon, ignoring=terms.replaced, condition=self._sieve.condition,
            names=self._sieve.names)

    def read(self, rows_of, limit):
        """The next ones, as pairs of id and JSON text of the capacity.

        :param rows_of: ``room.free`` or ``room.in_order``.
        :param limit: of how many that could meet the criteria.
        """
        rows = rows_of(self._connection, self.search, self._after, limit)
        self.ended, self._times = len(rows) < limit, self._times + 1
        if rows:
            self._after = rows[-1].id
        return [(row.id, row.capacity) for row in self._sieve.meeting(rows)
                if row.id not in self._left_out]

    def next(self, limit, found, wanted):
        """How many to read after the first `limit`, of which `found` will do.

        All where none does, and where that was not enough once.
        """
        if self._times > 1 or not found:
            return room.ALL
        return limit * math.ceil((wanted - found) / found) * _LEEWAY


def _late(terms, overdue):
    """What is overdue, as Promises; None where nothing is."""
    if not overdue:
        return None
    start, end = (calendars.microseconds(moment) for moment in (
        terms.while_overdue.start, terms.while_overdue.end))
    return calendars.of([(key, start, end, amount, 1)
                         for key, given in overdue.items() for _, amount in given])
