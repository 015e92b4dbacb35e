# SPDX-License-Identifier: Apache-2.0
"""Plan a change of a lease before its transaction: the changed lease and the Wishes to book."""
import dataclasses
import datetime

from climate import errors
from climate.db import later_asks
from climate.domain import interval
from climate.domain import lease_actions
from climate.domain import lease_events
from climate.domain import lease_times
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import request_sizes
from climate.domain import status_words
from climate.domain import sub_leases
from climate.domain import texts
from climate.domain.limits import extensions
from climate.manager import request_limit
from climate.manager import request_secrets
from climate.manager.booking import criteria
from climate.manager.booking import wish_lists
from climate.manager.leases import targets
from climate.manager.leases import trusts
from climate.manager.limits import extension_bounds
from climate.manager.sub_leases import division
from climate.plugins import base


@dataclasses.dataclass(frozen=True)
class LeaseChange:
    """A planned change of a lease.

    :ivar context: the RequestContext of the caller.
    :ivar lease: the Lease before the change.
    :ivar target: the Lease after the change, with the new requests of its reservations.
    :ivar changed: the ids of the reservations whose requests change.
    :ivar changes: the LeaseChanges of the caller.
    :ivar wishes: the Wishes that must be booked again; none if the lease only gets shorter.
    :ivar span: the Interval of the wishes; None if the lease ends now.
    :ivar in_steps: Climate extends the lease by a step that its owner chose before.
    """

    context: object
    lease: records.Lease
    target: records.Lease
    changed: frozenset
    changes: records.LeaseChanges
    now: datetime.datetime
    wishes: tuple = ()
    span: interval.Interval | None = None
    in_steps: bool = False

    @property
    def by_owner(self):
        return self.lease.is_of(self.context)

    @property
    def running(self):
        return self.lease.state != lifecycle.PENDING


def exemption(lease, changes):
    """Return {column: new value} if LeaseChanges start or stop to exempt a lease from idle checks.

    An exempt lease is no longer marked as idle.
    """
    if changes.idle_exempt in (None, lease.idle_exempt):
        return {}
    not_idle = {'idle_since': None, 'reclaim_at': None} if changes.idle_exempt else {}
    return {'idle_exempt': changes.idle_exempt, **not_idle}


