# SPDX-License-Identifier: Apache-2.0
"""Create a lease in one transaction, during which the cloud is not called.

Each action in the cloud is an event with a time, even if that time is now. There are two
exceptions, both just before the transaction: the trust of a new lease, which needs the token of the
request, and early creations of plugins, which clients need in the answer.
"""
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.cloud import call_guard
from climate.db import engine
from climate.db import journal
from climate.db import leases
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import request_limit
from climate.manager.acquisition import first_attempt
from climate.manager.billing import lease_prices
from climate.manager.booking import booking
from climate.manager.booking import offers
from climate.manager.booking import refused_demand
from climate.manager.leases import draft
from climate.manager.leases import early_creations
from climate.manager.leases import targets
from climate.manager.leases import trusts
from climate.manager.notifications import outbox

LOG = log.getLogger(__name__)

_UNDO_SECONDS = 10


class Create:
    """The use case of POST."""

    def __init__(self, parts):
        self._core = parts
        self._booking = booking.Booking(parts)
        self._trusts = trusts.Trusts(parts)
        self._drafts = draft.Drafts(parts)
        self._first_attempt = first_attempt.FirstAttempt(parts)
        self._offers = offers.HeldOffers(parts)
        self._prices = lease_prices.LeasePrices(parts)
        self._refused = refused_demand.RefusedDemand(parts)

    def create(self, context, lease_id, request):
        """Create the lease of a LeaseRequest and return it; with `dry_run` only return a draft.

        The call can be repeated: with the same id, or the same Idempotency-Key, it returns the
        lease that was made before.

        :raises BadRequest: the request is wrong; the error names the field.
        :raises NotEnough: too few resources are free; the error has the reasons.
        :raises TooManyWaiting: the lease would wait, and its project has too many that wait.
        :raises TooManyRequestBytes: the requests of the project would have too many bytes.
        :raises TargetLeased: another reservation leases a server that the request names.
        :raises ActsForLease: the token of the caller was made for another lease.
        :raises TrustRefused: Climate could not act for this caller later.
        :raises CloudError: an early creation failed.
        :raises KeyReused: the key came with another request before.
        :raises OfferNotFound: the project has no such offer; it may have been taken already.
        :raises OfferExpired: the offer has expired, or its resources are no longer available.
        """
        now = self._core.clock()
        made = self._made_before(context, lease_id, request, now)
        if made is not None:
            return made
        self._trusts.refuse_acting_for_lease(context)
        try:
            return self._create(context, lease_id, request, now)
        except errors.OfferNotFound:
            # A copy of this request may have taken the offer at the same time.
            made = self._made_before(context, lease_id, request, now)
            if made is None:
                raise
            return made

    def _create(self, context, lease_id, request, now):
        source = self._first_attempt
        if request.offer_id is not None:
            source = self._offers.taking(context, request.offer_id, now)
            request = source.completed(request)
        drafted = self._drafts.draft(context, lease_id, request, now)
        lease = drafted.lease
        if request.offer_id is None:
            # An offer has been counted with the same requests.
            request_limit.refuse_more(self._core, lease.project_id, lease.request_bytes, now)
        if request.dry_run:
            lease, planned = self._plan(context, source, drafted)
            return dataclasses.replace(
                _with_resources(lease, planned or ()),
                price=self._prices.of_new(lease, planned, now) if planned else None)
        refusable = refused_demand.RefusableRequest(lease, tuple(drafted.wishes), drafted.span, (
            'create', request.reservations, request.start, request.end, request.duration_seconds))
        with self._refused.recorded(refusable, now):
            return self._make(context, request, source, drafted)

    def _plan(self, context, source, drafted):
        """Return (the Lease, its Allocations or None).

        :param source: the FirstAttempt, or an OfferTaking.
        """
        try:
            return source.plan(drafted)
        except errors.NotEnough as error:
            raise self._offers.naming_own(context, drafted.span, error) from error

    def _make(self, context, request, source, drafted):
        """Book the resources of a drafted lease, write it, and return it."""
        now = drafted.now
        lease, planned = self._plan(context, source, drafted)
        lease, trust = self._trusts.entrust(context, lease, now)
        created = early_creations.EarlyCreations(self._core, lease, request.offer_id, now)

        def write(connection, booked, chosen):
            made = self._write(connection, booked, chosen, request, now)
            created.settle(connection)
            trusts.settle(connection, trust)
            return made
        try:
            lease = created.create()
            made = source.book(dataclasses.replace(drafted, lease=lease), planned, write)
        except engine.Duplicate:
            self._undo(created, trust)
            return self._made_meanwhile(context, lease, request, now)
        except errors.ClimateError:
            self._undo(created, trust)
            raise
        LOG.info('Lease %s of project %s: created, %s, %s to %s, resources %s', made.id,
                 made.project_id, made.state, made.start.isoformat(), made.end.isoformat(),
                 self._core.resource_names.of(
                     key for reservation in made.reservations for key in reservation.resource_ids))
        self._core.notify()
        return made

    def _undo(self, created, trust):
        # The request may have used up its time.
        with call_guard.answered_within(_UNDO_SECONDS):
            created.undo()
            self._trusts.drop(trust)

    def _made_before(self, context, lease_id, request, now):
        """Return the lease that an earlier copy of this request made, or None."""
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
        """Return the lease that a concurrent copy of this request made.

        :raises TargetLeased: there is none, but another request leased the same server.
        :raises LostRace: there is neither.
        """
        made = self._made_before(context, lease.id, request, now)
        if made is None:
            targets.refuse_leased(self._core, lease.leased_ids)
            raise errors.LostRace()
        return made

    def _write(self, connection, lease, chosen, request, now):
        leases.add(connection, lease)
        self._booking.replace(connection, chosen)
        if request.idempotency_key is not None:
            hours = datetime.timedelta(hours=self._core.conf.manager.idempotency_hours)
            leases.keep_key(connection, lease.project_id, request.idempotency_key,
                            request.request_hash, lease.id, now, now + hours)
        acquiring = lease.state == lifecycle.ACQUIRING
        journal.note(connection, lease.id, now, lease.user_id, 'create',
                     None if acquiring else lease.reason_text)
        if acquiring:
            journal.note(connection, lease.id, now, 'climate', 'attempt', lease.reason_text)
        elif lease.acquisition is not None:
            journal.note(connection, lease.id, now, 'climate', lifecycle.ACQUIRED)
        lease = _with_resources(lease, chosen)
        outbox.publish(connection, lease, now, 'create')
        return lease


def _with_resources(lease, chosen):
    """Return the lease with the resources of the Allocations `chosen` in its reservations."""
    return dataclasses.replace(lease, reservations=tuple(
        dataclasses.replace(each, allocated=records.by_need(chosen, each.id))
        for each in lease.reservations))
