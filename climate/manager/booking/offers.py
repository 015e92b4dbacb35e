# SPDX-License-Identifier: Apache-2.0
"""Offers: resources held for a project until it makes a lease of them or the offer expires.

An offer has allocations like a lease, so nobody else gets its resources. It starts nothing in the
cloud and cannot be prolonged. Each offer of a project has a place: a number below the limit of
offers, which is unique in the database, so concurrent requests cannot exceed the limit.
"""
import dataclasses
import datetime
import random

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import allocations
from climate.db import engine
from climate.db import offers
from climate.domain import interval
from climate.domain import records
from climate.domain import request_sizes
from climate.manager import core as cores
from climate.manager import request_limit
from climate.manager.billing import lease_prices
from climate.manager.booking import booking
from climate.manager.booking import limit_rations
from climate.manager.booking import offer_expiry
from climate.manager.enforcement import questions
from climate.manager.limits import checking
from climate.manager.limits import subjects
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)

# The number of attempts while concurrent requests of the project take the same place.
_ATTEMPTS = 10


class HeldOffers:
    """The use cases of offers; a project sees only its own."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        self._prices = lease_prices.LeasePrices(core)
        self._questions = questions.Questions(core)

    def hold(self, context, wishes, reservations, span, now, planned=None, *, seconds, most):
        """Hold resources for `wishes` during `span`; return the Offer.

        :param reservations: the Reservations of the future lease, to whose ids the wishes refer.
        :param planned: the Allocations that ``Booking.plan`` has just chosen; None: make a plan.
        :param seconds: the time for which the offer is held, at least 1, but at most until the end
            of the span.
        :param most: the number of offers that a project may hold at the same time, at least 1.
        :raises NotEnough: too few resources are free; the error has the reasons.
        :raises LostRace: each attempt lost a race against another booking.
        :raises TooManyOffers: the project already holds `most` offers.
        :raises TooManyRequestBytes: the requests of the project would have too many bytes.
        :raises LimitExceeded: the offer would exceed a limit of the project or of the user.
        :raises EnforcementRefused: the enforcement service would refuse the lease.
        """
        offer_expiry.expire(self._core, now)
        offer = records.Offer(
            id=uuidutils.generate_uuid(), project_id=context.project_id, user_id=context.user_id,
            start=span.start, end=span.end, created_at=now,
            held_until=min(now + datetime.timedelta(seconds=seconds), span.end),
            request=tuple(records.ReservationRequest(each.resource_type, each.request, each.id,
                                                     each.label, each.depends_on, each.secrets)
                          for each in reservations))
        request_limit.refuse_more(self._core, context.project_id,
                                  request_sizes.of_requests(offer.request), now)
        planned = self._asked(context, offer, reservations, wishes, planned)
        offer = self._hold(offer, wishes, planned, most, frozenset(context.roles))
        LOG.info('Offer %s of project %s: held until %s, resources %s', offer.id, offer.project_id,
                 offer.held_until.isoformat(),
                 self._core.resource_names.of(each.resource_id for each in offer.allocations))
        return offer

    def _asked(self, context, offer, reservations, wishes, planned):
        """Ask the enforcement service about the lease that an Offer may become.

        :param planned: as in `hold`.
        :returns: the Allocations about which the service was asked; `planned` if it was not.
        """
        lease = records.Lease(
            id=offer.id, name=f'offer {offer.id}', project_id=offer.project_id,
            user_id=offer.user_id, start=offer.start, end=offer.end,
            reservations=tuple(reservations))
        if not self._questions.asks(lease):
            return planned
        if planned is None:
            planned = self._booking.plan(wishes, offer.span, offer.created_at)
        self._questions.preview(context, lease, planned)
        return planned

    def _hold(self, offer, wishes, planned, most, roles):
        limits = checking.applying(self._core, offer.project_id, offer.user_id, offer.created_at)

        def write(connection, chosen):
            limits.refuse_excess(connection, subjects.of_offer(self._core, offer, chosen, roles))
            place = _free_place(offers.held(connection, offer.project_id), most)
            offers.add(connection, offer, place)
            allocations.add(connection, chosen)
            return dataclasses.replace(offer, allocations=tuple(chosen))
        types = {each.id: each.resource_type for each in offer.request}
        for _ in range(_ATTEMPTS):
            try:
                return limit_rations.attempt(
                    self._core, limits, (wishes, types), planned,
                    lambda others, chosen: self._booking.book(
                        others, offer.span, offer.created_at, write, planned=chosen))
            except engine.Duplicate:
                LOG.debug('A concurrent offer of the project took the place; trying another one')
        raise errors.LostRace()

    def get(self, context, offer_id):
        """Return an Offer that the caller's project holds, with its price.

        :raises OfferNotFound: the project has no offer with this id, or no longer.
        :raises OfferExpired: the offer has expired.
        """
        now = self._core.clock()
        return self._prices.of_offers([self._get(context, offer_id, now)], now)[0]

    def find(self, context):
        """Return the Offers of the caller's project with prices, by expiry, without allocations."""
        now = self._core.clock()
        return self._prices.of_offers(self._held(context, now), now)

    def _held(self, context, now):
        with self._core.database.reader() as connection:
            by_place = offers.held(connection, context.project_id)
        return [each for each in by_place.values() if each.held_until > now]

    def naming_own(self, context, span, error):
        """Return the NotEnough `error` with a sentence about the offers of the caller's project.

        If no offer of the project holds resources of the pool during `span`, return `error` itself.
        """
        held = [each for each in self._held(context, self._core.clock())
                if span.overlaps(interval.Interval(each.start, each.end))
                and self._is_of(each, error.kwargs.get('what'))]
        if not held:
            return error
        named = ', '.join(f'{each.id} (until {each.held_until:%H:%M:%S} UTC)' for each in held)
        return errors.with_sentence(error, (
            f'Your own project holds resources in that time, by offers: {named}. Take an offer, '
            'or release it.'), offers=[each.id for each in held])

    def _is_of(self, offer, pool):
        plugins = self._core.registry.plugins
        return any(each.name == pool for request in offer.request
                   if request.resource_type in plugins
                   for each in plugins[request.resource_type].pools)

    @cores.again_after_a_race
    def delete(self, context, offer_id):
        """Delete an offer and release its resources; an expired offer can be deleted too.

        :raises OfferNotFound: the project has no offer with this id.
        """
        now = self._core.clock()
        with self._core.database.writer() as connection:
            offer = offers.get(connection, context.project_id, offer_id, locked=True)
            offers.delete(connection, [offer])
            wakeups.wake(connection, now)
        self._core.notify()
        LOG.info('Offer %s of project %s: deleted, its resources are released', offer.id,
                 offer.project_id)

    def taking(self, context, offer_id, now):
        """Return the OfferTaking that makes a lease of an offer.

        :raises OfferNotFound: the project has no offer with this id.
        :raises OfferExpired: the offer has expired.
        """
        return OfferTaking(self._core, self._get(context, offer_id, now), now)

    def _get(self, context, offer_id, now):
        with self._core.database.reader() as connection:
            offer = offers.get(connection, context.project_id, offer_id)
        _refuse_expired(offer, now)
        return offer


