# SPDX-License-Identifier: Apache-2.0
"""Answer availability queries: the times at which a request fits, and alternatives to it."""
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
from climate.manager.booking import opening_limits
from climate.manager.booking import start_times

# The time for which the openings of an answer stay valid if nobody else books them.
_LEEWAY = datetime.timedelta(minutes=2)
# Starts are searched in this time by default, and at most in this time.
_DEFAULT_AHEAD = datetime.timedelta(days=30)
_LONGEST_AHEAD = datetime.timedelta(days=366)
_LAST_YEAR = 9000


class AvailabilityFinder:
    """Finds openings for a query, and holds offers for them if the query asks for that."""

    def __init__(self, core, draft, growing=start_times.growing):
        """Initialize the finder.

        :param draft: the method ``leases.draft.Drafts.draft``.
        :param growing: a function that yields StartSearches, as ``start_times.growing``.
        """
        self._core = core
        self._growing = growing
        self._draft = draft
        self._offers = offers.HeldOffers(core)
        self._prices = lease_prices.LeasePrices(core)

    def find(self, context, query):
        """Return the AvailabilityAnswer to an ``availability.AvailabilityQuery``.

        :raises BadRequest: the query is wrong; the error names the field.
        :raises TargetLeased: another reservation leases a server that the query names.
        :raises LimitExceeded: all openings would exceed a limit of the caller.
        :raises LimitReached: offers were requested, but the project may not hold another one.
        :raises EnforcementRefused: the enforcement service refuses the requested offers.
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
        with self._core.database.reader() as connection, start_times.SEARCH_SLOTS:
            for search in self._searches(connection, planner, wishes, window, now, duration):
                openings = search.openings(duration, query.limit)
                if search.is_final(duration, query.limit, openings):
                    break
            considered = answer_serialization.AnswerSerializer(self._core, connection).considered(
                lease.reservations, search, duration)
            near_by = () if openings else self._alternatives(connection, planner, search, wishes,
                                                             duration, now)
        plans = opening_limits.within(self._core, draft, _planned(
            planner, wishes, search, openings, duration, now),
            lambda others, span: planner.plan(others, span, now))
        held = self._held(context, query, lease.reservations, wishes, plans, now)
        return availability.AvailabilityAnswer(
            earliest=window.start, latest=window.end, duration_seconds=query.duration_seconds,
            openings=self._openings(lease, plans, held, now), considered=considered,
            alternatives=near_by, complete=search.complete)

    def _searches(self, connection, planner, wishes, window, now, duration, like=None):
        return self._growing(self._core, connection, wishes, planner.terms(wishes, window, now),
                             window, duration, like)

    def _alternatives(self, connection, planner, search, wishes, duration, now):
        # Begin at the first start that was not searched yet.
        start = search.window.end - duration + interval.RESOLUTION
        window = interval.Interval(start, start + _LONGEST_AHEAD + duration)
        later = (alternatives.later(later_search, duration) for later_search in self._searches(
            connection, planner, wishes, window, now, duration, search))
        return tuple(filter(None, (
            alternatives.shorter(search, duration), alternatives.fewer(search, duration),
            next(filter(None, later), None))))

    def _held(self, context, query, reservations, wishes, plans, now):
        """Hold PlannedOpenings; return the Offer of each, or None if it is not held.

        If an earlier offer or another booking took resources of a plan, the offer for this plan
        gets other resources. If too few resources are free, the plan is not held.

        :raises LimitReached: the project may not hold any offer.
        :raises EnforcementRefused: the enforcement service refuses the first offer.
        """
        count = query.hold if query.hold_seconds and query.hold_most else 0
        held = []
        for plan in plans[:count]:
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
            except (errors.LimitReached, errors.EnforcementRefused):
                if not any(held):
                    raise
                break
        return [*held, *[None] * (len(plans) - len(held))]

    def _openings(self, lease, plans, held, now):
        """Return the AvailableTimes of PlannedOpenings.

        :param held: the Offer of each plan, or None.
        """
        reservations = lease.reservations
        allocated = [_allocations(reservations, plan, offer)
                     for plan, offer in zip(plans, held, strict=True)]
        prices = self._prices.of_plans([
            (dataclasses.replace(lease, start=plan.span.start, end=plan.span.end), allocations)
            for plan, allocations in zip(plans, allocated, strict=True)], now)
        with self._core.database.reader() as connection:
            serializer = answer_serialization.AnswerSerializer(self._core, connection, {
                allocation.resource_id for allocations in allocated for allocation in allocations})
            return tuple(
                availability.AvailableTime(
                    start=plan.span.start, end=plan.span.end, last_start=plan.last_start,
                    shares=serializer.shares(reservations, allocations),
                    id=offer and offer.id, held_until=offer and offer.held_until, price=price)
                for plan, offer, allocations, price in zip(plans, held, allocated, prices,
                                                           strict=True))


@dataclasses.dataclass(frozen=True)
class PlannedOpening:
    """A possible booking during `span`; it could start later, at `last_start` at the latest."""

    span: interval.Interval
    last_start: datetime.datetime
    allocations: list


def _planned(planner, wishes, search, openings, duration, now):
    """Return the PlannedOpenings of the ``free_starts.StartRange``s of a StartSearch."""
    plans = []
    for opening in openings:
        span = interval.Interval(opening.start, opening.start + duration)
        # The search ignores optional wishes, so resources for them must be planned.
        picks = search.picks(opening, duration) if len(search.wishes) == len(wishes) else None
        try:
            allocations = (planner.plan(wishes, span, now) if picks is None
                           else booking.allocations_of(wishes, picks, span))
        except errors.NotEnough:
            # Another booking took the resources after the search.
            continue
        plans.append(PlannedOpening(span, opening.last, allocations))
    return plans


def _allocations(reservations, plan, offer):
    """Return the Allocations of the Offer that holds a PlannedOpening, or else of the plan."""
    if offer is None:
        return plan.allocations
    # The offer has the same reservations in the same order, with other ids.
    ids = dict(zip((each.id for each in offer.request), (each.id for each in reservations),
                   strict=True))
    return [dataclasses.replace(each, reservation_id=ids[each.reservation_id])
            for each in offer.allocations]


def _window(query, duration, now):
    """Return the Interval in which the whole duration must lie.

    :raises BadDate: the query begins in the past.
    :raises BadField: the Interval is too short for the duration, or too long.
    """
    start = now if query.earliest is None else query.earliest
    lease_times.refuse_past(start, now, 'earliest')
    start = max(start, now)
    latest = query.latest
    if latest is None:
        try:
            latest = start + duration + _DEFAULT_AHEAD
        except OverflowError as error:
            raise errors.BadField(field='duration', reason=(
                f'it goes beyond the year {_LAST_YEAR}: ask for a shorter one.')) from error
    if latest.year > _LAST_YEAR:
        raise errors.BadField(field='latest', reason=f'it lies beyond the year {_LAST_YEAR}.')
    if latest - start < duration:
        raise errors.BadField(field='duration', reason=(
            f'{moments.span(duration)} does not fit between the earliest moment, '
            f'{start:%Y-%m-%d %H:%M:%S} UTC, and the latest, {latest:%Y-%m-%d %H:%M:%S} UTC.'))
    if latest - start > _LONGEST_AHEAD + duration:
        raise errors.BadField(field='latest', reason=(
            f'starts are searched in at most {_LONGEST_AHEAD.days} days after the earliest '
            'moment.'))
    return interval.Interval(start, latest)


def lease_request(query, window, now):
    """Return the LeaseRequest that a query describes, for a lease at the start of the window."""
    return records.LeaseRequest(
        name='availability', start=None if window.start <= now else window.start, end=None,
        duration_seconds=query.duration_seconds, reservations=query.reservations,
        hidden_criteria=query.hidden_criteria)
