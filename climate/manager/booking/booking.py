# SPDX-License-Identifier: Apache-2.0
"""Booking: choose free resources for wishes, and write the allocations in one transaction.

A wish (``wish_lists.Wish``) is a need of one reservation. A plan is read before the transaction
begins. The transaction first locks the chosen rows, in the order of their ids, and only then reads
their bookings. If another booking took a chosen resource in between, this booking has lost a race
and makes another plan.
"""
import collections
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import given_back
from climate.db import health as stored
from climate.db import swap_reports
from climate.domain import health
from climate.domain import records
from climate.domain import selection
from climate.manager import core as cores
from climate.manager.booking import alike_resources
from climate.manager.booking import booking_terms
from climate.manager.booking import candidates
from climate.manager.booking import offer_expiry
from climate.manager.booking import prefilter
from climate.manager.booking import shortage
from climate.manager.booking import verification
from climate.manager.health import blocking
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)


class Booking:
    """Books resources for the reservations of a lease."""

    def __init__(self, core, leeway=datetime.timedelta(0), *, for_waiting=False):
        """Read the rules from the configuration.

        :param for_waiting: whether the leases wait for resources, so that they may also get those
            that were returned.
        :param leeway: the time for which a plan must stay valid. It extends the time in which an
            occupied resource is expected to become free.
        """
        self._core = core
        self._for_waiting = for_waiting
        conf = core.conf.manager
        self._cleaning = datetime.timedelta(minutes=conf.cleaning_minutes)
        self._grace = datetime.timedelta(seconds=conf.release_grace_seconds) + leeway
        self._longest_pause = booking_terms.longest_pause(conf)
        self._attempts = conf.booking_attempts

    def book(self, wishes, span, now, write, planned=None, avoid=(), also=()):
        """Choose resources for `wishes` during `span`, then call `write(connection, chosen)`.

        `write` runs in the transaction that has locked the chosen resources and found them free.
        It writes the lease, and `chosen`, a list of Allocations.

        :param planned: the Allocations that `plan` has just chosen; None: make a plan.
        :param avoid: ids of resources that must not be chosen.
        :param also: ids of other resources that `write` changes; they are locked, too.
        :returns: the result of `write`.
        :raises NotEnough: too few resources are free; the error has the reasons.
        :raises LostRace: each attempt lost a race against another booking.
        """
        terms, chosen = self.terms(wishes, span, now, avoid), planned
        for lost in range(self._attempts):
            terms = dataclasses.replace(terms, lost=lost)
            if chosen is None:
                chosen = self._plan(wishes, terms)
            try:
                return self._book(wishes, chosen, terms, write, also)
            except errors.LostRace:
                LOG.debug('Lost a race for resources; planning again')
                chosen = None
        raise errors.LostRace()

    def plan_change(self, change):
        """Return the Allocations for the Wishes of a LeaseChange as `plan`; [] without Wishes."""
        return self.plan(change.wishes, change.span, change.now) if change.wishes else []

    def book_change(self, change, write, planned=None):
        """Book the Wishes of a LeaseChange as `book`; without Wishes, only call `write`."""
        if change.wishes:
            return self.book(change.wishes, change.span, change.now, write, planned=planned)
        return self._write_at_once(write)

    @cores.again_after_a_race
    def _write_at_once(self, write):
        with self._core.database.writer() as connection:
            return write(connection, [])

    def book_before_queue(self, lease, wishes, span, now, write, avoid):
        """Book as `book`, for a lease that has allocations already.

        If too few resources are free, release those that are held back for leases in the queue.
        """
        try:
            planned = self.plan(wishes, span, now, avoid)
        except errors.NotEnough:
            if not wakeups.release_held_back(self._core, lease):
                raise
            planned = self.plan(wishes, span, now, avoid)
        return self.book(wishes, span, now, write, planned=planned, avoid=avoid)

    def book_exactly(self, wishes, span, now, chosen, write, replacing=()):
        """Book as `book`, but only the Allocations `chosen`, in one attempt.

        :param replacing: ids of other reservations whose resources `write` releases.
        :raises LostRace: a resource is no longer available, or another transaction conflicts.
        """
        terms = self.terms(wishes, span, now)
        return self._book(wishes, chosen, dataclasses.replace(
            terms, replaced=terms.replaced.union(replacing)), write)

    def _book(self, wishes, chosen, terms, write, also=()):
        with self._core.database.writer() as connection:
            verification.lock(self._core, connection, wishes, chosen, terms, also)
            if self._for_waiting:
                given_back.take(connection, {each.resource_id for each in chosen})
            return write(connection, chosen)

    def plan(self, wishes, span, now, avoid=(), ignoring=()):
        """Return the Allocations that `wishes` would get; write nothing.

        :param ignoring: ids of other reservations whose allocations count as free.
        :raises NotEnough: too few resources are free; the error has the reasons.
        """
        terms = self.terms(wishes, span, now, avoid)
        return self._plan(wishes, dataclasses.replace(
            terms, replaced=terms.replaced.union(ignoring)))

    def plan_or_none(self, wishes, span, now):
        """Return the result of `plan`, or None if it would fail, without an explanation."""
        terms = dataclasses.replace(self.terms(wishes, span, now), explains=False)
        try:
            return self._plan_once(wishes, terms)
        except errors.NotEnough:
            return None

    def _plan(self, wishes, terms):
        try:
            return self._plan_once(wishes, terms)
        except errors.NotEnough:
            # An offer that has expired must not block a booking.
            if not offer_expiry.freed_resources(self._core, terms.now):
                raise
            return self._plan_once(wishes, terms)

    def _plan_once(self, wishes, terms):
        with self._core.database.reader() as connection:
            wishes, chosen = alike_resources.choose(
                self._core, connection, wishes,
                lambda attempt: self._choose(connection, list(attempt), terms), terms.avoid)
        return allocations_of(wishes, chosen, terms.span)

    def _choose(self, connection, wishes, terms):
        """Return (the wishes that can be served, the selection.Picks of each).

        An optional wish that does not fit is dropped, unless its reservation has resources for it.
        """
        most = prefilter.most(wish.need.demand for wish in wishes)
        # A single wish that keeps no resources and has no rations takes the first ones that fit, so
        # it is enough to read the first ones.
        reads_first = len(wishes) == 1 and not (wishes[0].keep or wishes[0].need.demand.rations)
        wishes = _sick_last(connection, wishes)
        terms = _without_reported(connection, wishes, terms)
        demands = self._demands(connection, wishes, terms, most if reads_first else None)
        while True:
            try:
                return wishes, prefilter.choose(demands, terms.span)
            except errors.NotEnough as error:
                place = error.kwargs['place']
                wish = wishes[place]
                if not wish.need.optional or wish.keep:
                    if not terms.explains:
                        raise
                    _refuse_loss(wish.need, error)
                    raise shortage.explained(self._core, connection, wishes, terms,
                                             error) from error
                del wishes[place], demands[place]

    def terms(self, wishes, span, now, avoid=()):
        """Return the BookingTerms for `wishes` during `span`.

        :param avoid: ids of resources that must not be chosen.
        """
        replaced = {wish.reservation_id for wish in wishes if not wish.beside}
        replaced = replaced.union(*(wish.ignoring for wish in wishes))
        # A running lease keeps its sick resources, so their blocks do not count for it.
        replaced |= {health.block_of(key) for wish in wishes if wish.must_keep
                     for key in wish.keep}
        if self._for_waiting:
            with self._core.database.reader() as connection:
                replaced.update(given_back.ids(connection))
        return booking_terms.BookingTerms(
            span=span, now=now, own=frozenset(wish.reservation_id for wish in wishes),
            replaced=frozenset(replaced),
            avoid=frozenset(avoid), cleaning=self._cleaning, grace=self._grace,
            longest_pause=self._longest_pause, ahead=blocking.ahead(self._core.conf),
            kept=frozenset(key for wish in wishes for key in wish.keep))

    def _demands(self, connection, wishes, terms, most):
        """Return the ``prefilter.CandidateDemand`` of each wish.

        Wishes that differ only in the amount share their candidates, which are read once.

        :param most: stop reading after this number of suitable candidates; None: read all.
        """
        candidate_sets, demands = {}, []
        for wish in wishes:
            demand = dataclasses.replace(wish.need.demand, keep=tuple(
                selection.Pick(*copies) for copies in collections.Counter(wish.keep).items()))
            read = candidates.unused if demand.amount is selection.WHOLE else candidates.shared
            # 1 and true are equal, but match different resources; their representations differ.
            key = read, wish.need.pool, repr(wish.need.requirement), wish.avoid
            if key not in candidate_sets:
                candidate_sets[key] = read(self._core, connection, wish.need, dataclasses.replace(
                    terms, avoid=terms.avoid | wish.avoid), most)
            demands.append(prefilter.CandidateDemand(demand, candidate_sets[key], wish.must_keep))
        return demands


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
    """Return the wishes; a wish that shrinks drops its sick resources first."""
    if all(len(wish.keep) <= wish.need.demand.at_most for wish in wishes):
        return wishes
    sick = frozenset(stored.sick_ids(connection))
    return [dataclasses.replace(wish, keep=tuple(sorted(wish.keep, key=sick.__contains__)))
            for wish in wishes]


def _without_reported(connection, wishes, terms):
    """Return BookingTerms that also avoid the resources that the owner of the lease reported."""
    changed = {wish.reservation_id for wish in wishes if wish.beside or wish.keep}
    if not changed:
        # Nobody can have reported resources of a new lease.
        return terms
    reported = swap_reports.by_lease(connection, changed, terms.now)
    return dataclasses.replace(terms, avoid=terms.avoid | (reported - terms.kept))


def _refuse_loss(need, error):
    """Raise NotEnough if the reservation would lose resources that it uses."""
    if not error.kwargs.get('in_use'):
        return
    count, free = error.kwargs['wanted'], error.kwargs['free']
    raise errors.NotEnough(
        f'{count - free} of {shortage.counted(count, need.called or need.pool)} that the '
        'reservation uses cannot be kept for all of the time: other leases have the resources '
        'then, the resources have shrunk, or they do not meet the criteria. Ask for less time or '
        'other criteria, or make another lease.', what=need.pool, wanted=count, free=free
    ) from error
