# SPDX-License-Identifier: Apache-2.0
"""Booking: read what is free, choose, and write the promises in one transaction.

Planning reads in a reader, before the writer opens. The writer locks the chosen rows first, in
id order, and reads their bookings only after that; what was taken in between is a lost race, and
the booking is planned again.
"""
import collections
import dataclasses
import datetime
import random

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import resources
from climate.domain import fit
from climate.domain import interval
from climate.domain import records
from climate.manager import criteria
from climate.manager import expiry
from climate.manager import narrowing
from climate.manager import shortage
from climate.manager import stock

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Wish:
    """What one reservation needs of one pool: the plugin's Need, and whose it is.

    :ivar keep: ids of resources that it has and should keep where they still fit, each once for
        each copy.
    :ivar must_keep: they are in use, so a choice without one of them is refused.
    :ivar beside: what it has stays, and this comes to it.
    """

    reservation_id: str
    need: object
    keep: tuple[int, ...] = ()
    must_keep: bool = False
    beside: bool = False


@dataclasses.dataclass(frozen=True)
class Terms:
    """When and for whom is booked.

    :ivar own: ids of the reservations that may hold the resources.
    :ivar replaced: ids of those whose promises are given up for the new ones.
    :ivar avoid: ids of resources that are not to be chosen.
    :ivar cleaning: the time kept free between two bookings of a resource.
    :ivar grace: what starts before this is over must be free in the cloud already.
    :ivar longest_pause: between two tries of an end that fails.
    :ivar lost: so many races for free resources were lost before; from the first on they are taken
        in an order of its own, another each time, and not in that of their ids.
    """

    span: interval.Interval
    now: datetime.datetime
    own: frozenset
    replaced: frozenset
    avoid: frozenset
    cleaning: datetime.timedelta
    grace: datetime.timedelta
    longest_pause: datetime.timedelta
    lost: int = 0

    @property
    def soon(self):
        """True where what is chosen must be free in the cloud already."""
        return self.span.start <= self.now + self.grace

    def may_have(self, resource):
        """Whether the resource may be chosen at all: not one that is lent to somebody else."""
        return resource.lent_to in {None, *self.own}

    def booked(self, connection, ids, span):
        """What others have of resources, each with the time for cleaning before and after it.

        Also what they have although their time is over, where that is in the way.
        """
        found = allocations.bookings(connection, ids, span.widened(self.cleaning),
                                     ignoring=self.replaced)
        booked = {key: [(each.widened(self.cleaning), amount) for each, amount in taken]
                  for key, taken in found.items()}
        for key, taken in self.overdue(connection, ids).items():
            booked.setdefault(key, []).extend((self.while_overdue, amount)
                                              for _, amount in taken)
        return booked

    @property
    def while_overdue(self):
        """The Interval in which what is overdue is in the way."""
        return interval.Interval(self.span.start, self.now + self.grace + interval.RESOLUTION)

    def in_order(self, ids):
        """The ids in the order in which they are to be taken: as they are, unless a race was lost.

        All who plan at one moment find the same first ones free, so whoever lost a race for them
        goes on in an order that nobody else has. An order that begins with the first ones again
        would lose again, so no two are alike.
        """
        if not self.lost:
            return ids
        return random.Random(f'{sorted(self.own)} {self.lost}').sample(ids, len(ids))

    def overdue(self, connection, ids=None):
        """As ``allocations.overdue``; nothing where it may be given back in time."""
        return allocations.overdue(connection, self.now, self.now + self.longest_pause, ids,
                                   self.replaced) if self.soon else {}


