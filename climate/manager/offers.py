# SPDX-License-Identifier: Apache-2.0
"""Offers: what is held for a project, until it makes a lease of it or the time for that is over.

An offer has promises as a lease has, so that nobody else gets them, and starts nothing in the
cloud. There is no way to prolong one.
"""
import dataclasses
import datetime
import random

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import engine
from climate.db import offers
from climate.domain import records
from climate.manager import booking
from climate.manager import core as cores
from climate.manager import expiry
from climate.manager.acquire import line

LOG = log.getLogger(__name__)

# So often a place is sought among those that a project's own requests take at the same time.
_ATTEMPTS = 10


class Offers:
    """The use cases of offers. Projects see their own only."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)

    def hold(self, context, wishes, reservations, span, now, planned=None, *, seconds, most):
        """The Offer of what `wishes` get during `span`, held from now on.

        :param reservations: those of the lease that it would be, whose ids the wishes have.
        :param planned: what ``Booking.plan`` chose just before, to begin with.
        :param seconds: how long it is held, at least 1; never beyond its own end.
        :param most: so many may a project hold at a time, at least 1.
        :raises NotEnough: too few resources are free, with the reasons.
        :raises LostRace: others were faster at every attempt.
        :raises TooManyOffers: the project holds so many already.
        """
        self.expire(now)
        offer = records.Offer(
            id=uuidutils.generate_uuid(), project_id=context.project_id, user_id=context.user_id,
            start=span.start, end=span.end, created_at=now,
            held_until=min(now + datetime.timedelta(seconds=seconds), span.end),
            request=tuple(records.ReservationRequest(each.resource_type, each.request, each.id)
                          for each in reservations))
        made = self._hold(offer, wishes, planned, most)
        LOG.info('Offer %s of project %s: held until %s, resources %s', made.id, made.project_id,
                 made.held_until.isoformat(), [each.resource_id for each in made.promises])
        return made

    def _hold(self, offer, wishes, planned, most):
        def write(connection, chosen):
            place = _free_place(offers.held(connection, offer.project_id), most)
            offers.add(connection, offer, place)
            self._booking.replace(connection, chosen, offer.created_at)
            return dataclasses.replace(offer, promises=tuple(chosen))
        for _ in range(_ATTEMPTS):
            try:
                return self._booking.book(wishes, offer.span, offer.created_at, write,
                                          planned=planned)
            except engine.Duplicate:
                LOG.debug('Another offer of the project took the place; it gets the next one')
        raise errors.LostRace()

    def expire(self, now):
        """Let go of all offers whose time is over; returns how many held something."""
        return expiry.expire(self._core, now)

    def get(self, context, offer_id):
        """An Offer that the caller's project holds.

        :raises OfferNotFound: it has none of that id; it may be taken, or given back.
        :raises OfferExpired: its time is over.
        """
        return self._get(context, offer_id, self._core.clock())

    def find(self, context):
        """The Offers that the caller's project holds, by when each expires, without promises."""
        now = self._core.clock()
        with self._core.database.reader() as connection:
            found = offers.held(connection, context.project_id)
        return [each for each in found.values() if each.held_until > now]

    @cores.again_after_a_race
    def give_back(self, context, offer_id):
        """What an offer holds is free from now on; one that has expired holds nothing any more.

        :raises OfferNotFound: the project has none of that id.
        """
        now = self._core.clock()
        with self._core.database.writer() as connection:
            offer = offers.get(connection, context.project_id, offer_id, locked=True)
            offers.delete(connection, [offer])
            line.wake(connection, now)
        self._core.wake()
        LOG.info('Offer %s of project %s: given back', offer.id, offer.project_id)

    def taking(self, context, offer_id, now):
        """How a lease is made of an offer, as Taking.

        :raises OfferNotFound: the project has none of that id.
        :raises OfferExpired: its time is over.
        """
        return Taking(self._core, self._get(context, offer_id, now), now)

    def _get(self, context, offer_id, now):
        with self._core.database.reader() as connection:
            offer = offers.get(connection, context.project_id, offer_id)
        _refuse_expired(offer, now)
        return offer


class Taking:
    """A lease gets what an offer holds, in the transaction in which the offer goes.

    It stands where ``acquire.first.FirstTry`` stands for a lease that has to look for something.
    """

    def __init__(self, core, offer, now):
        self._offer = offer
        self._now = now
        self._booking = booking.Booking(core)

    def said(self, request):
        """The LeaseRequest with what the offer says: what it is for, and when."""
        offer = self._offer
        return dataclasses.replace(request, reservations=offer.request, end=offer.end,
                                   start=offer.start if offer.start > self._now else None)

    def plan(self, lease, wishes, span, now):
        """(lease, the Allocations that it gets)."""
        return lease, [dataclasses.replace(given, start=span.start)
                       for given in self._offer.promises]

    def book(self, lease, wishes, span, now, planned, write):
        """What ``write(connection, lease, chosen)`` returned.

        :raises OfferNotFound: somebody else has taken or given back the offer meanwhile.
        :raises OfferExpired: its time is over, or what it holds cannot be had any more.
        """
        offer = self._offer

        def taken(connection, chosen):
            current = offers.get(connection, offer.project_id, offer.id, locked=True)
            _refuse_expired(current, self._now)
            offers.delete(connection, [current])
            return write(connection, lease, chosen)
        try:
            # What had to be free in the cloud when it was offered had to be so then.
            made = self._take(wishes, span, offer.created_at, planned, taken)
        except errors.LostRace as error:
            raise errors.OfferExpired(offer_id=offer.id, reason=(
                'holds what cannot be had any more, as it was changed or withdrawn')) from error
        LOG.info('Offer %s of project %s: taken by lease %s', offer.id, offer.project_id, lease.id)
        return made

    @cores.again_after_a_race
    def _take(self, wishes, span, now, planned, taken):
        return self._booking.take(wishes, span, now, planned, taken)


def _free_place(held, most):
    """A place that no Offer of `held`, {place: Offer}, has.

    :raises TooManyOffers: there is none.
    """
    free = set(range(most)) - set(held)
    if len(held) >= most or not free:
        first = min(each.held_until for each in held.values())
        raise errors.TooManyOffers(most=len(held), until=f'{first:%Y-%m-%d %H:%M:%S} UTC')
    # By chance, so that those who ask at the same time seldom want the same.
    return random.choice(sorted(free))


def _refuse_expired(offer, now):
    """Nothing, where what the offer holds can be had.

    :raises OfferExpired: its time is over, by our clock or by that of another manager.
    """
    if offer.held_until <= now or not offer.held:
        raise _expired(offer)


def _expired(offer):
    return errors.OfferExpired(offer_id=offer.id, reason=(
        f'was held until {offer.held_until:%Y-%m-%d %H:%M:%S} UTC'))
