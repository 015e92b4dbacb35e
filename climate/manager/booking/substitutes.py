# SPDX-License-Identifier: Apache-2.0
"""Occupy the resources of a reservation, and substitute those that it cannot have."""
import collections
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.db import resources
from climate.domain import due_events
from climate.domain import interval
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import core as cores
from climate.manager import ownership
from climate.manager.booking import booking
from climate.manager.booking import booking_terms
from climate.manager.booking import wish_lists
from climate.manager.health import failures

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class _Lost:
    """The allocations that a reservation cannot have now.

    :ivar allocations: the Allocations.
    :ivar counts: {need key: number of copies}.
    :ivar held: "NAME by reservation ID" of the resources that another reservation still occupies.
    :ivar broken: the names of the resources that are out of use or failing; for failing ones with
        the reason.
    :ivar failing: True if some are failing; then others in the pools may be failing too.
    """

    allocations: tuple
    counts: collections.Counter
    held: tuple[str, ...]
    broken: tuple[str, ...]
    failing: bool

    @property
    def ids(self):
        return {given.resource_id for given in self.allocations}

    @property
    def whole_ids(self):
        return {given.resource_id for given in self.allocations if given.whole}


class Substitutes:
    """Gives reservations that start their allocated resources, or equivalent substitutes."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)

    def ensure(self, lease, reservation, now, patient=False, failing=None, refused=None,
               all_of_them=False):
        """Occupy the allocated resources of a reservation, and substitute those it cannot have.

        Whole resources are occupied from now on; a shared resource is checked: no other reservation
        may occupy it whole. A resource that another reservation still occupies, or that is out of
        use, is replaced by one that is free until the end of the lease. Copies on other resources
        stay there. Resources that a running reservation uses also stay, even if they are out of
        use. If there are too few substitutes, the reservation goes on with fewer resources, if it
        has the least number that it asked for. Whole resources that are replaced stay held until a
        start succeeds, because an earlier try may have prepared them.

        :param patient: wait for a resource that is still held instead of replacing it.
        :param failing: {resource id: why nothing can be started on it now}; these are replaced too.
        :param refused: {resource name: why the cloud refuses it}; these are replaced even if the
            reservation runs, because it has nothing there.
        :param all_of_them: replace all unavailable resources, or none.
        :returns: True if the reservation has other resources than when the lease was read.
        :raises StillBusy: a resource is still held, and there is no substitute.
        :raises NotEnough: a resource is out of use, and there is no substitute; the error names it.
        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        allocated, lost = self._held(lease, reservation, failing or {}, refused or {}, now)
        if not lost.allocations:
            return sorted(reservation.resource_ids) != sorted(
                given.resource_id for given in allocated for _ in range(given.copies))
        if lost.held and patient:
            raise errors.StillBusy(service='Climate',
                                   reason=f'still held: {", ".join(lost.held)}.',
                                   owner_reason=f'{_still_held(lost)}.')
        try:
            self._replace(lease, reservation, allocated, lost, refused or {}, now, all_of_them)
        except errors.NotEnough as error:
            if lost.held:
                raise errors.StillBusy(service='Climate', reason=(
                    f'still held: {", ".join(lost.held)}; no other resource is free.'
                ), owner_reason=f'{_still_held(lost)}, and no other is free.') from error
            more = {**error.kwargs, 'owner_message': (
                f'Out of use: {len(lost.broken)} of its resources; and there is no substitute. '
                f'{error.owner_message}')}
            raise errors.NotEnough(
                f'Out of use: {", ".join(lost.broken)}; and there is no substitute. '
                f'{error.message}', **more) from error
        return True

    def _unusable(self, lost, refused):
        """Return the ids of the enrolled resources that are no substitutes.

        :param refused: the names of those that the cloud has just refused.
        """
        if not lost.failing:
            return set()
        with self._core.database.reader() as connection:
            enrolled = [each for name in self._core.registry.pools
                        for each in resources.find(connection, name)]
        return {*failures.failing(self._core, enrolled),
                *(each.id for each in enrolled if each.name in refused)}

    @cores.again_after_a_race
    def _held(self, lease, reservation, failing, refused, now):
        with self._core.database.writer() as connection:
            allocated = allocations.of_reservations(connection, [reservation.id])
            lost = self._hold(connection, reservation, allocated, failing, refused, now)
            ownership.refuse_overtaken(connection, lease)
        return allocated, lost

    def _hold(self, connection, reservation, allocated, failing, refused, now):
        """Occupy the whole resources of a reservation; return the _Lost ones.

        :param failing: {resource id: why nothing can be started on it now}.
        :param refused: {resource name: why the cloud refuses it}.
        """
        known = {each.id: each for each in resources.with_ids(
            connection, {given.resource_id for given in allocated})}
        self._core.resource_names.learn(known.values())
        whole = [given.resource_id for given in allocated if given.whole]
        late = self._overdue(connection, reservation, allocated, known, now)
        free = [key for key in whole if key not in late]
        holders = resources.hold(connection, free, reservation.id) if free else {}
        holders |= {given.resource_id: known[given.resource_id].held_by for given in allocated
                    if not given.whole
                    and known[given.resource_id].held_by not in (None, reservation.id)}
        holders |= late
        broken = {key for key, each in known.items()
                  if (not each.reservable or key in failing) and key not in holders
                  and not self._in_use(reservation, each, key in whole)}
        refusals = {key: refused[each.name] for key, each in known.items()
                    if each.name in refused and key not in holders}
        return _lost(allocated, known, holders,
                     {key: failing.get(key) for key in broken} | refusals)

    def _overdue(self, connection, reservation, allocated, known, now):
        """Return {resource id: the overdue reservation that still has what this one needs}."""
        late = allocations.overdue(connection, now, now + booking_terms.longest_pause(
            self._core.conf.manager), known)
        if not late:
            return {}
        moment = interval.Interval(now, now + interval.RESOLUTION)
        booked = allocations.bookings(connection, late, moment, ignoring=[reservation.id])
        holders = {}
        for given in allocated:
            resource = known[given.resource_id]
            if resource.id not in late or self._in_use(reservation, resource, given.whole):
                continue
            taken = booked[resource.id] + [(moment, amount) for _, amount in late[resource.id]]
            if not booking.fits(resource, dataclasses.replace(
                    given, start=moment.start, end=moment.end), taken):
                holders[resource.id] = late[resource.id][0][0]
        return holders

    def _replace(self, lease, reservation, allocated, lost, refused, now, all_of_them):
        span = dataclasses.replace(lease.interval, start=max(lease.start, now))
        kept = {given.resource_id for given in allocated} - lost.ids
        wishes, avoid = [], lost.ids | self._unusable(lost, refused)
        for need in self._core.registry.needs_of(reservation):
            copies = lost.counts[need.key]
            if copies:
                left = sum(given.copies for given in allocated
                           if given.need == need.key and given.resource_id in kept)
                # A resource that is still held becomes free later, so the reservation waits.
                fewest = copies if all_of_them or lost.held else max(
                    need.demand.at_least - left, 0)
                wishes.append(wish_lists.joining(
                    self._core, reservation,
                    wish_lists.replacement(reservation, need, (fewest, copies), kept)))

        def write(connection, chosen):
            if not ownership.refuse_overtaken(connection, lease):
                _refuse_other_span(connection, lease)
            # The end also checks whole resources that were released for remaining servers.
            allocations.cut(connection, [reservation.id], now, lost.whole_ids)
            allocations.delete(connection, [reservation.id], lost.ids)
            self._booking.replace(connection, chosen)
            whole = [given.resource_id for given in chosen if given.whole]
            if resources.hold(connection, whole, reservation.id):
                raise errors.LostRace()
            new = sorted({given.resource_id for given in chosen})
            reservations.change(connection, [reservation.id], now, resources_changed=True)
            journal.note(connection, lease.id, now, 'climate', 'substitute',
                         self._explained(lost.ids, new))
            return new
        new = self._booking.book_first(lease, wishes, span, now, write, avoid)
        LOG.warning('Lease %s, reservation %s: %s not available, replaced by resources %s',
                    lease.id, reservation.id, ', '.join(lost.held + lost.broken),
                    self._core.resource_names.of(new))

    def _explained(self, lost, new):
        """Return a text about the replaced resources `lost`; only operators read names."""
        named = self._core.resource_names.of
        if not new:
            why = 'left out, as there are no others'
            return texts.Text(f'resources {sorted(lost)} {why}', f'resources {named(lost)} {why}')
        return texts.Text(f'resources {sorted(lost)} replaced by {new}',
                          f'resources {named(lost)} replaced by {named(new)}')

    def _in_use(self, reservation, resource, whole):
        """Return True if servers of the reservation may be on a resource allocated to it."""
        plugin = self._core.registry.plugin(reservation.resource_type)
        if reservation.state != lifecycle.RESERVATION_ACTIVE and (
                not plugin.was_started(reservation) or reservation.leased_id is not None):
            # A target that is leased exists, shelved, long before it is unshelved on its resource.
            return False
        return resource.held_by == reservation.id if whole else True