class Booking:
    """Chooses resources for the reservations of a lease and writes the promises."""

    def __init__(self, core, leeway=datetime.timedelta(0)):
        """Take the rules from the configuration.

        :param leeway: what is chosen is still to be right so much later: what is held in the cloud
            counts as held for so much longer.
        """
        self._core = core
        conf = core.conf.manager
        self._cleaning = datetime.timedelta(minutes=conf.cleaning_minutes)
        self._grace = datetime.timedelta(seconds=conf.release_grace_seconds) + leeway
        self._longest_pause = longest_pause(conf)
        self._attempts = conf.booking_attempts

    def wishes_of(self, reservation, **kept):
        """The Wishes of a reservation, one for each pool that its plugin draws from."""
        plugin = self._core.registry.plugin(reservation.resource_type)
        return [Wish(reservation_id=reservation.id, need=need, **kept)
                for need in plugin.needs(reservation.request)]

    def wishes_of_all(self, lease):
        """The Wishes of the open reservations of a lease, each to keep what it has."""
        return [wish for each in lease.open_reservations
                for wish in self.wishes_of(each, keep=each.resource_ids)]

    def book(self, wishes, span, now, write, planned=None, avoid=()):
        """Choose for `wishes` during `span`, then call `write(connection, chosen)`.

        `write` runs in the transaction in which the chosen resources are locked and proved
        free; it writes the lease, and `chosen` (a list of Allocations) through `replace`.

        :param planned: what `plan` chose just before, to begin with.
        :param avoid: ids of resources that are not to be chosen.
        :returns: what `write` returned.
        :raises NotEnough: too few resources are free, with the reasons.
        :raises LostRace: others were faster at every attempt.
        """
        terms, chosen = self.terms(wishes, span, now, avoid), planned
        for lost in range(self._attempts):
            terms = dataclasses.replace(terms, lost=lost)
            if chosen is None:
                chosen = self._planned(wishes, terms)
            try:
                with self._core.database.writer() as connection:
                    self._prove(connection, wishes, chosen, terms)
                    return write(connection, chosen)
            except errors.LostRace:
                LOG.debug('Lost a race for resources; planning again')
                chosen = None
        raise errors.LostRace()

    def plan(self, wishes, span, now, avoid=()):
        """The Allocations that `wishes` would get, without writing anything.

        :raises NotEnough: too few resources are free, with the reasons.
        """
        return self._planned(wishes, self.terms(wishes, span, now, avoid))

    def take(self, wishes, span, now, chosen, write):
        """As `book`, of what is promised to `wishes` already: exactly that, or nothing.

        :raises LostRace: some of it cannot be had any more, or another transaction was in the way.
        """
        with self._core.database.writer() as connection:
            self._prove(connection, wishes, chosen, self.terms(wishes, span, now))
            return write(connection, chosen)

    def _planned(self, wishes, terms):
        try:
            return self._plan(wishes, terms)
        except errors.NotEnough:
            # An offer that nobody may take any more stands in nobody's way.
            if not expiry.has_made_room(self._core, terms.now):
                raise
            return self._plan(wishes, terms)

    def _plan(self, wishes, terms):
        with self._core.database.reader() as connection:
            wishes, chosen = self._choose(connection, list(wishes), terms)
        return promised(wishes, chosen, terms.span)

    def _choose(self, connection, wishes, terms):
        """The wishes that can have what they ask, and what each gets.

        Without optional ones for which there is no room, unless that would lose what they have.
        """
        most = narrowing.most(wish.need.demand for wish in wishes)
        # One that has nothing yet gets of the first that will do: nobody has to know all of them.
        some = len(wishes) == 1 and not wishes[0].keep
        asks = [self._ask(connection, wish, terms, most if some else None) for wish in wishes]
        while True:
            try:
                return wishes, narrowing.choose(asks, terms.span)
            except errors.NotEnough as error:
                place = error.kwargs['place']
                wish = wishes[place]
                if not wish.need.optional or wish.keep:
                    _refuse_loss(error)
                    raise shortage.explained(self._core, connection, wishes, terms,
                                             error) from error
                del wishes[place], asks[place]

    def replace(self, connection, chosen, now, reservation_ids=()):
        """Write the promises `chosen`, in place of those of `reservation_ids`."""
        if reservation_ids:
            allocations.delete(connection, reservation_ids)
        allocations.add(connection, chosen)
        if chosen:
            resources.touch(connection, {given.resource_id for given in chosen}, now)

    def terms(self, wishes, span, now, avoid=()):
        """The Terms on which `wishes` are served during `span`.

        :param avoid: ids of resources that are not to be chosen.
        """
        return Terms(
            span=span, now=now, own=frozenset(wish.reservation_id for wish in wishes),
            replaced=frozenset(wish.reservation_id for wish in wishes if not wish.beside),
            avoid=frozenset(avoid), cleaning=self._cleaning, grace=self._grace,
            longest_pause=self._longest_pause)

    def _ask(self, connection, wish, terms, most):
        """What the wish asks, and the resources that are there for it, as a ``narrowing.Ask``.

        :param most: as many of the first as it can take do; None: all are to be known.
        """
        kept = collections.Counter(wish.keep)
        demand = dataclasses.replace(wish.need.demand,
                                     keep=tuple(fit.Pick(*each) for each in kept.items()))
        look = stock.unused if demand.amount is fit.WHOLE else stock.shared
        return narrowing.Ask(demand, look(self._core, connection, wish.need, terms, most),
                             wish.must_keep)

    def _prove(self, connection, wishes, chosen, terms):
        """Lock the chosen resources and look again.

        :raises LostRace: one of them was taken, withdrawn, broken or changed since it was chosen.
        """
        ids = sorted({given.resource_id for given in chosen})
        if not ids:
            return
        locked = {resource.id: resource for resource in resources.lock(connection, ids)}
        if len(locked) < len(ids):
            raise errors.LostRace()
        self._prove_matching(connection, wishes, chosen, locked)
        booked = terms.booked(connection, ids, terms.span)
        for given in chosen:
            resource = locked[given.resource_id]
            taken = booked.setdefault(given.resource_id, [])
            if not fits(resource, given, taken):
                raise errors.LostRace()
            amount = fit.WHOLE if given.whole else given.amount
            taken += [(terms.span, amount)] * given.copies
            if not terms.may_have(resource) or (
                    terms.soon and resource.held_by not in {None, *terms.own}):
                raise errors.LostRace()

    def _prove_matching(self, connection, wishes, chosen, locked):
        fitting = {(wish.reservation_id, key) for wish in wishes
                   for key in criteria.matching(
                       self._core, connection, wish.need,
                       {key: each for key, each in locked.items() if each.pool == wish.need.pool})}
        if any((given.reservation_id, given.resource_id) not in fitting for given in chosen):
            raise errors.LostRace()