class ChangePlanner:
    """Plans changes of leases, and refuses invalid ones."""

    def __init__(self, core):
        self._core = core

    def plan(self, context, lease, changes, now, in_steps=False):
        """Return the LeaseChange of a request; write nothing.

        :param in_steps: Climate extends the lease by a step that its owner chose before.
        :raises ClimateError: as ``update.Update.update``.
        """
        self._refuse_by_state(lease, changes, now)
        _refuse_other_hosts(lease, changes)
        change = self._counted(dataclasses.replace(
            self._change(context, lease, changes, now), in_steps=in_steps))
        request_limit.refuse_more(self._core, lease.project_id,
                                  change.target.request_bytes - lease.request_bytes, now)
        trusts.refuse_beyond(self._core, lease, change.target.end)
        self._refuse_parts(change)
        if change.target.end <= now:
            return change
        sub_leases.refuse_open(lease, 'end then', after=change.target.end)
        self._refuse_beyond_parent(change)
        return dataclasses.replace(
            change, wishes=tuple(self._wishes(change)),
            span=dataclasses.replace(change.target.interval, start=max(change.target.start, now)))

    def _refuse_beyond_parent(self, change):
        """Refuse an end of a sub-lease at which its hosts do not belong to its parent.

        :raises SubLeaseRefused: the error says until when the sub-lease can last.
        """
        lease = change.lease
        if lease.parent_id is None or change.target.end <= lease.end:
            return
        with self._core.database.reader() as connection:
            limit = division.latest_end(connection, lease)
        if change.target.end > limit:
            raise division.refusal(lease, limit)

    def _counted(self, change):
        """Refuse an extension that the rules forbid; return the LeaseChange that counts it.

        Administrators who change a lease of another project are not bound by the rules.

        :raises ExtensionRefused: a rule does not allow the new end.
        """
        lease, target, now = change.lease, change.target, change.now
        if not (change.by_owner and extensions.is_extension(lease, target.end, now)):
            return change
        extensions.refuse(extension_bounds.of_lease(self._core, lease, now, change.in_steps),
                          lease, target.end)
        return dataclasses.replace(change, target=dataclasses.replace(
            target, extended_count=lease.extended_count + (not change.in_steps)))

    def _refuse_by_state(self, lease, changes, now):
        action = lease_actions.CHANGE_END if changes.only_ends else lease_actions.RESIZE
        error = lease_actions.refusal(lease, action, now)
        if error is None:
            return
        sentences = targets.waits(self._core.registry, lease)
        if not sentences:
            raise error
        status = status_words.word_1_0(lease.state, lease.task)
        raise errors.BadTransition(
            f'Lease {lease.id} is {status}: it cannot be changed now. '
            f'{texts.joined(*sentences).owner} Try again when it is there, or delete the lease.',
            lease_id=lease.id, status=status, task='be changed') from error

    def _change(self, context, lease, changes, now):
        """Return the LeaseChange without Wishes."""
        span = lease_times.of_changes(changes, lease, now)
        before_end = lease_times.before_end_of_changes(changes, lease, span)
        lease_times.refuse_notices_outside(changes.notify_at, span, now)
        step = lease_times.step_of_changes(changes, lease, span.end)
        lease_times.refuse_bad_step(step)
        before_end = lease_times.before_end_within_step(
            changes.before_end, before_end, span.end, step)
        lease_events.notified(lease, changes.notify_at)
        before = self._with_secrets(lease) if changes.reservations else {}
        after = self._reservations_after(lease, changes, before)
        target = dataclasses.replace(
            lease, name=changes.name or lease.name, start=span.start, end=span.end,
            before_end=before_end, while_free_seconds=step, **exemption(lease, changes),
            request_bytes=lease.request_bytes + request_sizes.growth(
                [before[key] for key in after], after.values(), changes.notify_at),
            reservations=tuple(after.get(each.id, each) for each in lease.reservations))
        changed = {key: each for key, each in after.items() if (each.request, each.secrets) != (
            before[key].request, before[key].secrets)}
        trusts.refuse_beyond_roles(self._core, context, lease, changed.values(), before)
        return LeaseChange(context, lease, target, frozenset(changed), changes, now)

    def _reservations_after(self, lease, changes, before):
        """Return {id: changed Reservation} of the reservations that the LeaseChanges name.

        :param before: {id: Reservation} of the lease, with secrets.
        """
        after = {}
        for request in changes.reservations:
            reservation = before.get(request.id)
            if reservation is None:
                raise errors.BadField(field='reservations.id', reason=(
                    f'the lease has no reservation {request.id}; it has {", ".join(before)}.'))
            if request.id in after:
                raise errors.BadField(field='reservations.id', reason=(
                    f'reservation {request.id} is in the list twice: combine its changes.'))
            after[request.id] = self._reservation_after(lease, reservation, request)
        return after

    def _with_secrets(self, lease):
        """Return {id: Reservation with its secrets} of a lease."""
        secrets = request_secrets.read(self._core, lease.reservations)
        return {each.id: self._core.registry.secrets_apart(dataclasses.replace(
            each, request={**each.request, **secrets[each.id]})) if each.id in secrets else each
            for each in lease.reservations}

    def _reservation_after(self, lease, reservation, request):
        if request.resource_type not in (None, reservation.resource_type):
            raise errors.BadField(field='reservations.resource_type', reason=(
                f'it stays {reservation.resource_type}; make another lease instead.'))
        _refuse_other_order(reservation, request)
        registry = self._core.registry
        plugin = registry.plugin(reservation.resource_type)
        whole = dataclasses.replace(reservation, request={
            **reservation.request, **reservation.secrets})
        checked = registry.checked(reservation.resource_type,
                                   {**plugin.asked(whole.request), **request.request})
        resolved = plugin.resolve(
            self._core.cloud, checked,
            base.Occasion(lease.project_id, lease.state != lifecycle.PENDING, whole))
        return registry.secrets_apart(dataclasses.replace(reservation, request=resolved))

    def _refuse_parts(self, change):
        """Refuse a change that adds parts to a running lease with the greatest number of parts.

        A part is an allocation or a later request, as ``later_asks.parts_of`` counts them.

        :raises LimitReached: the lease has [manager] max_parts; it can still end sooner.
        """
        most, lease = self._core.conf.manager.max_parts, change.lease
        adds_part = change.changed or change.target.end > lease.end
        # Each change adds a generation, so the parts of most leases need not be counted.
        if not (most and adds_part and change.running) or (
                not change.changed and lease.generation < most):
            return
        with self._core.database.reader() as connection:
            parts = later_asks.parts_of(connection, lease.id)
        if parts >= most:
            raise errors.LimitReached(limit='manager.max_parts', reason=(
                f'Lease {lease.id} was changed too often: it has {parts} parts with other '
                f'resources or another end, and may have {most}. Change only its name, or choose '
                'an earlier end. For more, create another lease.'))

    def _wishes(self, change):
        """Return the Wishes that must be booked again."""
        lease, target, registry = change.lease, change.target, self._core.registry
        if lease.parent_id is not None:
            # A sub-lease gets its time from its parent, not from the pool.
            return []
        lent = frozenset(each.reservation_id for each in lease.sub_leases)
        only_shorter = target.start >= lease.start and target.end <= lease.end
        wishes = []
        for reservation in target.reservations:
            if only_shorter and reservation.id not in change.changed:
                continue
            for wish in wish_lists.of(registry, [reservation],
                                      must_keep=change.running or bool(lent)):
                wish = dataclasses.replace(wish, ignoring=lent)
                if change.running and wish.need.optional and not wish.keep:
                    # The reservation runs without this optional need, and its servers would not
                    # move to new resources.
                    continue
                if reservation.id not in change.changed:
                    wish = wish.for_other_dates()
                elif change.running and wish.need.demand.at_most > len(wish.keep):
                    wish = wish_lists.joining(self._core, reservation, wish)
                wishes.append(wish)
        before = wish_lists.of(registry, lease.reservations)
        if change.changed:
            wish_lists.refuse_too_many(self._core.conf.manager.max_slots,
                                       wish_lists.of(registry, target.reservations), before)
        criteria.check_wishes(self._core, wishes, change.changes.hidden_criteria, had=before)
        return wishes


