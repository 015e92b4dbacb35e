# SPDX-License-Identifier: Apache-2.0
"""The calendar of a pool: the number of its free resources over time."""
import datetime

import numpy as np

from climate.domain import availability
from climate.domain import interval
from climate.domain import lease_times
from climate.domain import selection
from climate.manager.booking import booking
from climate.manager.booking import pool_bookings
from climate.manager.booking import start_times
from climate.manager.booking import wish_lists

_AHEAD_SECONDS = 30 * 86400
_LONGEST = datetime.timedelta(days=366)
_WHOLE = selection.Demand(selection.WHOLE, 1, 1)


class PoolCalendar:
    """Counts the free resources of a pool over time, without naming resources or leases."""

    def __init__(self, core):
        self._core = core

    def find(self, pool, start, end, limit):
        """Return the first `limit` CalendarSpans between two moments, in order, without gaps.

        A resource counts as free if no part of it is allocated, held by an offer, or being cleaned.

        :param start: None: now.
        :param end: None: 30 days after the start.
        :raises BadDate: the start is in the past.
        :raises BadField: the end is not after the start, or more than a year after it.
        """
        now = self._core.clock()
        window = _window(start, end, now)
        terms = booking.Booking(self._core).terms((), window, now)
        with self._core.database.reader() as connection, start_times.SEARCH_SLOTS:
            bookings = pool_bookings.PoolBookings(connection, pool, terms, window,
                                                  with_amounts=False)
        total = len(bookings.resources)
        free = bookings.ranges(_WHOLE, np.arange(total), interval.RESOLUTION)
        return _spans(free.steps(limit + 1), total, window.end)[:limit]

    def find_copies(self, context, request, start, end, limit):
        """Return the first `limit` CalendarSpans of the copies of a reservation that could be had.

        Each CalendarSpan counts the copies that fit beside all other bookings.

        :param request: a ReservationRequest with one need for an amount.
        :raises BadRequest: the request is wrong; the error names the field.
        :raises BadDate: the start is in the past.
        """
        now = self._core.clock()
        window = _window(start, end, now)
        [need] = wish_lists.needs_of_request(self._core, context, request)
        [spans] = self._copies([need], window, now, limit)
        return spans

    def find_kinds(self, context, resource_type, start, end, limit):
        """Return a KindCalendar for each kind of a type that the caller may reserve, by kind.

        :param limit: the number of CalendarSpans at which the list ends.
        :raises BadDate: the start is in the past.
        """
        now = self._core.clock()
        window = _window(start, end, now)
        plugin = self._core.registry.plugin(resource_type)
        kinds = plugin.kinds(self._core.cloud.as_caller(context))
        needs = [need for kind in sorted(kinds) for need in plugin.needs(kinds[kind])]
        return tuple(
            availability.KindCalendar(kind=kind, spans=spans)
            for kind, spans in zip(sorted(kinds), self._copies(needs, window, now, limit),
                                   strict=False))

    def _copies(self, needs, window, now, limit):
        """Return the CalendarSpans of each need, until there are `limit` of them together.

        :param needs: for amounts, in the same pool.
        """
        terms, found = booking.Booking(self._core).terms((), window, now), []
        with self._core.database.reader() as connection, start_times.SEARCH_SLOTS:
            bookings = needs and pool_bookings.PoolBookings(
                connection, needs[0].pool, terms, window, with_amounts=True)
            for need in needs:
                if limit <= 0:
                    break
                matching = bookings.matching(self._core, connection, need)
                steps, total = bookings.copies(need.demand, matching)
                found.append(_spans(steps[:limit + 1], total, window.end)[:limit])
                limit -= len(found[-1])
        return found


def _spans(steps, total, end):
    """Return the CalendarSpans of [(moment, number of free ones from then on)]."""
    ends = [*(moment for moment, _ in steps[1:]), end]
    return tuple(availability.CalendarSpan(start=begin, end=stop, free=count, total=total)
                 for (begin, count), stop in zip(steps, ends, strict=True))


def _window(start, end, now):
    start = now if start is None else start
    lease_times.refuse_past(start, now, 'start')
    start = max(start, now)
    end = lease_times.plus(start, _AHEAD_SECONDS) if end is None else end
    return lease_times.window(start, end, _LONGEST)
