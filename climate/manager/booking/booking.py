# SPDX-License-Identifier: Apache-2.0
"""Booking: read what is free, choose, and write the allocations in one transaction.

Planning reads in a reader, before the writer opens. The writer locks the chosen rows first, in
id order, and reads their bookings only after that. If a chosen resource was taken in between, the
race is lost and the booking is planned again.
"""
import collections
import dataclasses
import datetime

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
from climate.manager.booking import alike_resources
from climate.manager.booking import booking_terms
from climate.manager.booking import candidates
from climate.manager.booking import criteria
from climate.manager.booking import offer_expiry
from climate.manager.booking import prefilter
from climate.manager.booking import shortage
from climate.manager.health import blocking
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)


class Booking:
    """Chooses resources for the reservations of a lease and writes the allocations."""

    def __init__(self, core, leeway=datetime.timedelta(0), read_first=candidates.FIRST):
        """Read the rules from the configuration.

        :param leeway: the time for which the choice must stay valid: a resource that is held in the
            cloud counts as held for this much longer.
        :param read_first: the number of resources that are read first, as a ``candidates.First``.
        """
        self._core = core
        self._read_first = read_first
        conf = core.conf.manager
        self._cleaning = datetime.timedelta(minutes=conf.cleaning_minutes)
        self._grace = datetime.timedelta(seconds=conf.release_grace_seconds) + leeway
        self._longest_pause = booking_terms.longest_pause(conf)
        self._attempts = conf.booking_attempts

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

    def book_first(self, lease, wishes, span, now, write, avoid):
        """Book as `book` for a lease that has allocations: it goes before the wait queue."""
        try:
            planned = self.plan(wishes, span, now, avoid)
        except errors.NotEnough:
            if not wakeups.release_held_back(self._core, lease):
                raise
            planned = self.plan(wishes, span, now, avoid)
        return self.book(wishes, span, now, write, planned=planned, avoid=avoid)

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

        :raises LostRace: one of the resources is no longer available, or another transaction
            conflicts.
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
            wishes, chosen = alike_resources.choose(
                self._core, connection, wishes,
                lambda attempt: self._choose(connection, list(attempt), terms), terms.avoid)
        return allocations_of(wishes, chosen, terms.span)

    def _choose(self, connection, wishes, terms):
        """Return the wishes that can be served, and the selection.Picks of each.

        An optional wish that does not fit is left out, unless it would lose resources it has.
        """
        most = prefilter.most(wish.need.demand for wish in wishes)
        # A single wish that has nothing yet takes the first resources that fit, so it is enough to
        # read the first ones.
        reads_first = len(wishes) == 1 and not wishes[0].keep
        wishes = _sick_last(connection, wishes)
        terms = _without_reported(connection, wishes, terms)
        asks = self._asks(connection, wishes, terms, most if reads_first else None)
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
        """Return the BookingTerms for `wishes` during `span`.

        :param avoid: ids of resources that must not be chosen.
        """
        replaced = {wish.reservation_id for wish in wishes if not wish.beside}
        # A lease may go on using its resources, even if blocks keep sick ones from others.
        replaced |= {health.block_of(key) for wish in wishes if wish.must_keep
                     for key in wish.keep}
        return booking_terms.BookingTerms(
            span=span, now=now, own=frozenset(wish.reservation_id for wish in wishes),
            replaced=frozenset(replaced),
            avoid=frozenset(avoid), cleaning=self._cleaning, grace=self._grace,
            longest_pause=self._longest_pause, ahead=blocking.ahead(self._core.conf),
            kept=frozenset(key for wish in wishes for key in wish.keep))

    def _asks(self, connection, wishes, terms, most):
        """Return the demand of each wish with its candidates, as a ``prefilter.CandidateDemand``.

        Wishes that differ only in the amount have the same candidates, read once.

        :param most: the number of fitting candidates after which no more are read; None: read all.
        """
        read, asks = [], []
        for wish in wishes:
            kept = collections.Counter(wish.keep)
            demand = dataclasses.replace(
                wish.need.demand, keep=tuple(selection.Pick(*each) for each in kept.items()))
            of_kind = candidates.unused if demand.amount is selection.WHOLE else candidates.shared
            key = of_kind, wish.need.pool, wish.need.requirement, wish.avoid
            candidate_set = next((known for other, known in read if other == key), None)
            if candidate_set is None:
                candidate_set = of_kind(self._core, connection, wish.need, dataclasses.replace(
                    terms, avoid=terms.avoid | wish.avoid), most, self._read_first)
                read.append((key, candidate_set))
            asks.append(prefilter.CandidateDemand(demand, candidate_set, wish.must_keep))
        return asks

    def _prove(self, connection, wishes, chosen, terms, also=()):
        """Lock the chosen resources and raise LostRace unless they are still free.

        Their rows are written, because only one node of a Galera cluster knows a lock: at a commit
        the nodes compare the rows that two transactions wrote. So the proof also holds for a
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
            matching = next((known for other, known in read if other == key), None)
            if matching is None:
                matching = criteria.matching(
                    self._core, connection, wish.need,
                    {id_: each for id_, each in locked.items() if each.pool == wish.need.pool})
                read.append((key, matching))
            fitting |= {(wish.reservation_id, wish.need.key, id_) for id_ in matching}
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
    """Return the wishes, so that smaller ones release resources that are out of service first."""
    if all(len(wish.keep) <= wish.need.demand.at_most for wish in wishes):
        return wishes
    sick = frozenset(stored.sick_ids(connection))
    return [dataclasses.replace(wish, keep=tuple(sorted(wish.keep, key=sick.__contains__)))
            for wish in wishes]


def _without_reported(connection, wishes, terms):
    """Return BookingTerms that also avoid the resources that the owner of the lease reported."""
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
