# SPDX-License-Identifier: Apache-2.0
"""Change a lease: all of what was asked in one transaction, or nothing of it."""
import collections
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.domain import agenda
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import booking
from climate.manager import core
from climate.manager import criteria
from climate.manager import leases as use_cases
from climate.manager import moments
from climate.manager import notify
from climate.manager.acquire import line
from climate.plugins import base

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class _Target:
    """What a lease is to become, worked out before the transaction.

    :ivar lease: the lease as it will be, with the new requests of its reservations.
    :ivar changed: the ids of the reservations whose request changes.
    """

    lease: records.Lease
    changed: frozenset


class Changes:
    """The use case of PUT."""

    def __init__(self, parts, lease_use_cases):
        self._core = parts
        self._leases = lease_use_cases
        self._booking = booking.Booking(parts)

    def update(self, context, lease_id, changes):
        """The lease after LeaseChanges; with `dry_run` as it would be.

        :raises StalePrecondition: it is not the version that the caller has seen.
        :raises LeaseEnded: it is past its end: only its name may change.
        :raises BadTransition: Climate is doing something to it, or its state does not allow it.
        :raises BadRequest: the error names the field.
        :raises NotEnough: there is no room for the change; the lease stays as it is.
        """
        now = self._core.clock()
        lease = self._leases.get(lease_id)
        if lease.deleted_at is not None:
            raise errors.LeaseNotFound(lease_id=lease_id)
        if changes.generation is not None and changes.generation != lease.generation:
            raise errors.StalePrecondition(lease_id=lease_id)
        if changes.only_renames:
            return self._rename(context, lease, changes, now)
        self._refuse_by_state(lease, changes, now)
        target = self._target(lease, changes, now)
        wishes, span = self._wishes(lease, target, now)
        if changes.dry_run:
            planned = self._booking.plan(wishes, span, now) if wishes else []
            return _as_planned(target.lease, planned)
        changed = self._apply(context, lease, target, wishes, span, changes, now)
        LOG.info('Lease %s: changed, now %s to %s', lease_id, changed.start.isoformat(),
                 changed.end.isoformat())
        self._core.wake()
        return changed

    @core.again_after_a_race
    def _rename(self, context, lease, changes, now):
        if changes.name is None or changes.name == lease.name:
            return lease
        if changes.dry_run:
            return dataclasses.replace(lease, name=changes.name)
        with self._core.database.writer() as connection:
            current = leases.lock(connection, lease.id)
            if changes.generation is not None and changes.generation != current.generation:
                raise errors.StalePrecondition(lease_id=lease.id)
            leases.change(connection, current, now, name=changes.name)
            journal.note(connection, lease.id, now, context.user_id or 'climate', 'rename',
                         f'{lease.name} → {changes.name}')
            return leases.get(connection, lease.id)

    @staticmethod
    def _refuse_by_state(lease, changes, now):
        if lease.state == lifecycle.ACQUIRING or agenda.given_up(lease):
            raise errors.BadTransition(
                f'Lease {lease.id} has not got its resources: only its name can be changed now, '
                'or delete it and ask anew.', lease_id=lease.id)
        if lease.end <= now or lease.state in (lifecycle.TERMINATED, lifecycle.TIMEDOUT):
            raise errors.LeaseEnded(lease_id=lease.id)
        if lease.task is not None:
            raise errors.BadTransition(lease_id=lease.id, task='be changed',
                                       status=lifecycle.TASKS[lease.task].shown)
        lifecycle.begin(lease.id, lease.state, None, 'update')
        if lease.state == lifecycle.ERROR and not changes.only_ends:
            raise errors.BadTransition(f'Lease {lease.id} is in error: only its name and its end '
                                       'can be changed, or delete it.', lease_id=lease.id)

    def _target(self, lease, changes, now):
        span = moments.of_changes(changes, lease, now)
        before_end = moments.before_end_of_changes(changes, lease, span)
        moments.refuse_notices_outside(changes.notify_at, span, now)
        known = {each.id: each for each in lease.reservations}
        changed = {}
        for asked in changes.reservations:
            reservation = known.get(asked.id)
            if reservation is None:
                raise errors.BadField(field='reservations.id', reason=(
                    f'the lease has no reservation {asked.id}; it has {", ".join(known)}.'))
            changed[asked.id] = self._changed(lease, reservation, asked, changes.lenient)
        lease = dataclasses.replace(
            lease, name=changes.name or lease.name, start=span.start, end=span.end,
            before_end=before_end, reservations=tuple(
                changed.get(each.id, each) for each in lease.reservations))
        really = {each.id for each in changed.values() if each.request != known[each.id].request}
        return _Target(lease, frozenset(really))

    def _changed(self, lease, reservation, asked, lenient):
        if asked.resource_type not in (None, reservation.resource_type):
            raise errors.BadField(field='reservations.resource_type', reason=(
                f'it stays {reservation.resource_type}; make another lease instead.'))
        registry = self._core.registry
        plugin = registry.plugin(reservation.resource_type)
        request = {**plugin.asked(reservation.request), **asked.request}
        if lenient:
            # Clients of REST 1.0 send back all that they were shown, some of it empty.
            request |= {key: reservation.request[key] for key, value in asked.request.items()
                        if value is None and key in reservation.request}
        request = registry.checked(reservation.resource_type, request, lenient)
        request = plugin.resolve(
            self._core.cloud, request,
            base.Occasion(lease.project_id, lease.state != lifecycle.PENDING, reservation))
        return dataclasses.replace(reservation, request=request)

    def _wishes(self, lease, target, now):
        """What must be booked anew, and for which span; nothing where a lease only shrinks."""
        if target.lease.end <= now:
            return [], None
        span = dataclasses.replace(target.lease.interval, start=max(target.lease.start, now))
        inside = target.lease.start >= lease.start and target.lease.end <= lease.end
        wishes = []
        for reservation in target.lease.reservations:
            if inside and reservation.id not in target.changed:
                continue
            running = lease.state != lifecycle.PENDING
            for wish in self._booking.wishes_of(reservation, keep=reservation.resource_ids,
                                                must_keep=running):
                if running and wish.need.optional and not wish.keep:
                    # It does without, and what runs elsewhere does not come to new room.
                    continue
                if reservation.id not in target.changed:
                    wish = _as_many_as_now(wish, running)
                wishes.append(wish)
        criteria.check_wishes(self._core, wishes)
        return wishes, span

    def _apply(self, context, lease, target, wishes, span, changes, now):
        def write(connection, chosen):
            current = leases.lock(connection, lease.id)
            if current.generation != lease.generation:
                raise errors.BadTransition(f'Lease {lease.id} was changed by another request at '
                                           'the same time: read it again.', lease_id=lease.id)
            if lease.state == lifecycle.PENDING:
                # What others have in use yet is given back by an event, which wakes them.
                line.wake(connection, now)
            self._write_promises(connection, lease, target, wishes, chosen, now)
            self._write_events(connection, current, target, changes, now)
            wanted = target.lease
            leases.change(connection, current, now, name=wanted.name, start=wanted.start,
                          end=wanted.end, before_end=wanted.before_end)
            journal.note(connection, lease.id, now, context.user_id or 'climate', 'update',
                         str(wanted.interval))
            after = leases.get(connection, lease.id)
            notify.publish(connection, after, now, 'update')
            return after
        if wishes:
            return self._booking.book(wishes, span, now, write)
        return self._write_at_once(write)

    @core.again_after_a_race
    def _write_at_once(self, write):
        with self._core.database.writer() as connection:
            return write(connection, [])

    def _write_promises(self, connection, lease, target, wishes, chosen, now):
        end = target.lease.end
        for reservation in target.lease.reservations:
            if reservation.id in target.changed:
                reservations.change(connection, [reservation.id], now,
                                    request=dict(reservation.request))
            mine = [given for given in chosen if given.reservation_id == reservation.id]
            if reservation.id not in {wish.reservation_id for wish in wishes}:
                self._shorten(connection, reservation, lease, target.lease, now)
            elif lease.state == lifecycle.PENDING:
                self._booking.replace(connection, mine, now, [reservation.id])
            else:
                had = collections.Counter(reservation.resource_ids)
                kept = {given.resource_id for given in mine
                        if had[given.resource_id] == given.copies}
                allocations.cut(connection, [reservation.id], now, set(had) - kept)
                allocations.change(connection, [reservation.id], kept, end=end)
                self._booking.replace(connection, [given for given in mine
                                                   if given.resource_id not in kept], now)

    @staticmethod
    def _shorten(connection, reservation, before, after, now):
        if after.end <= now:
            allocations.cut(connection, [reservation.id], now)
            return
        values = {}
        if after.end != before.end:
            values['end'] = after.end
        if after.start != before.start:
            values['start'] = after.start
        if values:
            allocations.change(connection, [reservation.id], reservation.resource_ids, **values)

    @staticmethod
    def _write_events(connection, lease, target, changes, now):
        wanted = target.lease
        moves = [(agenda.START, lease.start, wanted.start), (agenda.END, lease.end, wanted.end)]
        for kind, before, after in moves:
            if before != after:
                events.move(connection, lease.event(kind), now, after)
        near = lease.event(agenda.BEFORE_END)
        if wanted.end <= now:
            events.close(connection, lease.id, now, (agenda.BEFORE_END, agenda.NOTIFY))
        elif wanted.before_end is not None and wanted.before_end != lease.before_end:
            if near is None:
                events.add(connection, [events.new(
                    lease.id, agenda.BEFORE_END, wanted.before_end, now)])
            else:
                events.move(connection, near, now, wanted.before_end)
                if near.status == lifecycle.EVENT_DONE:
                    notify.publish(connection, wanted, now, 'event.before_end_lease.stop')
        events.add(connection, [events.new(lease.id, agenda.NOTIFY, at, now)
                                for at in changes.notify_at])
        if target.changed and lease.state == lifecycle.ACTIVE:
            events.add(connection, [events.new(lease.id, agenda.UPDATE, now, now)])


def _as_many_as_now(wish, running):
    """The Wish of a reservation whose request stays: its dates change, its number does not."""
    have = len(wish.keep)
    demand = wish.need.demand
    least = have if running and have else demand.at_least
    return dataclasses.replace(wish, need=dataclasses.replace(
        wish.need, demand=dataclasses.replace(
            demand, at_least=least, at_most=max(have, least))))


def _as_planned(lease, planned):
    """The lease as it would be; reservations that nothing is booked for keep what they have."""
    booked = {given.reservation_id for given in planned}
    return dataclasses.replace(lease, reservations=tuple(
        dataclasses.replace(each, resource_ids=use_cases.resource_ids(planned, each.id))
        if each.id in booked else each for each in lease.reservations))