def _refuse_other_hosts(lease, changes):
    """Refuse to change the start or the reservations of a sub-lease, or of a lease that has some.

    :raises SubLeaseRefused: the lease is a sub-lease.
    :raises SubLeasesOpen: it has sub-leases; the error names them.
    """
    if changes.start or changes.start_now or changes.reservations:
        if lease.parent_id is not None:
            raise errors.SubLeaseRefused(reason=(
                f'Lease {lease.id} is a sub-lease: its start and its hosts stay as they are. You '
                'can change its name and its end. For other hosts, ask the project that gave them '
                'to you.'))
        sub_leases.refuse_open(lease, 'get another start or other resources')
    if changes.while_free_seconds and lease.parent_id is not None:
        raise errors.BadField(field='while_free', reason=(
            'a sub-lease cannot be extended in steps: extend it by another end.'))


def _refuse_other_order(reservation, request):
    """Refuse to change the label or the dependencies of a reservation.

    :raises BadField: the error names the field.
    """
    if request.label is not None and request.label != (reservation.label or ''):
        current = f'"{reservation.label}"' if reservation.label else 'none'
        raise errors.BadField(field='reservations.label', reason=(
            f'it cannot change, and stays {current}; leave it out, or make another lease '
            'instead.'))
    if request.depends_on is not None and set(request.depends_on) != set(reservation.depends_on):
        current = ', '.join(reservation.depends_on) or 'empty'
        raise errors.BadField(field='reservations.depends_on', reason=(
            f'it cannot change, and stays {current}; leave it out, or make another lease '
            'instead.'))
