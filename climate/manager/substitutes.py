# SPDX-License-Identifier: Apache-2.0
"""Occupy the resources of a reservation, with substitutes for those that cannot be had."""
import collections
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.db import resources
from climate.domain import fit
from climate.domain import interval
from climate.domain import lifecycle
from climate.manager import booking
from climate.manager import claims
from climate.manager.acquire import holding

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class _Lost:
    """What a reservation was promised and cannot have.

    :ivar promises: the Allocations.
    :ivar counts: {(pool, whether whole ones): how many copies}.
    :ivar held: "NAME by reservation ID" of the resources that another reservation still occupies.
    :ivar broken: the names of those that are out of use, or failing, and then why.
    :ivar failing: some of them are failing, as others may be.
    """

    promises: tuple
    counts: collections.Counter
    held: tuple[str, ...]
    broken: tuple[str, ...]
    failing: bool

    @property
    def ids(self):
        return {given.resource_id for given in self.promises}


class Substitutes:
    """A promise that is due is kept with the resources promised, or with others as good."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)

    def ensure(self, lease, reservation, now, patient=False, failing=None):
        """Let a reservation have resources, as many as were promised to it.

        Whole resources are occupied from here on; of one that is shared nobody else may have all.
        What another reservation still occupies, or what is out of use, is replaced by what is
        free until the end of the lease; where copies are shared out, those on other resources stay
        where they are. What a running reservation has in use stays, out of use or not.

        :param patient: wait for a resource that is still held instead of replacing it.
        :param failing: {resource id: why nothing can be started on it now}; they are replaced too.
        :returns: True where it has other resources than it had when the lease was read.
        :raises StillBusy: a resource is still held, and there is no substitute.
        :raises NotEnough: a resource is out of use, and there is no substitute; it is named.
        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        with self._core.database.writer() as connection:
            promised = allocations.of_reservations(connection, [reservation.id])
            lost = self._hold(connection, reservation, promised, failing or {}, now)
            claims.refuse_overtaken(connection, lease)
        if not lost.promises:
            return sorted(reservation.resource_ids) != sorted(
                given.resource_id for given in promised for _ in range(given.copies))
        if lost.held and patient:
            raise errors.StillBusy(service='Climate',
                                   reason=f'still held are {", ".join(lost.held)}.')
        try:
            self._replace(lease, reservation, promised, lost, now)
        except errors.NotEnough as error:
            if lost.held:
                raise errors.StillBusy(service='Climate', reason=(
                    f'still held are {", ".join(lost.held)}, and no other is free.')) from error
            raise errors.NotEnough(
                f'Out of use: {", ".join(lost.broken)}; and there is no substitute. '
                f'{error.message}', **error.kwargs) from error
        return True

    def failing(self, some):
        """{id: why} of those of the Resources on which nothing can be started now."""
        found = {}
        for pool in self._core.registry.pools.values():
            mine = [each for each in some if each.pool == pool.name]
            if mine:
                found |= pool.failing(self._core.cloud, mine)
        return found

    def _all_failing(self):
        """The same of all that are enrolled."""
        with self._core.database.reader() as connection:
            found = [each for name in self._core.registry.pools
                     for each in resources.find(connection, name)]
        return self.failing(found)

    def _hold(self, connection, reservation, promised, failing, now):
        """Occupy the whole resources of a reservation; returns what it cannot have, as _Lost.

        :param failing: {resource id: why nothing can be started on it now}.
        """
        known = {each.id: each for each in resources.with_ids(
            connection, {given.resource_id for given in promised})}
        whole = [given.resource_id for given in promised if given.whole]
        late = self._in_the_way(connection, reservation, promised, known, now)
        free = [key for key in whole if key not in late]
        holders = resources.hold(connection, free, reservation.id) if free else {}
        holders |= {given.resource_id: known[given.resource_id].held_by for given in promised
                    if not given.whole
                    and known[given.resource_id].held_by not in (None, reservation.id)}
        holders |= late
        broken = {key for key, each in known.items()
                  if (not each.reservable or key in failing) and key not in holders
                  and not _in_use(reservation, each, key in whole)}
        return _lost(promised, known, holders,
                     {key: failing.get(key) for key in broken})

    def _in_the_way(self, connection, reservation, promised, known, now):
        """{resource id: a reservation whose time is over, and that still has what is needed}."""
        late = allocations.overdue(connection, now, now + booking.longest_pause(
            self._core.conf.manager), known)
        if not late:
            return {}
        moment = interval.Interval(now, now + interval.RESOLUTION)
        booked = allocations.bookings(connection, late, moment, ignoring=[reservation.id])
        found = {}
        for given in promised:
            resource = known[given.resource_id]
            if resource.id not in late or _in_use(reservation, resource, given.whole):
                continue
            taken = booked[resource.id] + [(moment, amount) for _, amount in late[resource.id]]
            if not booking.fits(resource, dataclasses.replace(
                    given, start=moment.start, end=moment.end), taken):
                found[resource.id] = late[resource.id][0][0]
        return found

    def _replace(self, lease, reservation, promised, lost, now):
        span = dataclasses.replace(lease.interval, start=max(lease.start, now))
        kept = {given.resource_id for given in promised} - lost.ids
        wishes, avoid = [], {*lost.ids, *(self._all_failing() if lost.failing else ())}
        for need, copies in self._needs(reservation, lost):
            demand = dataclasses.replace(need.demand, at_least=copies, at_most=copies)
            wishes.append(booking.Wish(reservation.id, dataclasses.replace(need, demand=demand),
                                       beside=True))
            if demand.amount is fit.WHOLE or demand.spread is fit.Spread.APART:
                avoid |= kept

        def write(connection, chosen):
            resources.release(connection, reservation.id, lost.ids)
            claims.refuse_overtaken(connection, lease)
            allocations.delete(connection, [reservation.id], lost.ids)
            self._booking.replace(connection, chosen, now)
            whole = [given.resource_id for given in chosen if given.whole]
            if resources.hold(connection, whole, reservation.id):
                raise errors.LostRace()
            new = sorted({given.resource_id for given in chosen})
            reservations.change(connection, [reservation.id], now, resources_changed=True)
            journal.note(connection, lease.id, now, 'climate', 'substitute',
                         f'resources {sorted(lost.ids)} replaced by {new}')
            return new
        try:
            planned = self._booking.plan(wishes, span, now, avoid=avoid)
        except errors.NotEnough:
            # Who was promised something comes before who waits.
            if not holding.give_way(self._core, lease):
                raise
            planned = self._booking.plan(wishes, span, now, avoid=avoid)
        new = self._booking.book(wishes, span, now, write, planned=planned, avoid=avoid)
        LOG.warning('Lease %s, reservation %s: %s could not be had, resources %s instead',
                    lease.id, reservation.id, ', '.join(lost.held + lost.broken), new)

    def _needs(self, reservation, lost):
        """Pairs (Need, how many copies of it are lost)."""
        needs = self._core.registry.plugin(reservation.resource_type).needs(reservation.request)
        kinds = [(need, (need.pool, need.demand.amount is fit.WHOLE)) for need in needs]
        return [(need, lost.counts[kind]) for need, kind in kinds if lost.counts[kind]]


