# SPDX-License-Identifier: Apache-2.0
"""Change a lease in one transaction: either all changes of the request are made, or none."""
import collections
import contextlib
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import events
from climate.db import journal
from climate.db import later_asks
from climate.db import leases
from climate.db import reservations
from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import lease_times
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import request_sizes
from climate.domain import requirement
from climate.domain import short_notice
from climate.domain import status_words
from climate.domain import texts
from climate.domain import transitions
from climate.domain import unused_hours
from climate.manager import core
from climate.manager import preparations
from climate.manager import request_limit
from climate.manager import request_secrets
from climate.manager.billing import lease_prices
from climate.manager.booking import booking
from climate.manager.booking import criteria
from climate.manager.booking import joining
from climate.manager.booking import refused_demand
from climate.manager.booking import slots
from climate.manager.health import blocking
from climate.manager.leases import early
from climate.manager.leases import exemption
from climate.manager.leases import rests
from climate.manager.leases import target_waits
from climate.manager.leases import trusts
from climate.manager.notifications import outbox
from climate.manager.queue import wakeups
from climate.plugins import base

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class _Target:
    """The planned result of a change, worked out before the transaction.

    :ivar lease: the lease as it will be, with the new requests of its reservations.
    :ivar changed: the ids of the reservations whose request changes.
    """

    lease: records.Lease
    changed: frozenset


