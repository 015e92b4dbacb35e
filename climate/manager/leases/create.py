# SPDX-License-Identifier: Apache-2.0
"""Create a lease in one transaction, during which the cloud is not called.

Events call the cloud after the transaction, even if the lease starts now. Only two kinds of objects
are created before the transaction: the trust of the lease, which needs the token of the request,
and early creations of plugins, whose ids clients need in the answer. Before them, the enforcement
service is asked, if there is one.
"""
import collections.abc
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.cloud import call_guard
from climate.db import allocations
from climate.db import engine
from climate.db import journal
from climate.db import leases
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import requirement
from climate.manager import request_limit
from climate.manager.acquisition import first_attempt
from climate.manager.billing import lease_prices
from climate.manager.booking import offers
from climate.manager.booking import refused_demand
from climate.manager.enforcement import calls
from climate.manager.enforcement import questions
from climate.manager.leases import draft
from climate.manager.leases import early_creations
from climate.manager.leases import enforced_end
from climate.manager.leases import targets
from climate.manager.leases import trusts
from climate.manager.notifications import outbox

LOG = log.getLogger(__name__)

_UNDO_SECONDS = 10


@dataclasses.dataclass(frozen=True)
class Origin:
    """The series that a new lease belongs to.

    :ivar trust_id: the trust of the series, which its leases share; None: the lease gets its own.
    :ivar names: {position of the reservation: {key of a need: names}} of the only resources that
        the lease may get; None: all.
    :ivar has_waited: whether an earlier try failed, so that the lease may get resources that were
        returned.
    """

    series_id: str
    trust_id: str | None
    names: collections.abc.Mapping | None = None
    has_waited: bool = False


