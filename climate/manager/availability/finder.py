# SPDX-License-Identifier: Apache-2.0
"""The use case: when what somebody asks for can be had, and what can be had instead."""
import datetime

from oslo_utils import uuidutils

from climate import errors
from climate.domain import availability
from climate.domain import interval
from climate.domain import records
from climate.manager import booking
from climate.manager import drafts
from climate.manager import moments
from climate.manager.availability import near
from climate.manager.availability import search
from climate.manager.availability import telling

# What is answered can be had for so long after, if nobody else takes it.
_LEEWAY = datetime.timedelta(minutes=2)
# So far ahead is looked where nobody says how far, and at most.
_AHEAD = datetime.timedelta(days=30)
_FARTHEST = datetime.timedelta(days=366)
_LAST_YEAR = 9000


class Finder:
    """Looks into the future, and writes nothing."""

    def __init__(self, core):
        self._core = core
        self._drafts = drafts.Drafts(core)
        self._booking = booking.Booking(core, _LEEWAY)

    def find(self, context, query):
        """The Answer to an ``availability.Query``.

        :raises BadRequest: the query is wrong; the error names the field.
        :raises ServerLeased: another reservation leases a server of it.
        """
        now = self._core.clock()
        duration = datetime.timedelta(seconds=query.duration_seconds)
        window = _window(query, duration, now)
        lease, wishes = self._drafts.draft(
            context, uuidutils.generate_uuid(), _request(query, window, now), now)
        with self._core.database.reader() as connection:
            found = self._search(connection, wishes, window, now)
            teller = telling.Teller(self._core, connection, lease.reservations)
            openings = self._openings(teller, wishes, found, duration, query.limit, now)
            considered = teller.considered(found, duration)
            near_by = () if openings else self._alternatives(connection, wishes, found, duration,
                                                             now)
        return availability.Answer(
            earliest=window.start, latest=window.end, duration_seconds=query.duration_seconds,
            openings=openings, considered=considered, alternatives=near_by,
            complete=found.complete)

    def _search(self, connection, wishes, window, now):
        return search.Search(self._core, connection, wishes,
                             self._booking.terms(wishes, window, now), window)

    def _openings(self, teller, wishes, found, duration, limit, now):
        openings = []
        for each in found.openings(duration, limit):
            span = interval.Interval(each.start, each.start + duration)
            try:
                chosen = self._booking.plan(wishes, span, now)
            except errors.NotEnough:
                # Somebody was faster since the promises were read.
                continue
            openings.append(availability.Opening(
                start=span.start, end=span.end, last_start=each.last,
                shares=teller.shares(chosen)))
        return tuple(openings)

    def _alternatives(self, connection, wishes, found, duration, now):
        # From the first start on that was not looked at.
        start = found.window.end - duration + interval.RESOLUTION
        window = interval.Interval(start, start + _FARTHEST + duration)
        beyond = self._search(connection, wishes, window, now)
        every = (near.shorter(found, duration), near.fewer(found, duration),
                 near.later(beyond, duration))
        return tuple(each for each in every if each is not None)


def _window(query, duration, now):
    """The Interval in which all of the duration is to lie.

    :raises BadDate: it begins in the past.
    :raises BadField: it is too short, or too long.
    """
    start = now if query.earliest is None else query.earliest
    moments.refuse_past(start, now, 'earliest')
    start = max(start, now)
    latest = query.latest
    if latest is None:
        latest = moments.plus(start, query.duration_seconds + _AHEAD.total_seconds())
    if latest.year > _LAST_YEAR:
        raise errors.BadField(field='latest', reason=f'it lies beyond the year {_LAST_YEAR}.')
    if latest - start < duration:
        raise errors.BadField(field='duration', reason=(
            f'{duration} does not fit between the earliest moment, {start:%Y-%m-%d %H:%M:%S}, and '
            f'the latest, {latest:%Y-%m-%d %H:%M:%S} UTC.'))
    if latest - start > _FARTHEST + duration:
        raise errors.BadField(field='latest', reason=(
            f'starts are looked for in at most {_FARTHEST.days} days after the earliest moment.'))
    return interval.Interval(start, latest)


def _request(query, window, now):
    """The LeaseRequest that asks for the same at the beginning of the window."""
    return records.LeaseRequest(
        name='availability', start=None if window.start <= now else window.start, end=None,
        duration_seconds=query.duration_seconds, reservations=query.reservations, lenient=False)