class Update:
    """The use case of PUT."""

    def __init__(self, parts):
        self._core = parts
        self._booking = booking.Booking(parts)
        self._prices = lease_prices.LeasePrices(parts)
        self._refused = refused_demand.RefusedDemand(parts)

    def update(self, context, lease_id, changes):
        """Apply LeaseChanges to a lease and return it; with `dry_run` only return the result.

        :raises LeaseNotFound: no lease has that id, or it was deleted.
        :raises StalePrecondition: the lease has changed since the caller read it.
        :raises LeaseEnded: the lease is past its end: only its name may change.
        :raises BadTransition: Climate is working on the lease, or its state forbids the change.
        :raises BadRequest: the request is wrong; the error names the field.
        :raises Forbidden: the owner's roles would carry it out, and the caller lacks them.
        :raises LimitReached: it was changed too often while it ran.
        :raises TooManyRequestBytes: the requests of the project would have too many bytes.
        :raises NotEnough: too few resources are free for the change; the lease stays as it is.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        if lease.deleted_at is not None:
            raise errors.LeaseNotFound(lease_id=lease_id)
        if changes.generation is not None and changes.generation != lease.generation:
            raise errors.StalePrecondition(lease_id=lease_id)
        if changes.only_renames:
            return self._rename(context, lease, changes, now)
        self._refuse_by_state(lease, changes, now)
        target = self._target(context, lease, changes, now)
        request_limit.refuse_more(self._core, lease.project_id,
                                  target.lease.request_bytes - lease.request_bytes, now)
        trusts.refuse_beyond(self._core, lease, target.lease.end)
        self._refuse_parts(lease, target)
        wishes, span = self._wishes(lease, target, changes, now)
        if changes.dry_run:
            with rests.explained(self._core, lease, target.lease):
                planned = self._booking.plan(wishes, span, now) if wishes else []
            return dataclasses.replace(
                _as_planned(target.lease, planned),
                price=self._prices.of_change(lease, target.lease, planned, now,
                                             by_owner=lease.is_of(context)))
        created = early.Change(self._core, lease, target.lease)
        try:
            target = dataclasses.replace(target, lease=created.create())
            with self._recorded(lease, wishes, span, changes, now):
                changed = self._apply(context, lease, target, wishes, span, changes, now)
        except errors.ClimateError:
            created.undo()
            raise
        created.finish()
        LOG.info('Lease %s: changed, now %s to %s', lease_id, changed.start.isoformat(),
                 changed.end.isoformat())
        self._core.notify()
        return changed

    def _refuse_parts(self, lease, target):
        """Refuse to cut a running lease into more parts than a bill can be made of.

        :raises LimitReached: it has as many as it may have; it can still end sooner.
        """
        most = self._core.conf.manager.max_parts
        more = target.changed or target.lease.end > lease.end
        # Each change makes another generation, so most leases need not be counted.
        if not (most and more) or lease.state == lifecycle.PENDING or (
                not target.changed and lease.generation < most):
            return
        with self._core.database.reader() as connection:
            parts = later_asks.parts_of(connection, lease.id)
        if parts >= most:
            raise errors.LimitReached(limit='manager.max_parts', reason=(
                f'The resources and the end of lease {lease.id} were changed so often that it has '
                f'{parts} parts, and it may have {most}: only its name and an earlier end are '
                'possible now. Make another lease for more.'))

    def _recorded(self, lease, wishes, span, changes, now):
        """Return the context in which a change that is refused is recorded as demand."""
        if not wishes:
            return contextlib.nullcontext()
        return self._refused.recorded(refused_demand.Asked(
            lease, tuple(wishes), span, ('update', lease.id, changes.reservations, changes.start,
                                         changes.end, changes.duration_seconds),
            had_span=lease.interval), now)

    @core.again_after_a_race
    def _rename(self, context, lease, changes, now):
        name = changes.name or lease.name
        if name == lease.name and not exemption.changed(lease, changes):
            return lease
        if changes.dry_run:
            return dataclasses.replace(lease, name=name, **exemption.changed(lease, changes))
        with self._core.database.writer() as connection:
            current = leases.lock(connection, lease.id)
            if changes.generation is not None and changes.generation != current.generation:
                raise errors.StalePrecondition(lease_id=lease.id)
            leases.change(connection, current, now, name=name,
                          **exemption.changed(current, changes))
            if name != lease.name:
                journal.note_limited(connection, lease.id, now, context.user_id or 'climate',
                                     'rename', texts.same(f'{lease.name} → {name}'))
            exemption.tell(connection, context, current, changes, now)
            return leases.get(connection, lease.id)

    def _refuse_by_state(self, lease, changes, now):
        if lease.state == lifecycle.ACQUIRING or due_events.given_up(lease):
            raise errors.BadTransition(
                f'Lease {lease.id} has not got its resources: only its name can be changed now, '
                'or delete it and ask again.', lease_id=lease.id)
        if lease.end <= now or lease.state in (lifecycle.TERMINATED, lifecycle.TIMEDOUT):
            raise errors.LeaseEnded(lease_id=lease.id)
        if lease.task is not None:
            raise self._busy(lease)
        if due_events.deletion_ordered(lease):
            raise errors.BadTransition(
                f'Lease {lease.id} was to be deleted, and that is not done yet: only its name can '
                'be changed, or delete it again.', lease_id=lease.id)
        transitions.begin(lease.id, lease.state, None, 'update')
        if lease.state == lifecycle.ERROR and not changes.only_ends:
            raise errors.BadTransition(f'Lease {lease.id} is in error: only its name and its end '
                                       'can be changed, or delete it.', lease_id=lease.id)

    def _busy(self, lease):
        """Return the BadTransition of a lease with a task; it names the target it waits for."""
        status = status_words.word_1_0(lease.state, lease.task)
        found = target_waits.waits(self._core.registry, lease)
        if not found:
            return errors.BadTransition(lease_id=lease.id, task='be changed', status=status)
        return errors.BadTransition(
            f'Lease {lease.id} is {status}: it cannot be changed now. '
            f'{texts.joined(*found).owner} Try again when it is there, or delete the lease.',
            lease_id=lease.id, status=status, task='be changed')

    def _target(self, context, lease, changes, now):
        span = lease_times.of_changes(changes, lease, now)
        before_end = lease_times.before_end_of_changes(changes, lease, span)
        lease_times.refuse_notices_outside(changes.notify_at, span, now)
        lease_events.notified(lease, changes.notify_at)
        known = self._known(lease) if changes.reservations else {}
        changed = {}
        for asked in changes.reservations:
            reservation = known.get(asked.id)
            if reservation is None:
                raise errors.BadField(field='reservations.id', reason=(
                    f'the lease has no reservation {asked.id}; it has {", ".join(known)}.'))
            if asked.id in changed:
                raise errors.BadField(field='reservations.id', reason=(
                    f'reservation {asked.id} is in the list twice: put its changes together.'))
            changed[asked.id] = self._changed(lease, reservation, asked)
        lease = dataclasses.replace(
            lease, name=changes.name or lease.name, start=span.start, end=span.end,
            before_end=before_end, **exemption.changed(lease, changes),
            request_bytes=lease.request_bytes + request_sizes.growth(
                [known[key] for key in changed], changed.values(), changes.notify_at),
            reservations=tuple(changed.get(each.id, each) for each in lease.reservations))
        really = {key for key, each in changed.items() if (each.request, each.secrets) != (
            known[key].request, known[key].secrets)}
        trusts.refuse_beyond_roles(self._core, context, lease, [changed[key] for key in really],
                                   known)
        if lease.trust_id is None:
            trusts.refuse_without_owner(self._core, [changed[key] for key in really],
                                        known)
        return _Target(lease, frozenset(really))

    def _known(self, lease):
        """Return {id: Reservation} of a lease, with their secrets."""
        secrets = request_secrets.read(self._core, lease.reservations)
        return {each.id: self._core.registry.secrets_apart(dataclasses.replace(
            each, request={**each.request, **secrets[each.id]})) if each.id in secrets else each
            for each in lease.reservations}

    def _changed(self, lease, reservation, asked):
        if asked.resource_type not in (None, reservation.resource_type):
            raise errors.BadField(field='reservations.resource_type', reason=(
                f'it stays {reservation.resource_type}; make another lease instead.'))
        _refuse_other_place(reservation, asked)
        registry = self._core.registry
        plugin = registry.plugin(reservation.resource_type)
        whole = dataclasses.replace(reservation, request={
            **reservation.request, **reservation.secrets})
        request = {**plugin.asked(whole.request), **asked.request}
        request = registry.checked(reservation.resource_type, request)
        request = plugin.resolve(
            self._core.cloud, request,
            base.Occasion(lease.project_id, lease.state != lifecycle.PENDING, whole))
        return registry.secrets_apart(dataclasses.replace(reservation, request=request))

    def _wishes(self, lease, target, changes, now):
        """Return (Wishes that must be booked again, their Interval).

        There are no Wishes if the lease only gets shorter; the Interval is None if it ends now.
        """
        if target.lease.end <= now:
            return [], None
        span = dataclasses.replace(target.lease.interval, start=max(target.lease.start, now))
        inside = target.lease.start >= lease.start and target.lease.end <= lease.end
        wishes = []
        for reservation in target.lease.reservations:
            if inside and reservation.id not in target.changed:
                continue
            running = lease.state != lifecycle.PENDING
            for wish in self._booking.wishes_of(reservation, must_keep=running):
                if running and wish.need.optional and not wish.keep:
                    # The reservation runs without this optional need, and its servers, which run
                    # elsewhere, would not move to new resources.
                    continue
                if reservation.id not in target.changed:
                    wish = _as_many_as_now(wish, running)
                elif running and wish.need.demand.at_most > len(wish.keep):
                    wish = joining.joining(self._core, reservation, wish)
                wishes.append(wish)
        if target.changed:
            slots.refuse_too_many(self._core.conf.manager.max_slots,
                                  self._all_wishes(target.lease), self._all_wishes(lease))
        criteria.check_wishes(self._core, wishes, changes.hidden_criteria,
                              had=self._all_wishes(lease))
        return wishes, span

    def _all_wishes(self, lease):
        return [wish for each in lease.reservations for wish in self._booking.wishes_of(each)]

    def _apply(self, context, lease, target, wishes, span, changes, now):
        def write(connection, chosen):
            current = leases.lock(connection, lease.id)
            if current.generation != lease.generation:
                raise errors.BadTransition(f'Lease {lease.id} was changed by another request at '
                                           'the same time: read it again.', lease_id=lease.id)
            if lease.state == lifecycle.PENDING:
                # A pending lease releases its resources here; a running one releases them by an
                # event, which wakes the queue.
                wakeups.wake(connection, now)
            self._write_allocations(connection, lease, target, wishes, chosen, now,
                                    by_owner=lease.is_of(context))
            self._write_events(connection, current, target, changes, now)
            wanted = target.lease
            again = {'asked_at': now} if lease_prices.asks_again(lease, wanted, chosen) else {}
            leases.change(connection, current, now, name=wanted.name, start=wanted.start,
                          end=wanted.end, before_end=wanted.before_end,
                          request_bytes=wanted.request_bytes, **again,
                          **exemption.changed(current, changes))
            later_asks.add(connection, lease.id,
                           short_notice.of_change(lease, wanted, chosen, now))
            exemption.tell(connection, context, current, changes, now)
            journal.note_limited(connection, lease.id, now, context.user_id or 'climate', 'update',
                                 texts.same(str(wanted.interval)))
            after = leases.get(connection, lease.id)
            outbox.publish(connection, after, now, 'update')
            return after
        if wishes:
            with rests.explained(self._core, lease, target.lease):
                return self._booking.book(wishes, span, now, write)
        return self._write_at_once(write)

    @core.again_after_a_race
    def _write_at_once(self, write):
        with self._core.database.writer() as connection:
            return write(connection, [])

    def _write_allocations(self, connection, lease, target, wishes, chosen, now, *, by_owner):
        end = target.lease.end
        bindings = {after.id: {'binding': dict(after.binding)} for after, before in zip(
            target.lease.reservations, lease.reservations, strict=True)
            if after.binding != before.binding}
        for reservation in target.lease.reservations:
            if reservation.id in target.changed:
                reservations.change(connection, [reservation.id], now,
                                    request=dict(reservation.request),
                                    secrets=reservation.secrets,
                                    **bindings.get(reservation.id, {}))
            mine = [given for given in chosen if given.reservation_id == reservation.id]
            if reservation.id not in {wish.reservation_id for wish in wishes}:
                self._shorten(connection, reservation, lease, target.lease, now, by_owner)
            elif lease.state == lifecycle.PENDING:
                self._booking.replace(connection, mine, [reservation.id])
            else:
                # What keeps others from a sick resource ends where the lease goes on.
                blocking.clear(connection, {given.resource_id for given in mine})
                for need in sorted({*reservation.allocated, *(given.need for given in mine)}):
                    self._rewrite(connection, reservation, need, [
                        given for given in mine if given.need == need], end, now, by_owner)

    def _rewrite(self, connection, reservation, need, chosen, end, now, by_owner):
        """Write the Allocations that a running reservation gets for one need.

        Allocations that it keeps only get the new end; those that were not chosen are cut.
        """
        had = collections.Counter(reservation.allocated.get(need, ()))
        kept = {given.resource_id for given in chosen if had[given.resource_id] == given.copies}
        lost = set(had) - kept
        promises = allocations.promises(connection, reservation.id, now, lost, need,
                                        by_owner=by_owner)
        allocations.cut(connection, [reservation.id], now, lost, need, by_owner)
        allocations.change(connection, [reservation.id], kept, need, by_owner, end=end)
        self._booking.replace(connection, unused_hours.keeping(promises, [
            given for given in chosen if given.resource_id not in kept]))

    @staticmethod
    def _shorten(connection, reservation, before, after, now, by_owner):
        if after.end <= now:
            allocations.cut(connection, [reservation.id], now, by_owner=by_owner)
            return
        values = {}
        if after.end != before.end:
            values['end'] = after.end
        if after.start != before.start:
            values['start'] = after.start
        if values:
            allocations.change(connection, [reservation.id], reservation.resource_ids,
                               by_owner=by_owner and before.state != lifecycle.PENDING, **values)

    def _write_events(self, connection, lease, target, changes, now):
        wanted = target.lease
        changed = lease_events.after_change(
            lease, wanted, changes.notify_at, bool(target.changed),
            preparations.of(self._core, wanted.open_reservations), now)
        events.change(connection, lease.id, changed, now)
        if changed.moves_again(event_kinds.BEFORE_END):
            outbox.publish(connection, wanted, now, 'event.before_end_lease.stop')


def _refuse_other_place(reservation, asked):
    """Refuse another label, or other dependencies, than the reservation has.

    :raises BadField: it names the field.
    """
    if asked.label is not None and asked.label != (reservation.label or ''):
        has = f'"{reservation.label}"' if reservation.label else 'none'
        raise errors.BadField(field='reservations.label', reason=(
            f'it cannot change, and stays {has}; leave it out, or make another lease instead.'))
    if asked.depends_on is not None and set(asked.depends_on) != set(reservation.depends_on):
        has = ', '.join(reservation.depends_on) or 'empty'
        raise errors.BadField(field='reservations.depends_on', reason=(
            f'it cannot change, and stays {has}; leave it out, or make another lease instead.'))


def _as_many_as_now(wish, running):
    """Return the Wish with the present number of copies, because only the dates change.

    What a running reservation uses it may keep, even if it does not meet the criteria any more.
    """
    have = len(wish.keep)
    demand = wish.need.demand
    stays = running and have > 0
    least = have if stays else demand.at_least
    return dataclasses.replace(wish, need=dataclasses.replace(
        wish.need, requirement=requirement.NOTHING if stays else wish.need.requirement,
        demand=dataclasses.replace(demand, at_least=least, at_most=max(have, least))))


def _as_planned(lease, planned):
    """Return the lease with the planned Allocations; other reservations keep what they have."""
    booked = {given.reservation_id for given in planned}
    return dataclasses.replace(lease, reservations=tuple(
        dataclasses.replace(each, allocated=records.by_need(planned, each.id))
        if each.id in booked else each for each in lease.reservations))
