# SPDX-License-Identifier: Apache-2.0
"""The use case: when what somebody asks for can be had, and what can be had instead."""
import dataclasses
import datetime

from oslo_utils import uuidutils

from climate import errors
from climate.domain import availability
from climate.domain import interval
from climate.domain import records
from climate.manager import booking
from climate.manager import drafts
from climate.manager import moments
from climate.manager import offers
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
    """Looks into the future; what is to be held of what it finds is held."""

    def __init__(self, core):
        self._core = core
        self._drafts = drafts.Drafts(core)
        self._offers = offers.Offers(core)

    def find(self, context, query):
        """The Answer to an ``availability.Query``.

        :raises BadRequest: the query is wrong; the error names the field.
        :raises ServerLeased: another reservation leases a server of it.
        :raises TooManyOffers: the project may hold none of the openings.
        """
        now = self._core.clock()
        duration = datetime.timedelta(seconds=query.duration_seconds)
        window = _window(query, duration, now)
        lease, wishes = self._drafts.draft(
            context, uuidutils.generate_uuid(), lease_request(query, window, now), now)
        # Nobody waits for an offer that nobody may take any more.
        self._offers.expire(now)
        planner = booking.Booking(self._core, max(
            _LEEWAY, datetime.timedelta(seconds=query.hold_seconds)))
        with self._core.database.reader() as connection, search.TURNS:
            for found in self._searches(connection, planner, wishes, window, now, duration):
                openings = found.openings(duration, query.limit)
                if found.settles(duration, query.limit, openings):
                    break
            considered = telling.Teller(self._core, connection).considered(
                lease.reservations, found, duration)
            near_by = () if openings else self._alternatives(connection, planner, found, wishes,
                                                             duration, now)
        chosen = _planned(planner, wishes, found, openings, duration, now)
        held = self._held(context, query, lease.reservations, wishes, chosen, now)
        return availability.Answer(
            earliest=window.start, latest=window.end, duration_seconds=query.duration_seconds,
            openings=self._told(lease.reservations, chosen, held), considered=considered,
            alternatives=near_by, complete=found.complete)

    def _searches(self, connection, planner, wishes, window, now, duration, like=None):
        return search.growing(self._core, connection, wishes, planner.terms(wishes, window, now),
                              window, duration, like)

    def _alternatives(self, connection, planner, found, wishes, duration, now):
        # From the first start on that was not looked at.
        start = found.window.end - duration + interval.RESOLUTION
        window = interval.Interval(start, start + _FARTHEST + duration)
        later = (near.later(beyond, duration) for beyond in self._searches(
            connection, planner, wishes, window, now, duration, found))
        every = (near.shorter(found, duration), near.fewer(found, duration),
                 next(filter(None, later), None))
        return tuple(each for each in every if each is not None)

    def _held(self, context, query, reservations, wishes, chosen, now):
        """The Offer of each of the Plans `chosen`, or None where it is not held.

        Where an offer before it holds some of it, or somebody was faster, it is of what is left; it
        is not held where that is too little.

        :raises TooManyOffers: the project may hold none of them.
        """
        count = query.hold if query.hold_seconds and query.hold_most else 0
        held = []
        for plan in chosen[:count]:
            ids = {each.id: uuidutils.generate_uuid() for each in reservations}
            try:
                held.append(self._offers.hold(
                    context,
                    [dataclasses.replace(each, reservation_id=ids[each.reservation_id])
                     for each in wishes],
                    [dataclasses.replace(each, id=ids[each.id]) for each in reservations],
                    plan.span, now,
                    [dataclasses.replace(each, reservation_id=ids[each.reservation_id])
                     for each in plan.promises],
                    seconds=query.hold_seconds, most=query.hold_most))
            except (errors.NotEnough, errors.LostRace):
                held.append(None)
            except errors.TooManyOffers:
                if not any(held):
                    raise
                break
        return [*held, *[None] * (len(chosen) - len(held))]

    def _told(self, reservations, chosen, held):
        """The Openings of the Plans `chosen`, of which those are held that have an Offer."""
        promises = [_promises(reservations, *each) for each in zip(chosen, held, strict=True)]
        with self._core.database.reader() as connection:
            teller = telling.Teller(self._core, connection, {
                given.resource_id for each in promises for given in each})
            return tuple(
                availability.Opening(
                    start=plan.span.start, end=plan.span.end, last_start=plan.last,
                    shares=teller.shares(reservations, given),
                    id=offer and offer.id, held_until=offer and offer.held_until)
                for plan, offer, given in zip(chosen, held, promises, strict=True))


@dataclasses.dataclass(frozen=True)
class Plan:
    """What would be booked: the Allocations `promises` during `span`, at latest from `last` on."""

    span: interval.Interval
    last: datetime.datetime
    promises: list


def _planned(planner, wishes, found, openings, duration, now):
    """The Plans of openings, a list of ``calendar.Opening`` that a Search has found."""
    plans = []
    for each in openings:
        span = interval.Interval(each.start, each.start + duration)
        # Without those wishes that are left out where there is no room.
        picks = found.picks(each, duration) if len(found.wishes) == len(wishes) else None
        try:
            promises = (planner.plan(wishes, span, now) if picks is None
                        else booking.promised(wishes, picks, span))
        except errors.NotEnough:
            # Somebody was faster since the promises were read.
            continue
        plans.append(Plan(span, each.last, promises))
    return plans


def _promises(reservations, plan, offer):
    """What each of the reservations gets by a Plan, or by the Offer that holds it, if any does."""
    if offer is None:
        return plan.promises
    # It has ids of its own, in the same order.
    ids = dict(zip((each.id for each in offer.request), (each.id for each in reservations),
                   strict=True))
    return [dataclasses.replace(each, reservation_id=ids[each.reservation_id])
            for each in offer.promises]


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


def lease_request(query, window, now):
    """The LeaseRequest that asks for the same at the beginning of the window."""
    return records.LeaseRequest(
        name='availability', start=None if window.start <= now else window.start, end=None,
        duration_seconds=query.duration_seconds, reservations=query.reservations, lenient=False)