def promised(wishes, chosen, span):
    """The Allocations of what was chosen for wishes, the fit.Picks of each."""
    return [_promise(wish, pick, span) for wish, picks in zip(wishes, chosen, strict=True)
            for pick in picks]


def _promise(wish, pick, span):
    amount = wish.need.demand.amount
    whole = amount is fit.WHOLE
    return records.Allocation(
        reservation_id=wish.reservation_id, resource_id=pick.resource_id, start=span.start,
        end=span.end, whole=whole, amount={} if whole else dict(amount), copies=pick.copies)


def _refuse_loss(error):
    """Tell of resources that are in use and would be lost, if that is what the error is."""
    lost = error.kwargs.get('in_use')
    if lost:
        raise errors.NotEnough(
            f'Resources {", ".join(map(str, lost))} are in use by the reservation and are not '
            'free, or do not meet the criteria, for all of the new span.',
            what=error.kwargs['what'], wanted=error.kwargs['wanted'],
            free=error.kwargs['free']) from error


def longest_pause(conf):
    """The longest time between two tries of something, by the group [manager]."""
    return datetime.timedelta(seconds=max(conf.retry_longest_seconds, conf.busy_seconds))


def fits(resource, given, taken):
    """True where a promise of a resource has room beside what is taken, pairs as in a Candidate."""
    if given.whole:
        return not taken
    demand = fit.Demand(amount=given.amount, at_least=given.copies, at_most=given.copies,
                        spread=fit.Spread.ANY)
    candidate = fit.Candidate(id=resource.id, capacity=resource.capacity,
                              bookings=tuple(taken))
    try:
        fit.choose(demand, [candidate], interval.Interval(given.start, given.end))
    except errors.NotEnough:
        return False
    return True
