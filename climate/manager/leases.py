# SPDX-License-Identifier: Apache-2.0
"""Create, read and delete a lease: each is one transaction, and nothing is done in the cloud.

Whatever the cloud must do is an event with a time, also when that time is now. The one exception
is the trust of a new lease: it needs the token that came with the request.
"""
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import acquisitions
from climate.db import allocations
from climate.db import engine
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.domain import agenda
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import binding
from climate.manager import booking
from climate.manager import core
from climate.manager import drafts
from climate.manager import endings
from climate.manager import notify
from climate.manager import trusts
from climate.manager.acquire import first
from climate.manager.acquire import line

LOG = log.getLogger(__name__)

_ERRANDS = (agenda.ACQUIRE, agenda.PREPARE, agenda.START, agenda.HEAL, agenda.BEFORE_END,
            agenda.END, agenda.UPDATE, agenda.CHECK, agenda.NOTIFY)


class Leases:
    """The use cases of leases that need no work in the cloud."""

    def __init__(self, parts):
        self._core = parts
        self._booking = booking.Booking(parts)
        self._trusts = trusts.Trusts(parts)
        self._drafts = drafts.Drafts(parts)
        self._first = first.FirstTry(parts)

    def get(self, lease_id):
        """The lease, a deleted one too.

        :raises LeaseNotFound: no lease has that id.
        """
        with self._core.database.reader() as connection:
            return leases.get(connection, lease_id)

    def history(self, lease_id, marker, limit):
        """What happened to a lease after the line `marker`: `limit` HistoryLines in order."""
        with self._core.database.reader() as connection:
            return [records.HistoryLine(**row._mapping)
                    for row in journal.history(connection, lease_id, marker, limit)]

    def find(self, query):
        """The leases that a LeaseQuery asks for."""
        now = self._core.clock()
        with self._core.database.reader() as connection:
            return leases.find(connection, query, now)

    def create(self, context, lease_id, request):
        """The lease of a LeaseRequest; with `dry_run` the one that it would be.

        Repeatable: the same id, or the same Idempotency-Key, gives the lease that was made.

        :raises BadRequest: the request is wrong; the error names the field.
        :raises NotEnough: there is no room, with the reasons.
        :raises ServerLeased: another reservation leases that server.
        :raises TrustRefused: Climate could not act for this caller later.
        :raises KeyReused: the key came with another request before.
        """
        now = self._core.clock()
        made = self._made_before(context, lease_id, request, now)
        if made is not None:
            return made
        lease, wishes = self._drafts.draft(context, lease_id, request, now)
        span = dataclasses.replace(lease.interval, start=max(lease.start, now))
        lease, planned = self._first.plan(lease, wishes, span, now)
        if request.dry_run:
            return _with_resources(lease, planned or ())
        lease, trust_id = self._trusts.entrust(context, lease)
        try:
            made = self._first.book(
                lease, wishes, span, now, planned,
                lambda connection, drawn, chosen: self._write(connection, drawn, chosen, request,
                                                              now))
        except engine.Duplicate:
            self._trusts.drop(trust_id)
            return self._made_meanwhile(context, lease, request, now)
        except errors.ClimateError:
            self._trusts.drop(trust_id)
            raise
        LOG.info('Lease %s of project %s: created, %s, %s to %s, resources %s', made.id,
                 made.project_id, made.state, made.start.isoformat(), made.end.isoformat(),
                 [reservation.resource_ids for reservation in made.reservations])
        self._core.wake()
        return made

    @core.again_after_a_race
    def delete(self, context, lease_id):
        """Delete a lease: True when it is gone, False while the cloud gives back what it has.

        :raises LeaseNotFound: no lease has that id, or it was deleted before.
        """
        now = self._core.clock()
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, lease_id)
            if lease.deleted_at is not None:
                raise errors.LeaseNotFound(lease_id=lease_id)
            ids = [reservation.id for reservation in lease.reservations]
            at_once = _holds_nothing(lease)
            line.lock(connection, lease)
            if at_once:
                line.wake(connection, now, leaving=lease_id)
            if at_once or lease.event(agenda.DELETE) is None:
                events.close(connection, lease_id, now, _ERRANDS)
                if lease.acquisition is not None or lease.event(agenda.HEAL) is not None:
                    acquisitions.leave(connection, lease_id, now)
                allocations.cut(connection, ids, now)
                journal.note(connection, lease_id, now, context.user_id or 'climate', 'delete')
            if at_once:
                endings.bury(connection, lease, now)
            else:
                self._order_teardown(connection, lease, now)
        self._core.wake()
        LOG.info('Lease %s: %s', lease_id, 'deleted' if at_once else 'being deleted')
        return at_once

    @staticmethod
    def _order_teardown(connection, lease, now):
        ordered = lease.event(agenda.DELETE)
        if ordered is None:
            events.add(connection, [events.new(lease.id, agenda.DELETE, now, now)])
        elif ordered.status == lifecycle.EVENT_ERROR:
            events.move(connection, ordered, now, now)
        # Shown as being deleted from now on; it does not lock, the event does.
        shown = {'task': 'delete', 'task_until': now} if lease.task_at(now) is None else {}
        leases.change(connection, lease, now, **shown)

    def _made_before(self, context, lease_id, request, now):
        """The lease that an earlier copy of this request made, or None."""
        with self._core.database.reader() as connection:
            if request.idempotency_key is not None and not request.dry_run:
                known = leases.of_key(connection, context.project_id, request.idempotency_key,
                                      now)
                if known is not None and known[0] != request.request_hash:
                    raise errors.KeyReused(key=request.idempotency_key)
                lease_id = known[1] if known is not None else lease_id
            try:
                lease = leases.get(connection, lease_id)
            except errors.LeaseNotFound:
                return None
        if lease.project_id != context.project_id:
            raise errors.LeaseNotFound(lease_id=lease_id)
        return lease

    def _made_meanwhile(self, context, lease, request, now):
        """The lease of the same request, which came twice at once and was served there.

        :raises ServerLeased: it was another request, for a server of this one.
        """
        made = self._made_before(context, lease.id, request, now)
        if made is None:
            binding.refuse_leased(self._core, lease.leased_ids)
            raise errors.LostRace()
        return made

    def _write(self, connection, lease, chosen, request, now):
        leases.add(connection, lease)
        self._booking.replace(connection, chosen, now)
        if request.idempotency_key is not None:
            hours = datetime.timedelta(hours=self._core.conf.manager.idempotency_hours)
            leases.keep_key(connection, lease.project_id, request.idempotency_key,
                            request.request_hash, lease.id, now, now + hours)
        sought = lease.state == lifecycle.ACQUIRING
        journal.note(connection, lease.id, now, lease.user_id, 'create',
                     None if sought else lease.reason)
        if sought:
            journal.note(connection, lease.id, now, 'climate', 'attempt', lease.reason)
        elif lease.acquisition is not None:
            journal.note(connection, lease.id, now, 'climate', lifecycle.ACQUIRED)
        lease = _with_resources(lease, chosen)
        notify.publish(connection, lease, now, 'create')
        return lease


def _holds_nothing(lease):
    """True where nothing was ever done in the cloud for the lease, or all of it was undone."""
    if lease.task is not None:
        return False
    if lease.state in lifecycle.OVER or not lease.reservations or agenda.given_up(lease):
        return True
    return agenda.untouched(lease)


def _with_resources(lease, chosen):
    """The lease with the resources that the Allocations `chosen` give its reservations."""
    return dataclasses.replace(lease, reservations=tuple(
        dataclasses.replace(each, resource_ids=resource_ids(chosen, each.id))
        for each in lease.reservations))


def resource_ids(chosen, reservation_id):
    """The `resource_ids` that the Allocations `chosen` give a reservation."""
    return tuple(sorted(given.resource_id for given in chosen for _ in range(given.copies)
                        if given.reservation_id == reservation_id))
