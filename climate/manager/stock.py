# SPDX-License-Identifier: Apache-2.0
"""What there is to choose from for one need: resources, and what others have of them.

They are read in the order of their ids: the first so many, then some more, and then all
others, unless nothing that comes later would be preferred to what was found. So there are no more
statements for larger pools.
"""
from climate.db import calendars
from climate.db import room
from climate.manager import criteria
from climate.manager import narrowing

# So many are looked at first where not each of those that are free will do, and where they are
# shared.
_PICKED = 100
_SHARED = 500
# So many times as many are looked at next, before all others are.
_MORE = 4


def unused(core, connection, need, terms, most=None):
    """The resources of which nobody has anything, as a Ground.

    :param most: where given, so many of the first do.
    """
    left_out = {*terms.overdue(connection), *terms.avoid}
    look = _Look(core, connection, need, terms, left_out)
    first = None if most is None else most + len(left_out)
    if first is not None and (look.picky or terms.lost):
        first = max(first, _PICKED)
    found = []
    for rows in look.pages(room.free, first):
        found += terms.in_order(rows)
        if most is not None and len(found) >= most:
            break
    return narrowing.Ground(found)


def shared(core, connection, need, terms, most=None):
    """The resources that are in order, with what others have of them, as a Ground.

    :param most: where given, that is enough of which so many of the first are preferred.
    """
    late = _late(terms, terms.overdue(connection))
    look = _Look(core, connection, need, terms, terms.avoid)
    found, taken, ground = [], [], narrowing.Ground([])
    for rows in look.pages(room.in_order, None if most is None else _SHARED):
        found += rows
        taken.append(calendars.of_resources(connection, [key for key, _ in rows],
                                            look.search.span, look.search.ignoring))
        ground = narrowing.Ground(found, taken, terms.cleaning, late)
        if most is not None and narrowing.settled(need.demand, ground, most, terms.span):
            break
    return ground


class _Look:
    """Reads those resources of a pool that meet the criteria of a need."""

    def __init__(self, core, connection, need, terms, left_out):
        self._connection = connection
        self._left_out = left_out
        self._sieve = criteria.Sieve(core, need)
        self.picky = bool(self._sieve.names)
        self.search = room.Search(
            pool=need.pool, span=terms.span.widened(terms.cleaning), own=terms.own,
            soon=terms.soon, ignoring=terms.replaced, condition=self._sieve.condition,
            names=self._sieve.names)

    def pages(self, read, first):
        """Yield lists of (id, JSON text of the capacity): of the first so many, of more, of all.

        :param read: ``room.free`` or ``room.in_order``.
        :param first: how many; None: all at once.
        """
        after = 0
        for limit in (room.ALL,) if first is None else (first, first * _MORE, room.ALL):
            rows = read(self._connection, self.search, after, limit)
            yield [(row.id, row.capacity) for row in self._sieve.meeting(rows)
                   if row.id not in self._left_out]
            if len(rows) < limit:
                return
            after = rows[-1].id


def _late(terms, overdue):
    """What is overdue, as Promises; None where nothing is."""
    if not overdue:
        return None
    start, end = (calendars.microseconds(moment) for moment in (
        terms.while_overdue.start, terms.while_overdue.end))
    return calendars.of([(key, start, end, amount, 1)
                         for key, given in overdue.items() for _, amount in given])
