# SPDX-License-Identifier: Apache-2.0
"""Booking: read what is free, choose, and write the allocations in one transaction.

Planning reads in a reader, before the writer opens. The writer locks the chosen rows first, in
id order, and reads their bookings only after that. If a chosen resource was taken in between, the
race is lost and the booking is planned again.
"""
import collections
import dataclasses
import datetime
import random

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import health as stored
from climate.db import resources
from climate.db import swap_reports
from climate.domain import health
from climate.domain import interval
from climate.domain import records
from climate.domain import selection
from climate.manager.booking import alike
from climate.manager.booking import candidates
from climate.manager.booking import criteria
from climate.manager.booking import offer_expiry
from climate.manager.booking import prefilter
from climate.manager.booking import shortage
from climate.manager.health import blocking

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Wish:
    """A bound need: a Need of a plugin, and the reservation that has it.

    :ivar keep: ids of resources that the reservation has and should keep if they still fit; an id
        stands once for each copy.
    :ivar must_keep: the resources in `keep` are in use, so a choice without one of them is refused.
    :ivar beside: the reservation keeps its allocations, and the new ones are added.
    :ivar avoid: ids of resources that the reservation may not get.
    """

    reservation_id: str
    need: object
    keep: tuple[int, ...] = ()
    must_keep: bool = False
    beside: bool = False
    avoid: frozenset = frozenset()


