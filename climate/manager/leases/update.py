# SPDX-License-Identifier: Apache-2.0
"""Change a lease in one transaction: either all changes of the request are made, or none."""
import contextlib
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import journal
from climate.db import leases
from climate.db import maintenances
from climate.domain import records
from climate.domain import texts
from climate.manager import core
from climate.manager.billing import lease_prices
from climate.manager.booking import booking
from climate.manager.booking import limit_rations
from climate.manager.booking import refused_demand
from climate.manager.enforcement import calls
from climate.manager.enforcement import questions
from climate.manager.leases import change_plan
from climate.manager.leases import change_writer
from climate.manager.leases import early_creations
from climate.manager.leases import enforced_end
from climate.manager.leases import losses
from climate.manager.leases import trusts
from climate.manager.limits import checking
from climate.manager.limits import subjects

LOG = log.getLogger(__name__)


class Update:
    """The use case of PUT /v1/leases/{id}."""

    def __init__(self, parts):
        self._core = parts
        self._booking = booking.Booking(parts)
        self._planner = change_plan.ChangePlanner(parts)
        self._trusts = trusts.Trusts(parts)
        self._prices = lease_prices.LeasePrices(parts)
        self._refused = refused_demand.RefusedDemand(parts)
        self._losses = losses.LeaseLosses(parts)
        self._questions = questions.Questions(parts)

    def update(self, context, lease_id, changes):
        """Apply LeaseChanges to a lease and return it; with `dry_run` only return the result.

        :raises LeaseNotFound: no lease has this id, or it was deleted.
        :raises StalePrecondition: the lease has changed since the caller read it.
        :raises LeaseEnded: the lease is past its end: only its name may change.
        :raises BadTransition: Climate is working on the lease, or its state forbids the change.
        :raises BadRequest: the request is wrong; the error names the field.
        :raises Forbidden: the change needs roles of the owner that the caller lacks.
        :raises ExtensionRefused: a rule of extensions does not allow the new end.
        :raises LimitReached: the lease was changed too often while it ran.
        :raises TooManyRequestBytes: the requests of the project would have too many bytes.
        :raises LimitExceeded: the change would exceed a limit of the project or of the user.
        :raises NotEnough: too few resources are free for the change; the lease stays as it is.
        :raises EnforcementRefused: the enforcement service refuses the change.
        :raises EnforcementUnavailable: that service gives no answer, and must give one.
        """
        now = self._core.clock()
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        if lease.deleted_at is not None:
            raise errors.LeaseNotFound(lease_id=lease_id)
        _refuse_stale(lease, changes)
        if changes.only_renames:
            return self._rename(context, lease, changes, now)
        change = self._planner.plan(context, lease, changes, now)
        if changes.dry_run:
            return self._preview(change)
        try:
            with self._recorded(change):
                planned = self._plan_asked(change)
                with self._questions.of_change(change, planned) as question:
                    changed = self._make(change, planned, question)
        except calls.CommitRefused as refused:
            enforced_end.after_refusal(self._core, refused, self.update)
            raise refused.error from refused
        LOG.info('Lease %s: changed, now %s to %s', lease_id, changed.start.isoformat(),
                 changed.end.isoformat())
        self._core.notify()
        return changed

    def _plan_asked(self, change):
        """Return the Allocations about which the enforcement service is asked; None: none is."""
        if not self._questions.asks(change.target):
            return None
        return self._planned(change)

    def _planned(self, change):
        """Return the Allocations for the Wishes of a change, as limits allow them."""
        limits = self._limits_of(change)

        def planned(wishes, _):
            wanted = dataclasses.replace(change, wishes=wishes)
            plan = self._booking.plan_change(wanted)
            limits.refuse_in_preview(subjects.of_change(self._core, wanted, plan))
            return plan
        with self._explained(change):
            return self._within_limits(change, limits, None, planned)

    def _within_limits(self, change, limits, planned, book):
        """Return the result of ``limit_rations.attempt`` for a LeaseChange."""
        types = {each.id: each.resource_type for each in change.target.reservations}
        return limit_rations.attempt(self._core, limits, (change.wishes, types), planned,
                                     book)

    def _make(self, change, planned, question):
        """Make a change and return the changed Lease.

        :param planned: as `_plan_asked` returns it.
        :param question: the Question to the enforcement service.
        """
        change, trust = self._trusts.entrust_change(change)
        created = early_creations.EarlyChange(self._core, change.context, change.lease,
                                              change.target)
        try:
            change = dataclasses.replace(change, target=created.create())
            changed = question.book(planned, lambda chosen: self._book(
                change, chosen, trust, question))
        except errors.ClimateError:
            created.undo()
            self._trusts.drop(trust)
            raise
        created.finish()
        return changed

    def _preview(self, change):
        """Return the lease as after the change, with its price and losses; write nothing."""
        planned = self._planned(change)
        with self._questions.of_change(change, planned):
            """The question is withdrawn, because nothing is written."""
        booked = {allocation.reservation_id for allocation in planned}
        # The other reservations keep their resources.
        preview = dataclasses.replace(change.target, reservations=tuple(
            dataclasses.replace(each, allocated=records.by_need(planned, each.id))
            if each.id in booked else each for each in change.target.reservations))
        return dataclasses.replace(
            preview, losses=self._losses.by_change(change.lease, preview, change.now),
            price=self._prices.of_change(change.lease, change.target, planned, change.now,
                                         by_owner=change.by_owner),
            late_cancel=self._prices.of_late_change(
                change.lease, change.target, planned, change.now) if change.by_owner else None)

    def _recorded(self, change):
        """Return a context manager that records the demand of the change if it is refused."""
        if not change.wishes:
            return contextlib.nullcontext()
        changes = change.changes
        return self._refused.recorded(refused_demand.RefusableRequest(
            change.lease, change.wishes, change.span, (
                'update', change.lease.id, changes.reservations, changes.start, changes.end,
                changes.duration_seconds),
            had_span=change.lease.interval), change.now)

    @contextlib.contextmanager
    def _explained(self, change):
        """Context manager: add to a NotEnough which maintenance of the resources conflicts."""
        try:
            yield
        except errors.NotEnough as error:
            ids = {key for each in change.lease.open_reservations for key in each.resource_ids}
            with self._core.database.reader() as connection:
                by_resource = maintenances.of_resources(connection, ids) if ids else {}
            conflicts = [window for windows in by_resource.values() for window in windows
                         if window.start < change.target.end and change.target.start < window.end]
            if not conflicts:
                raise
            first = min(conflicts, key=lambda window: window.start)
            raise errors.with_sentence(error, (
                f'Resources of the lease have maintenance from {first.span}: {first.reason}')
            ) from error

    def _book(self, change, planned, trust, question):
        """Book the resources of a change and write it; return the changed Lease.

        :param planned: the Allocations to book; None: make a plan.
        :param trust: the RecordedTrust that the change first needs, or None.
        """
        limits = self._limits_of(change)

        def write(connection, chosen):
            limits.refuse_excess(connection, subjects.of_change(self._core, change, chosen))
            trusts.settle(connection, trust)
            changed = change_writer.write(self._core, connection, change, chosen)
            question.settle(connection, changed, chosen)
            return changed
        with self._explained(change):
            return self._within_limits(
                change, limits, planned, lambda wishes, chosen: self._booking.book_change(
                    dataclasses.replace(change, wishes=wishes), write, chosen))

    def _limits_of(self, change):
        lease = change.lease
        return checking.applying(self._core, lease.project_id, lease.user_id, change.now)

    @core.again_after_a_race
    def _rename(self, context, lease, changes, now):
        name = changes.name or lease.name
        if name == lease.name and not change_plan.exemption(lease, changes):
            return lease
        if changes.dry_run:
            return dataclasses.replace(lease, name=name, losses=(),
                                       **change_plan.exemption(lease, changes))
        with self._core.database.writer() as connection:
            current = leases.lock(connection, lease.id)
            _refuse_stale(current, changes)
            leases.change(connection, current, now, name=name,
                          **change_plan.exemption(current, changes))
            if name != lease.name:
                journal.note_limited(connection, lease.id, now, context.user_id or 'climate',
                                     'rename', texts.same(f'{lease.name} → {name}'))
            change_writer.write_exemption(connection, context, current, changes, now)
            return leases.get(connection, lease.id)


def _refuse_stale(lease, changes):
    if changes.generation is not None and changes.generation != lease.generation:
        raise errors.StalePrecondition(lease_id=lease.id)