def _lost(promised, known, holders, broken):
    """The _Lost of a reservation.

    :param known: {resource id: Resource}.
    :param holders: {resource id: the reservation that still occupies it}.
    :param broken: {id: why, or None} of resources that are out of use, or failing.
    """
    promises = tuple(given for given in promised
                     if given.resource_id in holders or given.resource_id in broken)
    counts = collections.Counter()
    for given in promises:
        counts[known[given.resource_id].pool, given.whole] += given.copies
    return _Lost(
        promises=promises, counts=counts,
        held=tuple(f'{known[key].name} by reservation {holder}'
                   for key, holder in sorted(holders.items())),
        broken=tuple(known[key].name + (f' ({broken[key]})' if broken[key] else '')
                     for key in sorted(broken)),
        failing=any(broken.values()))


def _in_use(reservation, resource, whole):
    """True where servers of the reservation may be on a resource that it was promised."""
    if reservation.state != lifecycle.RESERVATION_ACTIVE and (
            not reservation.binding or reservation.leased_id is not None):
        # One thing that is leased is known, and sleeps, long before it is woken on its resource.
        return False
    return resource.held_by == reservation.id if whole else True


def reread(connection, lease):
    """The lease with its reservations as they are now; its claim stays."""
    current = leases.get(connection, lease.id)
    return dataclasses.replace(lease, reservations=current.reservations)