class OfferTaking:
    """Makes a lease of an offer: one transaction moves the resources and deletes the offer.

    It has the methods of ``first_attempt.FirstAttempt``, which books a lease without an offer.
    """

    def __init__(self, core, offer, now):
        self._core = core
        self._offer = offer
        self._now = now
        self._booking = booking.Booking(core)

    def completed(self, request):
        """Return the LeaseRequest with the reservations, start and end of the offer."""
        offer = self._offer
        return dataclasses.replace(request, reservations=offer.request, end=offer.end,
                                   start=offer.start if offer.start > self._now else None)

    def plan(self, draft):
        """Return (the Lease of a Draft, the Allocations that it gets)."""
        return draft.lease, [dataclasses.replace(allocation, start=draft.span.start)
                             for allocation in self._offer.allocations]

    def preview(self, draft):
        """Return the result of `plan`; write nothing.

        :raises LimitExceeded: the lease would exceed a limit of its owner.
        """
        lease, planned = self.plan(draft)
        self._limits_of(lease).refuse_in_preview(self._subject(draft, planned))
        return lease, planned

    def _limits_of(self, lease):
        return checking.applying(self._core, lease.project_id, lease.user_id, self._now)

    def _subject(self, draft, chosen):
        return subjects.of_new_lease(self._core, draft.lease, chosen, draft.roles, self._offer.id)

    def book(self, draft, planned, write):
        """Book the resources of the offer and call ``write(connection, lease, chosen)``.

        :returns: the result of `write`.
        :raises OfferNotFound: the offer was taken or deleted in the meantime.
        :raises OfferExpired: the offer has expired, or its resources are no longer available.
        :raises LimitExceeded: the lease would exceed a limit of its owner.
        """
        offer = self._offer
        try:
            result = self._book(draft, planned, write)
        except errors.LostRace as error:
            raise errors.OfferExpired(offer_id=offer.id, reason=(
                'holds resources that were changed or withdrawn')) from error
        LOG.info('Offer %s of project %s: taken by lease %s', offer.id, offer.project_id,
                 draft.lease.id)
        return result

    @cores.again_after_a_race
    def _book(self, draft, planned, write):
        offer, limits = self._offer, self._limits_of(draft.lease)

        def take(connection, chosen):
            limits.refuse_excess(connection, self._subject(draft, chosen))
            current = offers.get(connection, offer.project_id, offer.id, locked=True)
            _refuse_expired(current, self._now)
            offers.delete(connection, [current])
            return write(connection, draft.lease, chosen)
        # The terms of `created_at` apply: they decided whether the resources had to be free in the
        # cloud.
        return self._booking.book_exactly(draft.wishes, draft.span, offer.created_at, planned,
                                          take)


def _free_place(held, most):
    """Return a random free place of a project: a number below `most`.

    :param held: {place: Offer}.
    :raises TooManyOffers: no place is free.
    """
    free = set(range(most)) - set(held)
    if len(held) >= most or not free:
        first = min(each.held_until for each in held.values())
        raise errors.TooManyOffers(most=len(held), until=f'{first:%Y-%m-%d %H:%M:%S} UTC')
    # Random, so that concurrent requests seldom choose the same place.
    return random.choice(sorted(free))


def _refuse_expired(offer, now):
    """Refuse an offer that no longer holds its resources.

    :raises OfferExpired: the offer has expired, or its resources were released.
    """
    if offer.held_until <= now or not offer.held:
        raise errors.OfferExpired(offer_id=offer.id, reason=(
            f'was held until {offer.held_until:%Y-%m-%d %H:%M:%S} UTC'))
