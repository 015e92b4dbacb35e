# SPDX-License-Identifier: Apache-2.0
"""Make the lease of the receiver of a transfer: one transaction moves the resources to it.

The receiver always gets a new lease. So usage, statements and reports to the enforcement service
need no special case: the old project has and pays the resources until the acceptance, and the new
one from then on. Nothing private of the old owner is in the new lease.
"""
import dataclasses
import functools

from climate import errors
from climate.db import allocations
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.db import shares as stored_shares
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import requirement
from climate.domain import transfers
from climate.manager import core as cores
from climate.manager.booking import booking
from climate.manager.leases import lease_parts
from climate.manager.limits import checking
from climate.manager.limits import subjects
from climate.manager.notifications import outbox
from climate.manager.shares import withdrawals
from climate.manager.transfers import former_users
from climate.manager.transfers import handover
from climate.manager.transfers import offering
from climate.manager.transfers import reports


@dataclasses.dataclass(frozen=True)
class Part:
    """The hosts of a lease that its receiver gets, if it does not get all.

    :ivar given: the request for the receiver.
    :ivar stays: the request for the hosts that stay.
    """

    reservation: records.Reservation
    given: dict
    stays: dict
    resource_ids: tuple[int, ...]


class TransferTaking:
    """Makes a lease of a Transfer.

    It has the methods of ``first_attempt.FirstAttempt``, which books a lease without a transfer.

    :param lease: the offered Lease.
    """

    def __init__(self, core, context, transfer, lease, *, dry_run):
        self._core = core
        self._context = context
        self._transfer = transfer
        self._lease = lease
        self._dry_run = dry_run
        self._now = core.clock()
        self._booking = booking.Booking(core)
        self._runs = lease.state != lifecycle.PENDING
        self._part = None if transfer.hosts is None else _part(core, lease, transfer.hosts)

    @property
    def _given(self):
        """The Reservations of the offered lease, as the receiver gets them."""
        if self._part is None:
            return self._lease.open_reservations
        return (dataclasses.replace(self._part.reservation, request=self._part.given),)

    def request(self):
        """Return the LeaseRequest of the receiver."""
        lease, registry = self._lease, self._core.registry
        before_end = lease.before_end
        if before_end is not None and before_end <= max(self._now, lease.start):
            before_end = None
        return records.LeaseRequest(
            name=lease.name, start=None if self._runs else lease.start, end=lease.end,
            before_end=before_end, dry_run=self._dry_run,
            while_free_seconds=lease.while_free_seconds,
            reservations=tuple(records.ReservationRequest(
                each.resource_type,
                registry.plugin(each.resource_type).asked(dict(each.request)),
                label=each.label, depends_on=each.depends_on or None) for each in self._given))

    def adapted(self, draft):
        """Return the Draft of the receiver's lease, which keeps the resources of the offered one.

        :raises TransferRefused: the receiver would get other sizes, because a flavor has changed.
        """
        self._refuse_other_sizes(draft)
        old_ids = {new_id: old_id for old_id, new_id in self._new_ids(draft).items()}
        wishes = [self._keeping(wish, old_ids[wish.reservation_id]) for wish in draft.wishes]
        return dataclasses.replace(draft, wishes=wishes,
                                   lease=self._running(draft) if self._runs else draft.lease)

    def _keeping(self, wish, old_id):
        """Return a Wish that keeps the resources of a given reservation, whatever they are."""
        keep = tuple(key for each in self._allocated[old_id] if each.need == wish.need.key
                     for key in [each.resource_id] * each.copies)
        return dataclasses.replace(
            wish, reservation_id=old_id if self._runs else wish.reservation_id, keep=keep,
            must_keep=True,
            need=dataclasses.replace(wish.need, requirement=requirement.NOTHING))

    def _running(self, draft):
        """Return the Lease of a Draft as it runs on with the objects of the offered lease."""
        lease, now = draft.lease, draft.now
        by_position = zip(self._given, lease.reservations, strict=True)
        started = tuple(dataclasses.replace(
            new, id=old.id, state=old.state, started_at=now,
            missing_resources=old.missing_resources,
            binding=former_users.inherited_binding(self._lease, old)) for old, new in by_position)
        planned = tuple(
            dataclasses.replace(event, status=lifecycle.EVENT_DONE, begun_at=now)
            if event.kind == event_kinds.START else event for event in lease.events
            if event.kind not in (event_kinds.WAKE, event_kinds.STAGE, event_kinds.PREPARE))
        return dataclasses.replace(
            lease, state=lifecycle.ACTIVE, shared=True, degraded=self._lease.degraded,
            reservations=started,
            events=(*planned, *events.all_new(lease.id, [(event_kinds.UPDATE, now)], now)))

    def _refuse_other_sizes(self, draft):
        registry = self._core.registry
        for old, new in zip(self._given, draft.lease.reservations, strict=True):
            sizes = [[(need.key, need.pool, need.demand.amount)
                      for need in registry.needs_of(each)] for each in (old, new)]
            if sizes[0] != sizes[1]:
                raise errors.TransferRefused(lease_id=self._lease.id, reason=(
                    f'the sizes of its {old.resource_type} have changed since it was created'))

    def _new_ids(self, draft):
        """Return {id of a given reservation: id of the drafted one}."""
        return {old.id: new.id for old, new in zip(
            self._given, draft.lease.reservations, strict=True)}

    @functools.cached_property
    def _allocated(self):
        """{id of a given reservation: its Allocations that the receiver gets}."""
        with self._core.database.reader() as connection:
            stored = allocations.of_reservations(connection, [each.id for each in self._given])
        if self._part is not None:
            stored = [each for each in stored if each.resource_id in self._part.resource_ids]
        return {reservation.id: [each for each in stored if each.reservation_id == reservation.id
                                 and each.end > self._now] for reservation in self._given}

    def plan(self, draft):
        """Return (the Lease of a Draft, the Allocations that it gets)."""
        new_ids = self._new_ids(draft)
        return draft.lease, [
            dataclasses.replace(each, reservation_id=new_ids[old_id], start=draft.span.start,
                                end=draft.lease.end, promised_until=None, id=None)
            for old_id, held in self._allocated.items() for each in held]

    def preview(self, draft):
        """Return the result of `plan`; write nothing.

        :raises LimitExceeded: the lease would exceed a limit of its owner.
        """
        lease, planned = self.plan(draft)
        self._limits_of(lease).refuse_in_preview(self._subject(draft, planned))
        return lease, planned

    def _limits_of(self, lease):
        return checking.applying(self._core, lease.project_id, lease.user_id, self._now)

    def _subject(self, draft, chosen):
        # A user with a limit in all projects may transfer the lease between them.
        before = self._lease.id if self._part is None else None
        return subjects.of_new_lease(self._core, draft.lease, chosen, draft.roles, before)

    def book(self, draft, planned, write):
        """Move the resources and call ``write(connection, lease, chosen)``.

        :returns: the result of `write`.
        :raises TransferClosed: the offer was decided meanwhile, or has expired.
        :raises TransferRefused: the state of the lease forbids it, or its resources have changed.
        :raises LimitExceeded: the lease would exceed a limit of its owner.
        """
        try:
            return self._book(draft, planned, write)
        except errors.LostRace as error:
            # If another acceptance was faster, its error says so.
            offering.refuse_closed(self._core, self._transfer.id)
            raise errors.TransferRefused(lease_id=self._lease.id, reason=(
                'it was changed by another request at the same time, or its resources are not '
                'available any more: show the offer again')) from error

    @cores.again_after_a_race
    def _book(self, draft, planned, write):
        limits = self._limits_of(draft.lease)

        def take(connection, chosen):
            limits.refuse_excess(connection, self._subject(draft, chosen))
            return self._move(connection, draft, chosen, write)
        # The terms of the offered lease apply: they decided whether its resources had to be free.
        return self._booking.book_exactly(
            draft.wishes, draft.span, self._lease.created_at, planned, take,
            replacing=[each.id for each in self._given])

    def _move(self, connection, draft, chosen, write):
        """Write the end or the change of the offered lease, and the lease of the receiver."""
        now, who = draft.now, self._context.user_id or 'climate'
        old = leases.lock(connection, self._lease.id)
        if old.generation != self._lease.generation:
            raise errors.LostRace()
        transfers.refuse_untransferable(old, self._transfer.hosts, now)
        decided = {'project_id': draft.lease.project_id,
                   'receiver_name': self._transfer.receiver_name or self._context.project_name,
                   'new_lease_id': draft.lease.id}
        offering.close(connection, self._transfer, transfers.ACCEPTED, now, who, **decided)
        transfer = dataclasses.replace(self._transfer, **decided)
        reports.write(connection, old, transfer, now, transfers.TRANSFER, who)
        if self._part is not None:
            handover.shrink(self._core, connection, old, self._part, now)
        elif self._runs:
            handover.end_running(connection, old, now)
        else:
            handover.end_future(connection, old, now)
        lease = write(connection, draft.lease, chosen)
        reports.note_origin(connection, lease, transfer, now, who)
        if self._runs:
            # Usage counts from this entry on.
            journal.note(connection, lease.id, now, 'climate', event_kinds.START)
            outbox.publish(connection, lease, now, f'event.{event_kinds.START}')
            for share in former_users.shares_of(old, transfer, lease, now):
                stored_shares.add(connection, share)
                withdrawals.order_events(connection, lease, share, now)
        return lease


def _part(core, lease, hosts):
    reservation, given, stays = lease_parts.split(core, lease, hosts)
    return Part(reservation, given, stays, reservation.resource_ids[-hosts:])
