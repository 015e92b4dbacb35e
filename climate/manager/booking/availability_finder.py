# SPDX-License-Identifier: Apache-2.0
"""The use case of availability: the times at which a request fits, and alternatives to it."""
import dataclasses
import datetime

from oslo_utils import uuidutils

from climate import errors
from climate import moments
from climate.domain import availability
from climate.domain import interval
from climate.domain import lease_times
from climate.domain import records
from climate.manager.billing import lease_prices
from climate.manager.booking import alternatives
from climate.manager.booking import answer_serialization
from climate.manager.booking import booking
from climate.manager.booking import offer_expiry
from climate.manager.booking import offers
from climate.manager.booking import start_times

# The time after the answer for which its openings stay valid if nobody else books them.
_LEEWAY = datetime.timedelta(minutes=2)
# The time ahead in which a query searches by default, and the maximum.
_AHEAD = datetime.timedelta(days=30)
_FARTHEST = datetime.timedelta(days=366)
_LAST_YEAR = 9000


class AvailabilityFinder:
    """Finds openings for a query, and holds offers for them if the query asks for that."""

    def __init__(self, core, draft, growing=start_times.growing):
        """Keep the parts of the manager that a query needs.

        :param draft: ``draft(context, lease_id, request, now)`` returns the Draft of a
            LeaseRequest, as ``leases.draft.Drafts.draft`` does.
        :param growing: a function that yields StartSearches, as ``start_times.growing``.
        """
        self._core = core
        self._growing = growing
        self._draft = draft
        self._offers = offers.HeldOffers(core)
        self._prices = lease_prices.LeasePrices(core)

    def find(self, context, query):
        """Return the Answer to an ``availability.AvailabilityQuery``.

        :raises BadRequest: the query is wrong; the error names the field.
        :raises TargetLeased: another reservation leases a server that the query names.
        :raises LimitReached: the project may hold none of the openings.
        """
        now = self._core.clock()
        duration = datetime.timedelta(seconds=query.duration_seconds)
        window = _window(query, duration, now)
        draft = self._draft(
            context, uuidutils.generate_uuid(), lease_request(query, window, now), now)
        lease, wishes = draft.lease, draft.wishes
        # An offer that has expired must not block an opening.
        offer_expiry.expire(self._core, now)
        planner = booking.Booking(self._core, max(
            _LEEWAY, datetime.timedelta(seconds=query.hold_seconds)))
        with self._core.database.reader() as connection, start_times.TURNS:
            for search in self._searches(connection, planner, wishes, window, now, duration):
                openings = search.openings(duration, query.limit)
                if search.settles(duration, query.limit, openings):
                    break
            considered = answer_serialization.AnswerSerializer(self._core, connection).considered(
                lease.reservations, search, duration)
            near_by = () if openings else self._alternatives(connection, planner, search, wishes,
                                                             duration, now)
        chosen = _planned(planner, wishes, search, openings, duration, now)
        held = self._held(context, query, lease.reservations, wishes, chosen, now)
        return availability.AvailabilityAnswer(
            earliest=window.start, latest=window.end, duration_seconds=query.duration_seconds,
            openings=self._openings(lease, chosen, held, now), considered=considered,
            alternatives=near_by, complete=search.complete)

    def _searches(self, connection, planner, wishes, window, now, duration, like=None):
        return self._growing(self._core, connection, wishes, planner.terms(wishes, window, now),
                             window, duration, like)

    def _alternatives(self, connection, planner, search, wishes, duration, now):
        # Begin at the first start that was not searched yet.
        start = search.window.end - duration + interval.RESOLUTION
        window = interval.Interval(start, start + _FARTHEST + duration)
        later = (alternatives.later(beyond, duration) for beyond in self._searches(
            connection, planner, wishes, window, now, duration, search))
        every = (alternatives.shorter(search, duration), alternatives.fewer(search, duration),
                 next(filter(None, later), None))
        return tuple(each for each in every if each is not None)

    def _held(self, context, query, reservations, wishes, chosen, now):
        """Hold the PlannedOpenings `chosen`; return the Offer of each, or None if it is not held.

        If an earlier offer or another booking took resources of a plan, its offer gets others. If
        too few are left, the plan is not held.

        :raises LimitReached: the project may hold none of them.
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
                     for each in plan.allocations],
                    seconds=query.hold_seconds, most=query.hold_most))
            except (errors.NotEnough, errors.LostRace):
                held.append(None)
            except errors.LimitReached:
                if not any(held):
                    raise
                break
        return [*held, *[None] * (len(chosen) - len(held))]

    def _openings(self, lease, chosen, held, now):
        """Return the Openings of the PlannedOpenings `chosen`.

        :param held: the Offer of each, or None.
        """
        reservations = lease.reservations
        allocated = [_allocations(reservations, *each) for each in zip(chosen, held, strict=True)]
        prices = self._prices.of_plans([
            (dataclasses.replace(lease, start=plan.span.start, end=plan.span.end), given)
            for plan, given in zip(chosen, allocated, strict=True)], now)
        with self._core.database.reader() as connection:
            serializer = answer_serialization.AnswerSerializer(self._core, connection, {
                given.resource_id for each in allocated for given in each})
            return tuple(
                availability.AvailableTime(
                    start=plan.span.start, end=plan.span.end, last_start=plan.last,
                    shares=serializer.shares(reservations, given),
                    id=offer and offer.id, held_until=offer and offer.held_until, price=price)
                for plan, offer, given, price in zip(chosen, held, allocated, prices, strict=True))


@dataclasses.dataclass(frozen=True)
class PlannedOpening:
    """A possible booking: Allocations during `span`; `last` is the latest moment to start."""

    span: interval.Interval
    last: datetime.datetime
    allocations: list


def _planned(planner, wishes, search, openings, duration, now):
    """Return the PlannedOpenings of the ``free_starts.StartRange``s of a StartSearch."""
    plans = []
    for each in openings:
        span = interval.Interval(each.start, each.start + duration)
        # The search leaves out optional wishes; if there are any, a plan is needed.
        picks = search.picks(each, duration) if len(search.wishes) == len(wishes) else None
        try:
            allocations = (planner.plan(wishes, span, now) if picks is None
                           else booking.allocations_of(wishes, picks, span))
        except errors.NotEnough:
            # Another booking was faster since the allocations were read.
            continue
        plans.append(PlannedOpening(span, each.last, allocations))
    return plans


def _allocations(reservations, plan, offer):
    """Return the Allocations of a PlannedOpening, or those of the Offer that holds it, if any."""
    if offer is None:
        return plan.allocations
    # The reservations of the offer have ids of their own, in the same order.
    ids = dict(zip((each.id for each in offer.request), (each.id for each in reservations),
                   strict=True))
    return [dataclasses.replace(each, reservation_id=ids[each.reservation_id])
            for each in offer.allocations]


def _window(query, duration, now):
    """Return the Interval in which the whole duration must lie.

    :raises BadDate: it begins in the past.
    :raises BadField: it is too short, or too long.
    """
    start = now if query.earliest is None else query.earliest
    lease_times.refuse_past(start, now, 'earliest')
    start = max(start, now)
    latest = query.latest
    if latest is None:
        try:
            latest = start + duration + _AHEAD
        except OverflowError as error:
            raise errors.BadField(field='duration', reason=(
                f'it goes beyond the year {_LAST_YEAR}: ask for a shorter one.')) from error
    if latest.year > _LAST_YEAR:
        raise errors.BadField(field='latest', reason=f'it lies beyond the year {_LAST_YEAR}.')
    if latest - start < duration:
        raise errors.BadField(field='duration', reason=(
            f'{moments.span(duration)} does not fit between the earliest moment, '
            f'{start:%Y-%m-%d %H:%M:%S} UTC, and the latest, {latest:%Y-%m-%d %H:%M:%S} UTC.'))
    if latest - start > _FARTHEST + duration:
        raise errors.BadField(field='latest', reason=(
            f'starts are searched in at most {_FARTHEST.days} days after the earliest moment.'))
    return interval.Interval(start, latest)


def lease_request(query, window, now):
    """Return the LeaseRequest of a query for a lease that begins with the window."""
    return records.LeaseRequest(
        name='availability', start=None if window.start <= now else window.start, end=None,
        duration_seconds=query.duration_seconds, reservations=query.reservations,
        hidden_criteria=query.hidden_criteria)
