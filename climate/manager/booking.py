# SPDX-License-Identifier: Apache-2.0
"""Booking: read what is free, choose, and write the promises in one transaction.

Planning reads in a reader, before the writer opens. The writer locks the chosen rows first, in
id order, and reads their bookings only after that; what was taken in between is a lost race, and
the booking is planned again.
"""
import collections
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import resources
from climate.domain import fit
from climate.domain import interval
from climate.domain import records
from climate.manager import criteria
from climate.manager import shortage

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Wish:
    """What one reservation needs of one pool: the plugin's Need, and whose it is.

    :ivar keep: ids of resources that it has and should keep where they still fit, each once for
        each copy.
    :ivar must_keep: they are in use, so a choice without one of them is refused.
    """

    reservation_id: str
    need: object
    keep: tuple[int, ...] = ()
    must_keep: bool = False


class Booking:
    """Chooses resources for the reservations of a lease and writes the promises."""

    def __init__(self, core):
        self._core = core
        conf = core.conf.manager
        self._cleaning = datetime.timedelta(minutes=conf.cleaning_minutes)
        self._grace = datetime.timedelta(seconds=conf.release_grace_seconds)
        self._attempts = conf.booking_attempts

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
        for _ in range(self._attempts):
            chosen = (planned if planned is not None
                      else self.plan(wishes, span, now, avoid))
            planned = None
            try:
                with self._core.database.writer() as connection:
                    self._prove(connection, wishes, chosen, span, now)
                    return write(connection, chosen)
            except errors.LostRace:
                LOG.debug('Lost a race for resources; planning again')
        raise errors.LostRace()

    def plan(self, wishes, span, now, avoid=()):
        """The Allocations that `wishes` would get, without writing anything.

        :raises NotEnough: too few resources are free, with the reasons.
        """
        chosen = []
        with self._core.database.reader() as connection:
            for wish in wishes:
                try:
                    chosen += self._choose(connection, wish, wishes, chosen, span, now, avoid)
                except errors.NotEnough:
                    if not wish.need.optional:
                        raise
        return chosen

    def replace(self, connection, chosen, now, reservation_ids=()):
        """Write the promises `chosen`, in place of those of `reservation_ids`."""
        if reservation_ids:
            allocations.delete(connection, reservation_ids)
        allocations.add(connection, chosen)
        if chosen:
            resources.touch(connection, {given.resource_id for given in chosen}, now)

    def _choose(self, connection, wish, wishes, chosen, span, now, avoid):
        own = {each.reservation_id for each in wishes}
        candidates = self._candidates(connection, wish, chosen, span, now, own, avoid)
        kept = collections.Counter(wish.keep)
        demand = dataclasses.replace(wish.need.demand,
                                     keep=tuple(fit.Pick(*each) for each in kept.items()))
        try:
            picks = fit.choose(demand, candidates, span)
        except errors.NotEnough as error:
            raise shortage.explained(
                self._core, connection, wish, error, span, now, own, self._cleaning
            ) from error
        lost = kept - collections.Counter({pick.resource_id: pick.copies for pick in picks})
        if wish.must_keep and lost.total() > max(0, len(wish.keep) - demand.at_most):
            raise errors.NotEnough(
                f'Resources {", ".join(map(str, sorted(lost)))} are in use by the reservation '
                'and are not free, or do not meet the criteria, for all of the new span.',
                what=wish.need.pool, wanted=len(wish.keep), free=len(wish.keep) - lost.total())
        whole = demand.amount is fit.WHOLE
        return [records.Allocation(
            reservation_id=wish.reservation_id, resource_id=pick.resource_id, start=span.start,
            end=span.end, whole=whole, amount={} if whole else dict(demand.amount),
            copies=pick.copies) for pick in picks]

    def _candidates(self, connection, wish, chosen, span, now, own, avoid):
        """The fit.Candidates of a wish, with what others and this lease have of them."""
        pool, demand = wish.need.pool, wish.need.demand
        margin = span.widened(self._cleaning)
        soon = own if span.start <= now + self._grace else None
        if demand.amount is fit.WHOLE:
            free = allocations.free_resources(connection, pool, margin, soon, ignoring=own)
            booked = {}
        else:
            free = allocations.reservable_resources(connection, pool)
            if soon is not None:
                free = {key: each for key, each in free.items() if each.held_by in {None, *soon}}
            booked = self._booked(connection, free, span, own)
        free = {key: resource for key, resource in free.items() if key not in avoid}
        matching = criteria.matching(self._core, connection, wish.need, free)
        mine = {}
        for given in chosen:
            amount = fit.WHOLE if given.whole else given.amount
            mine.setdefault(given.resource_id, []).extend(
                [(interval.Interval(given.start, given.end), amount)] * given.copies)
        return [fit.Candidate(id=key, capacity=free[key].capacity,
                              bookings=tuple(booked.get(key, ())) + tuple(mine.get(key, ())))
                for key in matching]

    def _booked(self, connection, ids, span, own):
        """What others have of resources, each with the time for cleaning before and after it."""
        found = allocations.bookings(connection, ids, span.widened(self._cleaning), ignoring=own)
        return {key: [(each.widened(self._cleaning), amount) for each, amount in taken]
                for key, taken in found.items()}

    def _prove(self, connection, wishes, chosen, span, now):
        """Lock the chosen resources and look again.

        :raises LostRace: one of them was taken, withdrawn or broken since it was chosen.
        """
        ids = sorted({given.resource_id for given in chosen})
        if not ids:
            return
        own = {wish.reservation_id for wish in wishes}
        locked = {resource.id: resource for resource in resources.lock(connection, ids)}
        booked = self._booked(connection, ids, span, own)
        for given in chosen:
            resource = locked.get(given.resource_id)
            if resource is None:
                raise errors.LostRace()
            taken = booked.setdefault(given.resource_id, [])
            if not _fits(resource, given, taken):
                raise errors.LostRace()
            amount = fit.WHOLE if given.whole else given.amount
            taken += [(span, amount)] * given.copies
            if span.start <= now + self._grace and resource.held_by not in {None, *own}:
                raise errors.LostRace()


def _fits(resource, given, taken):
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
