# SPDX-License-Identifier: Apache-2.0
"""Occupy the resources of a reservation, and substitute unavailable ones.

A reservation occupies the resources that are allocated to it as a whole, such as leased hosts, from
its start until its servers are gone from the cloud (``Resource.held_by``).
"""
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
from climate.domain import records
from climate.domain import texts
from climate.manager import core as cores
from climate.manager import ownership
from climate.manager.booking import booking
from climate.manager.booking import booking_terms
from climate.manager.booking import verification
from climate.manager.booking import wish_lists
from climate.manager.health import failures
from climate.manager.sub_leases import division

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class _Unavailable:
    """The unavailable resources of a reservation, with their Allocations.

    :ivar allocations: the Allocations.
    :ivar held: "NAME by reservation ID" of the resources that another reservation still occupies.
    :ivar broken: "NAME" of the resources that are out of use, and "NAME (REASON)" of those that are
        failing.
    :ivar failing: True if a resource is failing; then other resources may be failing too.
    """

    allocations: tuple
    held: tuple[str, ...]
    broken: tuple[str, ...]
    failing: bool

    @property
    def ids(self):
        return {allocation.resource_id for allocation in self.allocations}


class Substitutes:
    """Provides a starting reservation with its allocated resources, or equivalent substitutes."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)

    def ensure(self, lease, reservation, now, patient=False, failing=None, refused=None,
               all_of_them=False):
        """Occupy the allocated resources of a reservation, and substitute unavailable ones.

        Whole resources are occupied from now on. A resource is unavailable if another reservation
        still occupies it, or if it is out of use. A substitute is free until the end of the lease.
        If there are too few substitutes, the reservation continues with fewer resources, but at
        least with the least number that it requested. A running reservation keeps resources that
        may have its servers, even if they are out of use. Replaced whole resources stay occupied
        until a start succeeds, because an earlier attempt may have prepared them.

        :param patient: wait for a resource that is still occupied instead of replacing it.
        :param failing: {resource id: the reason why no start on it can succeed now}; replace them.
        :param refused: {resource name: the reason why the cloud refuses it}; replace them even if
            the reservation runs, because it has no servers there.
        :param all_of_them: replace all unavailable resources, or none.
        :returns: True if the reservation has other resources than when the lease was read.
        :raises StillBusy: a resource is still occupied, and there is no substitute.
        :raises NotEnough: a resource is out of use, and there is no substitute; the error names it.
        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        allocated, lost = self._occupy(lease, reservation, failing or {}, refused or {}, now)
        if not lost.allocations:
            return reservation.allocated != records.by_need(allocated, reservation.id)
        if lost.held and patient:
            raise _still_busy(lost, '.')
        try:
            self._replace(lease, reservation, allocated, lost, refused or {}, now, all_of_them)
        except errors.NotEnough as error:
            if lost.held:
                raise _still_busy(lost, '; no other resource is free.') from error
            raise errors.NotEnough(
                f'Out of use: {", ".join(lost.broken)}; and there is no substitute. '
                f'{error.message}', **{**error.kwargs, 'owner_message': (
                    f'Out of use: {len(lost.broken)} of its resources; and there is no '
                    f'substitute. {error.owner_message}')}) from error
        return True

    def _failing(self, lost, refused):
        """Return the ids of the enrolled resources that fail, if a resource of `lost` does.

        :param refused: the names of the resources that the cloud has just refused.
        """
        if not lost.failing:
            return set()
        with self._core.database.reader() as connection:
            enrolled = [each for name in self._core.registry.pools
                        for each in resources.find(connection, name)]
        return {*failures.failing(self._core, enrolled),
                *(each.id for each in enrolled if each.name in refused)}

    @cores.again_after_a_race
    def _occupy(self, lease, reservation, failing, refused, now):
        """Occupy the whole resources of a reservation; return (its Allocations, _Unavailable)."""
        with self._core.database.writer() as connection:
            allocated = allocations.of_reservations(connection, [reservation.id])
            lost = self._hold(connection, reservation, allocated, failing, refused, now)
            ownership.refuse_overtaken(connection, lease)
        return allocated, lost

    def _hold(self, connection, reservation, allocated, failing, refused, now):
        by_id = {each.id: each for each in resources.with_ids(
            connection, {allocation.resource_id for allocation in allocated})}
        self._core.resource_names.learn(by_id.values())
        whole = [allocation.resource_id for allocation in allocated if allocation.whole]
        overdue = self._overdue(connection, reservation, allocated, by_id, now)
        free = [key for key in whole if key not in overdue]
        holders = resources.hold(connection, free, reservation.id) if free else {}
        holders |= {key: each.held_by for key, each in by_id.items()
                    if key not in whole and each.held_by not in (None, reservation.id)}
        holders |= overdue
        broken = {key for key, each in by_id.items()
                  if (not each.reservable or key in failing) and key not in holders
                  and not self._in_use(reservation, each, key in whole)}
        refusals = {key: refused[each.name] for key, each in by_id.items()
                    if each.name in refused and key not in holders}
        return _unavailable(allocated, by_id, holders,
                            {key: failing.get(key) for key in broken} | refusals)

    def _overdue(self, connection, reservation, allocated, by_id, now):
        """Return {resource id: the overdue reservation that still uses the needed capacity}."""
        overdue = allocations.overdue(connection, now, now + booking_terms.longest_pause(
            self._core.conf.manager), by_id)
        if not overdue:
            return {}
        moment = interval.Interval(now, now + interval.RESOLUTION)
        booked = allocations.bookings(connection, overdue, moment, ignoring=[reservation.id])
        holders = {}
        for allocation in allocated:
            resource = by_id[allocation.resource_id]
            if resource.id not in overdue or self._in_use(reservation, resource, allocation.whole):
                continue
            bookings = booked[resource.id] + [(moment, amount)
                                              for _, amount in overdue[resource.id]]
            if not verification.fits(resource, dataclasses.replace(
                    allocation, start=moment.start, end=moment.end), bookings):
                holders[resource.id] = overdue[resource.id][0][0]
        return holders

    def _replace(self, lease, reservation, allocated, lost, refused, now, all_of_them):
        span = dataclasses.replace(lease.interval, start=max(lease.start, now))
        kept = {allocation.resource_id for allocation in allocated} - lost.ids
        wishes = []
        for need in self._core.registry.needs_of(reservation):
            copies = sum(each.copies for each in lost.allocations if each.need == need.key)
            if copies:
                kept_copies = sum(allocation.copies for allocation in allocated
                                  if allocation.need == need.key and allocation.resource_id in kept)
                # An occupied resource becomes free later, so wait for it instead of going without.
                fewest = copies if all_of_them or lost.held else max(
                    need.demand.at_least - kept_copies, 0)
                wishes.append(wish_lists.joining(
                    self._core, reservation,
                    wish_lists.replacement(reservation, need, (fewest, copies), kept)))

        def write(connection, chosen):
            if not ownership.refuse_overtaken(connection, lease):
                _refuse_other_span(connection, lease)
            # Keep the allocations of whole resources as released ones, so that the end of the lease
            # also checks these resources for remaining servers.
            allocations.cut(connection, [reservation.id], now, {
                allocation.resource_id for allocation in lost.allocations if allocation.whole})
            allocations.delete(connection, [reservation.id], lost.ids)
            allocations.add(connection, chosen)
            division.follow(connection, lease, lost.ids, chosen, now)
            whole = [allocation.resource_id for allocation in chosen if allocation.whole]
            if resources.hold(connection, whole, reservation.id):
                raise errors.LostRace()
            new_ids = sorted({allocation.resource_id for allocation in chosen})
            reservations.change(connection, [reservation.id], now, resources_changed=True)
            journal.note(connection, lease.id, now, 'climate', 'substitute',
                         self._explained(lost.ids, new_ids))
            return new_ids
        new_ids = self._booking.book_before_queue(lease, wishes, span, now, write,
                                                  lost.ids | self._failing(lost, refused))
        LOG.warning('Lease %s, reservation %s: %s not available, replaced by resources %s',
                    lease.id, reservation.id, ', '.join(lost.held + lost.broken),
                    self._core.resource_names.of(new_ids))

    def _explained(self, lost_ids, new_ids):
        """Return a Text about replaced resources; only operators read their names."""
        named = self._core.resource_names.of
        result, operator_result = ((f'replaced by {new_ids}', f'replaced by {named(new_ids)}')
                                   if new_ids else ('left out, as there are no others',) * 2)
        return texts.Text(f'resources {sorted(lost_ids)} {result}',
                          f'resources {named(lost_ids)} {operator_result}')

    def _in_use(self, reservation, resource, whole):
        """Return True if servers of the reservation may be on a resource allocated to it."""
        plugin = self._core.registry.plugin(reservation.resource_type)
        if reservation.state != lifecycle.RESERVATION_ACTIVE and (
                not plugin.was_started(reservation) or reservation.leased_id is not None):
            # A leased target exists before the start, but is shelved and uses no resource.
            return False
        return resource.held_by == reservation.id if whole else True