class Create:
    """The use case of POST /v1/leases."""

    def __init__(self, parts):
        self._core = parts
        self._trusts = trusts.Trusts(parts)
        self._drafts = draft.Drafts(parts)
        self._first_attempt = first_attempt.FirstAttempt(parts)
        self._repeated_attempt = first_attempt.FirstAttempt(parts, for_waiting=True)
        self._offers = offers.HeldOffers(parts)
        self._prices = lease_prices.LeasePrices(parts)
        self._refused = refused_demand.RefusedDemand(parts)
        self._questions = questions.Questions(parts)

    def create(self, context, lease_id, request, origin=None):
        """Create the lease of a LeaseRequest and return it; with `dry_run` only return a draft.

        The call can be repeated: with the same id, or the same Idempotency-Key, it returns the
        lease that the first call created.

        :param origin: the Origin of a lease that a series creates; None: a user creates it.
        :raises BadRequest: the request is wrong; the error names the field.
        :raises NotEnough: too few resources are free; the error has the reasons.
        :raises TooManyWaiting: the project has too many waiting leases for another one.
        :raises TooManyRequestBytes: the requests of the project would have too many bytes.
        :raises LimitExceeded: the lease would exceed a limit of the project or of the user.
        :raises TargetLeased: another reservation leases a server that the request names.
        :raises ActsForLease: the token of the caller was made for another lease.
        :raises TrustRefused: Keystone refuses a trust with which Climate acts for the caller.
        :raises CloudError: an early creation failed.
        :raises KeyReused: an earlier request with the same Idempotency-Key was different.
        :raises OfferNotFound: the project has no offer with this id, or no longer.
        :raises OfferExpired: the offer has expired, or its resources are no longer available.
        :raises EnforcementRefused: the enforcement service refuses the lease.
        :raises EnforcementUnavailable: that service gives no answer, and must give one.
        """
        now = self._core.clock()
        existing = self._existing(context, lease_id, request, now)
        if existing is not None:
            return existing
        if origin is None:
            self._trusts.refuse_acting_for_lease(context)
        try:
            return self._create(context, lease_id, request, now, origin)
        except errors.OfferNotFound:
            # A concurrent copy of this request may have taken the offer.
            existing = self._existing(context, lease_id, request, now)
            if existing is None:
                raise
            return existing

    def take_over(self, context, lease_id, taking):
        """Create the lease of the receiver of a transfer; with `dry_run` only return a draft.

        :param taking: a ``transfers.taking.TransferTaking``.
        :raises ClimateError: as `create`, and as the TransferTaking.
        """
        now = self._core.clock()
        self._trusts.refuse_acting_for_lease(context)
        request = taking.request()
        drafted = taking.adapted(self._drafts.draft(context, lease_id, request, now))
        request_limit.refuse_more(self._core, drafted.lease.project_id,
                                  drafted.lease.request_bytes, now)
        if request.dry_run:
            return self._preview(context, taking, drafted)
        return self._make(context, request, taking, drafted)

    def _create(self, context, lease_id, request, now, origin):
        source = (self._repeated_attempt if origin is not None and origin.has_waited
                  else self._first_attempt)
        if request.offer_id is not None:
            source = self._offers.taking(context, request.offer_id, now)
            request = source.completed(request)
        drafted = self._drafts.draft(context, lease_id, request, now)
        if origin is not None:
            drafted = _of_series(self._core.registry, drafted, origin)
        lease = drafted.lease
        if request.offer_id is None:
            # The requests of an offer were counted when the offer was made.
            request_limit.refuse_more(self._core, lease.project_id, lease.request_bytes, now)
        if request.dry_run:
            return self._preview(context, source, drafted)
        refusable = refused_demand.RefusableRequest(lease, tuple(drafted.wishes), drafted.span, (
            'create', request.reservations, request.start, request.end, request.duration_seconds))
        with self._refused.recorded(refusable, now):
            return self._make(context, request, source, drafted)

    def _preview(self, context, source, drafted):
        """Return the drafted lease with its resources and its price; write nothing."""
        lease, planned = self._plan(context, source.preview, drafted)
        self._questions.preview(context, lease, planned)
        return dataclasses.replace(
            _with_resources(lease, planned or ()),
            price=self._prices.of_new(lease, planned, drafted.now) if planned else None)

    def _plan(self, context, plan, drafted):
        """Return (the Lease, its Allocations or None).

        :param plan: the method `plan` or `preview` of the FirstAttempt, or of an OfferTaking.
        """
        try:
            return plan(drafted)
        except errors.NotEnough as error:
            raise self._offers.naming_own(context, drafted.span, error) from error

    def _make(self, context, request, source, drafted):
        """Book the resources of a drafted lease, write it, and return it."""
        # The service is asked only about leases that the limits allow.
        plan = source.preview if self._questions.asks(drafted.lease) else source.plan
        lease, planned = self._plan(context, plan, drafted)
        try:
            with self._questions.of_new(context, lease, planned) as question:
                lease = self._book(context, request, source,
                                   dataclasses.replace(drafted, lease=lease), planned, question)
        except calls.CommitRefused as refused:
            enforced_end.after_refusal(self._core, refused)
            raise refused.error from refused
        LOG.info('Lease %s of project %s: created, %s, %s to %s, resources %s', lease.id,
                 lease.project_id, lease.state, lease.start.isoformat(), lease.end.isoformat(),
                 self._core.resource_names.of(
                     key for reservation in lease.reservations for key in reservation.resource_ids))
        self._core.notify()
        return lease

    def _book(self, context, request, source, drafted, planned, question):
        """Book the resources of a planned lease, write it, and return it.

        :param question: the Question to the enforcement service.
        """
        now = drafted.now
        lease, trust = self._trusts.entrust(context, drafted.lease, now)
        created = early_creations.EarlyCreations(
            self._core, context, lease, request.offer_id, now)

        def write(connection, booked, chosen):
            written = self._write(connection, booked, chosen, request, now)
            created.settle(connection)
            trusts.settle(connection, trust)
            question.settle(connection, booked, chosen)
            return written
        try:
            lease = created.create()
            return question.book(planned, lambda chosen: source.book(
                dataclasses.replace(drafted, lease=lease), chosen, write))
        except engine.Duplicate:
            self._undo(created, trust)
            return self._created_concurrently(context, lease, request, now)
        except errors.ClimateError:
            self._undo(created, trust)
            raise

    def _undo(self, created, trust):
        # Allow more time, because the request may have used up its own.
        with call_guard.answered_within(_UNDO_SECONDS):
            created.undo()
            self._trusts.drop(trust)

    def _existing(self, context, lease_id, request, now):
        """Return the lease that an earlier copy of this request created, or None."""
        with self._core.database.reader() as connection:
            if request.idempotency_key is not None and not request.dry_run:
                earlier = leases.of_key(connection, context.project_id, request.idempotency_key,
                                        now)
                if earlier is not None:
                    request_hash, lease_id = earlier
                    if request_hash != request.request_hash:
                        raise errors.KeyReused(key=request.idempotency_key)
            try:
                lease = leases.get(connection, lease_id)
            except errors.LeaseNotFound:
                return None
        if lease.project_id != context.project_id:
            raise errors.LeaseNotFound(lease_id=lease_id)
        if self._core.enforcement is not None:
            enforced_end.repeat_refusal(self._core, lease)
        return lease

    def _created_concurrently(self, context, lease, request, now):
        """Return the lease that a concurrent copy of this request created.

        :raises TargetLeased: another request leased the same server.
        :raises LostRace: another transaction conflicted.
        """
        existing = self._existing(context, lease.id, request, now)
        if existing is None:
            targets.refuse_leased(self._core, lease.leased_ids)
            raise errors.LostRace()
        return existing

    def _write(self, connection, lease, chosen, request, now):
        leases.add(connection, lease)
        allocations.add(connection, chosen)
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


def _of_series(registry, drafted, origin):
    """Return the Draft of a lease as an occurrence of the series of an Origin."""
    positions = {each.id: str(position)
                 for position, each in enumerate(drafted.lease.reservations)}

    def only_named(wish):
        names = (origin.names or {}).get(positions[wish.reservation_id], {}).get(wish.need.key)
        return wish if names is None else wish.also_meeting(requirement.In(
            registry.pool(wish.need.pool).name_fact, tuple(names)))
    return dataclasses.replace(
        drafted, wishes=[only_named(wish) for wish in drafted.wishes],
        lease=dataclasses.replace(drafted.lease, series_id=origin.series_id,
                                  trust_id=origin.trust_id))


def _with_resources(lease, chosen):
    """Return the lease with the resources of the Allocations `chosen` in its reservations."""
    return dataclasses.replace(lease, reservations=tuple(
        dataclasses.replace(each, allocated=records.by_need(chosen, each.id))
        for each in lease.reservations))