@dataclasses.dataclass(frozen=True)
class Terms:
    """The conditions of one booking: its span, its reservations, and the configured rules.

    :ivar own: ids of the reservations that may hold the resources.
    :ivar replaced: ids of the reservations whose allocations the new ones replace, and of blocks of
        sick resources that the lease uses.
    :ivar avoid: ids of resources that must not be chosen.
    :ivar cleaning: the time kept free between two bookings of a resource.
    :ivar grace: a booking that starts within this time needs resources that are already free in
        the cloud.
    :ivar longest_pause: the longest time between two tries of a lease end that fails.
    :ivar ahead: how far ahead resources that are not well are kept free of leases.
    :ivar kept: ids of resources that the reservations have.
    :ivar lost: how many races for free resources this booking has lost. If it is 0, resources are
        taken in the order of their ids; otherwise in a random order, another one each time.
    """

    span: interval.Interval
    now: datetime.datetime
    own: frozenset
    replaced: frozenset
    avoid: frozenset
    cleaning: datetime.timedelta
    grace: datetime.timedelta
    longest_pause: datetime.timedelta
    ahead: datetime.timedelta
    kept: frozenset
    lost: int = 0

    @property
    def soon(self):
        """True if the chosen resources must already be free in the cloud."""
        return self.span.start <= self.now + self.grace

    @property
    def must_be_well(self):
        """True if resources that are not well must not be chosen, unless they are kept.

        Their blocks have a gap where a lease has just left, until the next health check.
        """
        return self.span.start < self.now + self.ahead

    def may_have(self, resource):
        """Return False if the resource is lent to another reservation, else True."""
        return resource.lent_to in {None, *self.own}

    def booked(self, connection, ids, span):
        """Return the bookings of others on resources, with cleaning time before and after each.

        Overdue bookings that are in the way are among them.

        :returns: {resource id: [(Interval, amount)]}.
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
        """The Interval in which an overdue booking blocks its resource."""
        return interval.Interval(self.span.start, self.now + self.grace + interval.RESOLUTION)

    def in_order(self, ids):
        """Return the ids in the order in which to take them: unchanged, or shuffled after a race.

        All bookings that plan at the same moment find the same first resources free. After a lost
        race, each booking shuffles the ids with a seed of its own, so that the bookings do not
        compete for the same resources again.
        """
        if not self.lost:
            return ids
        return random.Random(f'{sorted(self.own)} {self.lost}').sample(ids, len(ids))

    def overdue(self, connection, ids=None):
        """Return ``allocations.overdue``, or {} if they may be released before the span starts."""
        return allocations.overdue(connection, self.now, self.now + self.longest_pause, ids,
                                   self.replaced) if self.soon else {}


class Booking:
    """Chooses resources for the reservations of a lease and writes the allocations."""

    def __init__(self, core, leeway=datetime.timedelta(0), read_first=candidates.FIRST):
        """Read the rules from the configuration.

        :param leeway: how long the choice must stay valid: a resource that is held in the cloud
            counts as held for this much longer.
        :param read_first: how many resources are read first, as a ``candidates.First``.
        """
        self._core = core
        self._read_first = read_first
        conf = core.conf.manager
        self._cleaning = datetime.timedelta(minutes=conf.cleaning_minutes)
        self._grace = datetime.timedelta(seconds=conf.release_grace_seconds) + leeway
        self._longest_pause = longest_pause(conf)
        self._attempts = conf.booking_attempts

    def wishes_of(self, reservation, must_keep=False):
        """Return the Wishes of a reservation, one for each need; each keeps what it has."""
        return [Wish(reservation_id=reservation.id, need=need, must_keep=must_keep,
                     keep=reservation.allocated.get(need.key, ()))
                for need in self._core.registry.needs_of(reservation)]

    def wishes_of_all(self, lease):
        """Return the Wishes of the open reservations of a lease; each keeps what it has."""
        return [wish for each in lease.open_reservations
                for wish in self.wishes_of(each)]

    def book(self, wishes, span, now, write, planned=None, avoid=(), also=()):
        """Choose resources for `wishes` during `span`, then call `write(connection, chosen)`.

        `write` runs in the transaction in which the chosen resources are locked and proved
        free; it writes the lease, and writes `chosen` (a list of Allocations) through `replace`.

        :param planned: the Allocations that `plan` chose just before; they are tried first.
        :param avoid: ids of resources that must not be chosen.
        :param also: ids of further resources that `write` changes; they are locked with the others.
        :returns: the result of `write`.
        :raises NotEnough: too few resources are free; the error has the reasons.
        :raises LostRace: other bookings were faster at every attempt.
        """
        terms, chosen = self.terms(wishes, span, now, avoid), planned
        for lost in range(self._attempts):
            terms = dataclasses.replace(terms, lost=lost)
            if chosen is None:
                chosen = self._planned(wishes, terms)
            try:
                with self._core.database.writer() as connection:
                    self._prove(connection, wishes, chosen, terms, also)
                    return write(connection, chosen)
            except errors.LostRace:
                LOG.debug('Lost a race for resources; planning again')
                chosen = None
        raise errors.LostRace()

    def plan(self, wishes, span, now, avoid=(), ignoring=()):
        """Return the Allocations that `wishes` would get, without writing anything.

        :param ignoring: ids of other reservations whose allocations count as free.
        :raises NotEnough: too few resources are free; the error has the reasons.
        """
        terms = self.terms(wishes, span, now, avoid)
        return self._planned(wishes, dataclasses.replace(
            terms, replaced=terms.replaced.union(ignoring)))

    def take(self, wishes, span, now, chosen, write):
        """Book exactly the Allocations `chosen` for `wishes`, or nothing; else as `book`.

        :raises LostRace: one of the resources cannot be had any more, or another transaction was
            in the way.
        """
        with self._core.database.writer() as connection:
            self._prove(connection, wishes, chosen, self.terms(wishes, span, now))
            return write(connection, chosen)

    def _planned(self, wishes, terms):
        try:
            return self._plan(wishes, terms)
        except errors.NotEnough:
            # An offer that has expired must not block a booking.
            if not offer_expiry.freed_resources(self._core, terms.now):
                raise
            return self._plan(wishes, terms)

    def _plan(self, wishes, terms):
        with self._core.database.reader() as connection:
            wishes, chosen = alike.choose(
                self._core, connection, wishes,
                lambda some: self._choose(connection, list(some), terms), terms.avoid)
        return allocations_of(wishes, chosen, terms.span)

    def _choose(self, connection, wishes, terms):
        """Return the wishes that can be served, and the selection.Picks of each.

        An optional wish that does not fit is left out, unless it would lose resources it has.
        """
        most = prefilter.most(wish.need.demand for wish in wishes)
        # A single wish that has nothing yet takes the first resources that fit, so it is enough to
        # read some of them.
        some = len(wishes) == 1 and not wishes[0].keep
        wishes = _sick_last(connection, wishes)
        terms = _without_reported(connection, wishes, terms)
        asks = self._asks(connection, wishes, terms, most if some else None)
        while True:
            try:
                return wishes, prefilter.choose(asks, terms.span)
            except errors.NotEnough as error:
                place = error.kwargs['place']
                wish = wishes[place]
                if not wish.need.optional or wish.keep:
                    _refuse_loss(wish.need, error)
                    raise shortage.explained(self._core, connection, wishes, terms,
                                             error) from error
                del wishes[place], asks[place]

    @staticmethod
    def replace(connection, chosen, reservation_ids=()):
        """Write the Allocations `chosen`; those of `reservation_ids` are deleted first."""
        if reservation_ids:
            allocations.delete(connection, reservation_ids)
        allocations.add(connection, chosen)

    def terms(self, wishes, span, now, avoid=()):
        """Return the Terms for booking `wishes` during `span`.

        :param avoid: ids of resources that must not be chosen.
        """
        replaced = {wish.reservation_id for wish in wishes if not wish.beside}
        # What a lease uses it may go on to use, even if it is kept from others because it is sick.
        replaced |= {health.block_of(key) for wish in wishes if wish.must_keep
                     for key in wish.keep}
        return Terms(
            span=span, now=now, own=frozenset(wish.reservation_id for wish in wishes),
            replaced=frozenset(replaced),
            avoid=frozenset(avoid), cleaning=self._cleaning, grace=self._grace,
            longest_pause=self._longest_pause, ahead=blocking.ahead(self._core.conf),
            kept=frozenset(key for wish in wishes for key in wish.keep))

    def _asks(self, connection, wishes, terms, most):
        """Return the demand of each wish with the candidates for it, as a ``prefilter.Ask``.

        Wishes that differ only in how much they need have the same candidates, read once.

        :param most: read only so many candidates that fit; None: read all.
        """
        read, asks = [], []
        for wish in wishes:
            kept = collections.Counter(wish.keep)
            demand = dataclasses.replace(
                wish.need.demand, keep=tuple(selection.Pick(*each) for each in kept.items()))
            look = candidates.unused if demand.amount is selection.WHOLE else candidates.shared
            key = look, wish.need.pool, wish.need.requirement, wish.avoid
            found = next((known for other, known in read if other == key), None)
            if found is None:
                found = look(self._core, connection, wish.need, dataclasses.replace(
                    terms, avoid=terms.avoid | wish.avoid), most, self._read_first)
                read.append((key, found))
            asks.append(prefilter.Ask(demand, found, wish.must_keep))
        return asks

    def _prove(self, connection, wishes, chosen, terms, also=()):
        """Lock the chosen resources and raise LostRace unless they are still free.

        Their rows are written, because a lock is known to one node of a Galera cluster only: at a
        commit the nodes compare the rows that two transactions wrote. So this holds also for a
        resource whose allocation is kept, and only gets a new end.

        :raises LostRace: one of them was taken, withdrawn, broken or changed since it was chosen.
        """
        ids = sorted({given.resource_id for given in chosen})
        if not ids:
            return
        locked = {resource.id: resource
                  for resource in resources.lock(connection, {*ids, *also})}
        self._core.resource_names.learn(locked.values())
        if not locked.keys() >= set(ids):
            raise errors.LostRace()
        self._prove_matching(connection, wishes, chosen, locked)
        booked = terms.booked(connection, ids, terms.span)
        for given in chosen:
            resource = locked[given.resource_id]
            taken = booked.setdefault(given.resource_id, [])
            if not fits(resource, given, taken):
                raise errors.LostRace()
            amount = selection.WHOLE if given.whole else given.amount
            taken += [(terms.span, amount)] * given.copies
            if not terms.may_have(resource) or (
                    terms.soon and resource.held_by not in {None, *terms.own}):
                raise errors.LostRace()
        resources.touch(connection, ids, terms.now)

    def _prove_matching(self, connection, wishes, chosen, locked):
        read, fitting = [], set()
        for wish in wishes:
            # Wishes with the same requirement are met by the same resources, looked up once.
            key = wish.need.pool, wish.need.requirement
            found = next((known for other, known in read if other == key), None)
            if found is None:
                found = criteria.matching(
                    self._core, connection, wish.need,
                    {id_: each for id_, each in locked.items() if each.pool == wish.need.pool})
                read.append((key, found))
            fitting |= {(wish.reservation_id, wish.need.key, id_) for id_ in found}
        if any((given.reservation_id, given.need, given.resource_id) not in fitting
               for given in chosen):
            raise errors.LostRace()


def allocations_of(wishes, chosen, span):
    """Return the Allocations for wishes during `span`.

    :param chosen: the selection.Picks of each wish, in the order of the wishes.
    """
    return [_allocation(wish, pick, span) for wish, picks in zip(wishes, chosen, strict=True)
            for pick in picks]


def _allocation(wish, pick, span):
    amount = wish.need.demand.amount
    whole = amount is selection.WHOLE
    return records.Allocation(
        reservation_id=wish.reservation_id, resource_id=pick.resource_id, start=span.start,
        end=span.end, whole=whole, amount={} if whole else dict(amount), copies=pick.copies,
        need=wish.need.key)


def _sick_last(connection, wishes):
    """Return the wishes, so that those which get smaller give up first what is not well."""
    if all(len(wish.keep) <= wish.need.demand.at_most for wish in wishes):
        return wishes
    sick = frozenset(stored.sick_ids(connection))
    return [dataclasses.replace(wish, keep=tuple(sorted(wish.keep, key=sick.__contains__)))
            for wish in wishes]


def _without_reported(connection, wishes, terms):
    """Return Terms that also avoid the resources which the owner of the lease has reported."""
    changed = {wish.reservation_id for wish in wishes if wish.beside or wish.keep}
    if not changed:
        # A new lease has reported nothing.
        return terms
    reported = swap_reports.by_lease(connection, changed, terms.now)
    return dataclasses.replace(terms, avoid=terms.avoid | (
        reported - {key for wish in wishes for key in wish.keep}))


def _refuse_loss(need, error):
    """Raise NotEnough if resources that the reservation uses would be lost."""
    if not error.kwargs.get('in_use'):
        return
    had, left = error.kwargs['wanted'], error.kwargs['free']
    raise errors.NotEnough(
        f'{had - left} of {shortage.counted(had, need.called or need.pool)} that the reservation '
        'uses cannot be kept for all of the time: others have the resources then, they have '
        'shrunk, or the criteria are not met. Ask for less time or other criteria, or make another '
        'lease.',
        what=need.pool, wanted=had, free=left) from error


def longest_pause(conf):
    """Return the longest time between two tries of an action, by the options of [manager]."""
    # The last two are those of an end that was given up and is tried again.
    return datetime.timedelta(seconds=max(conf.retry_longest_seconds, conf.busy_seconds,
                                          conf.heal_seconds, conf.heal_longest_seconds))


def fits(resource, given, taken):
    """Return True if an Allocation on a resource fits beside the bookings `taken`.

    :param given: the Allocation.
    :param taken: pairs (Interval, amount), as in a selection.Candidate.
    """
    if given.whole:
        return not taken
    demand = selection.Demand(amount=given.amount, at_least=given.copies, at_most=given.copies,
                              spread=selection.Spread.ANY)
    candidate = selection.Candidate(id=resource.id, capacity=resource.capacity,
                                    bookings=tuple(taken))
    try:
        selection.choose(demand, [candidate], interval.Interval(given.start, given.end))
    except errors.NotEnough:
        return False
    return True