def _unavailable(allocated, by_id, holders, broken):
    """Return the _Unavailable of a reservation.

    :param by_id: {resource id: Resource}.
    :param holders: {resource id: id of the reservation that still occupies it}.
    :param broken: {resource id: the reason of a failing resource; None: it is out of use}.
    """
    lost = tuple(allocation for allocation in allocated
                 if allocation.resource_id in holders or allocation.resource_id in broken)
    return _Unavailable(
        allocations=lost,
        held=tuple(f'{by_id[key].name} by reservation {holder}'
                   for key, holder in sorted(holders.items())),
        broken=tuple(by_id[key].name + (f' ({broken[key]})' if broken[key] else '')
                     for key in sorted(broken)),
        failing=any(broken.values()))


def _still_busy(lost, ending):
    """Return a StillBusy that names the occupied resources; `ending` ends its sentence."""
    for_owner = texts.counted(
        len(lost.held), 'of its resources is still being released by others',
        'of its resources are still being released by others')
    return errors.StillBusy(service='Climate', owner_reason=for_owner + ending,
                            reason=f'still held: {", ".join(lost.held)}{ending}')


def _refuse_other_span(connection, lease):
    """Refuse to book if the span of the lease has changed since it was read.

    :raises StillBusy: the span has changed, or the deletion of the lease was ordered.
    """
    current = leases.get(connection, lease.id)
    if current.interval != lease.interval or due_events.deletion_ordered(current):
        raise errors.StillBusy.plain('Climate', 'the lease is being changed.')