def _lost(allocated, known, holders, broken):
    """Return the _Lost of a reservation.

    :param known: {resource id: Resource}.
    :param holders: {resource id: id of the reservation that still occupies it}.
    :param broken: {id: reason, or None} of the resources that are out of use, or failing.
    """
    lost = tuple(given for given in allocated
                 if given.resource_id in holders or given.resource_id in broken)
    counts = collections.Counter()
    for given in lost:
        counts[given.need] += given.copies
    return _Lost(
        allocations=lost, counts=counts,
        held=tuple(f'{known[key].name} by reservation {holder}'
                   for key, holder in sorted(holders.items())),
        broken=tuple(known[key].name + (f' ({broken[key]})' if broken[key] else '')
                     for key in sorted(broken)),
        failing=any(broken.values()))


def _still_held(lost):
    return texts.counted(len(lost.held), 'of its resources is still being released by others',
                         'of its resources are still being released by others')


def _refuse_other_span(connection, lease):
    """Refuse to book for a span that the owner has changed since the lease was read.

    :raises StillBusy: it was changed.
    """
    current = leases.get(connection, lease.id)
    if current.interval != lease.interval or due_events.deletion_ordered(current):
        raise errors.StillBusy.plain('Climate', 'the lease is being changed.')


def reread(connection, lease):
    """Return the lease with its reservations read again; its claim stays as it was.

    :raises StillBusy: its deletion was ordered after the claim, and took the allocations.
    """
    current = leases.get(connection, lease.id)
    if due_events.deletion_ordered(current):
        raise errors.StillBusy.plain('Climate', 'the lease is being deleted.')
    return dataclasses.replace(lease, reservations=current.reservations)
