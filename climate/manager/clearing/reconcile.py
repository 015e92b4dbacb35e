# SPDX-License-Identifier: Apache-2.0
"""The control loop of best effort: clear hosts for a lease, step by step.

To clear a host, Climate disables it, moves its servers to other hosts, and enrols it for the lease.
"""
import dataclasses

from climate import errors
from climate.db import allocations
from climate.domain import acquisition_reasons
from climate.domain import records
from climate.domain import selection
from climate.domain import texts
from climate.domain.clearing import plans
from climate.domain.clearing import steps
from climate.manager import ownership
from climate.manager import results
from climate.manager.booking import booking
from climate.manager.booking import wish_lists
from climate.manager.clearing import executor
from climate.manager.clearing import plan_store
from climate.manager.clearing import planner
from climate.manager.limits import checking
from climate.manager.limits import subjects


class Reconciler:
    """Plans, continues and undoes host clearing for a lease.

    It clears hosts only for needs of whole hosts; all other needs of the lease must fit without.
    """

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        self._planner = planner.Planner(core)
        self._executor = executor.Executor(core)
        self._store = plan_store.PlanStore(core)

    def plan(self, lease, wishes, now):
        """Return the plan for a lease that is not stored yet, as JSON; change nothing.

        :raises NotEnough: no plan is possible; the error has the reasons.
        """
        span = dataclasses.replace(lease.interval, start=max(lease.start, now))
        try:
            chosen = self._booking.plan(self._with_fewer_hosts(wishes), span, now)
        except errors.NotEnough as error:
            raise errors.with_sentence(error, (
                'A best effort clears whole hosts only; all other resources of the lease must be '
                'free.')) from error
        plan = plans.ClearingPlan(lease.acquisition.strategy)
        return self._planner.planned(lease, plan, wishes, self._missing(wishes, chosen)).as_json()

    def step(self, claim, now):
        """Carry out the next step of the stored plan of a claimed lease.

        :returns: an Outcome: DONE if all hosts can be booked; BUSY if another step is needed.
        :raises Withdrawn: the deletion of the lease was ordered.
        """
        lease = claim.lease
        before = plans.from_json(lease.acquisition.plan)
        wishes = wish_lists.of(self._core.registry, lease.open_reservations)
        chosen, has_changed = self._allocate(lease, wishes, now)
        missing = self._missing(wishes, chosen)
        observed = self._executor.observe(before, now)
        after, orders = steps.decide(before, observed, plans.fence_of(lease.id),
                                     self._core.conf.acquire.parallel_moves)
        still_missing = planner.still_missing(missing, before, after)
        after = planner.without_excess(after, still_missing)
        after, failure = self._carried_out(lease, before, after, orders, now)
        troubled = steps.troubled(after, observed)
        # After an unsuccessful search for a plan, wait for the pause or a change.
        may_plan = (before.look_at is None or before.look_at <= now or has_changed
                    or after != before)
        if may_plan and (troubled or planner.is_short(after, still_missing)):
            after = self._planned(lease, after, wishes, still_missing, troubled, now)
        if not any(missing.values()):
            # An event of the lease returns the unneeded hosts of the plan.
            return results.Outcome(results.DONE)
        if failure is not None:
            raise failure
        return results.Outcome(results.BUSY, plans.achieved(after), patient=True)

    def _planned(self, lease, plan, wishes, missing, troubled, now):
        """Return a new ClearingPlan, or the old one if no plan is possible now.

        A plan may become possible later, because other leases may end.
        """
        try:
            planned = dataclasses.replace(
                self._planner.planned(lease, plan, wishes, missing, troubled),
                looks=0, look_at=None)
        except errors.NotEnough as error:
            reason = acquisition_reasons.no_plan(lease, error)
            self._store.record_delay(lease, reason, plans.NO_PLAN, error, now)
            planned = plan.after_failed_search(now)
        return self._store.write(lease, plan, planned, now)

    def record_delay(self, lease, error, now):
        """Record why a lease that timed out is not given up yet.

        :param error: the ClimateError that delays the return of its hosts.
        """
        reason = acquisition_reasons.not_undone(lease, error)
        self._store.record_delay(lease, reason, plans.NOT_UNDONE, error, now)

    def abandon(self, lease, now):
        """Undo all host clearing for a lease that did not get its resources. Repeatable.

        :returns: the state of the plan as a ``texts.Text``; None if the lease has no plan.
        :raises StillBusy: hosts are still being returned.
        """
        if lease.acquisition is None or lease.acquisition.plan is None:
            return None
        before = plans.from_json(lease.acquisition.plan)
        after = before.without([host.name for host in before.hosts], plans.GIVEN_UP)
        return texts.same(plans.achieved(self._undone(lease, before, after, now)))

    def tidy(self, lease, now):
        """Undo unfinished host clearing for a lease, but keep its ready hosts. Repeatable.

        :raises StillBusy: hosts are still being returned.
        """
        if lease.acquisition is not None and lease.acquisition.plan is not None:
            before = plans.from_json(lease.acquisition.plan)
            after = before.without([host.name for host in before.coming], plans.NOT_WANTED)
            self._undone(lease, before, after, now)

    def _undone(self, lease, before, after, now):
        observed = self._executor.observe(after, now)
        after, orders = steps.decide(after, observed, plans.fence_of(lease.id), 0)
        after, failure = self._carried_out(lease, before, after, orders, now)
        if failure is not None:
            raise failure
        self._executor.refuse_unsettled(after)
        return after

    def _carried_out(self, lease, before, after, orders, now):
        """Store a ClearingPlan, carry out its orders, and store their results.

        :returns: (the new ClearingPlan, the first unexpected error or None).
        """
        written = self._store.write(lease, before, after, now)
        done, failure = self._executor.carry_out(written, orders)
        return self._store.write(lease, written, done, now), failure

    def _allocate(self, lease, wishes, now):
        """Allocate the free enrolled resources that the lease needs.

        :returns: (the Allocations, True if they have changed).
        """
        span = lease.interval_from(now)
        parts = self._with_fewer_hosts(wishes)
        planned = self._booking.plan(parts, span, now)
        if all(records.by_need(planned, each.id) == each.allocated for each in lease.reservations):
            return planned, False

        limits = checking.applying(self._core, lease.project_id, lease.user_id, now)

        def write(connection, chosen):
            limits.refuse_excess(connection, subjects.of_attempt(
                self._core, lease, chosen, span, acquired=False))
            ownership.current(connection, lease)
            allocations.replace(connection, [each.id for each in lease.reservations], chosen)
            return chosen
        return self._booking.book(parts, span, now, write, planned=planned), True

    def _with_fewer_hosts(self, wishes):
        """Return the Wishes; a Wish with host clearing accepts fewer hosts, or none."""
        cleared_for = self._cleared_for(wishes)
        return [wish.demanding(at_least=0, at_most=wish.need.demand.at_least)
                if wish in cleared_for else wish for wish in wishes]

    def _missing(self, wishes, chosen):
        """Return {reservation id: the number of missing whole hosts}."""
        return {wish.reservation_id: wish.need.demand.at_least - sum(
            (each.reservation_id, each.need) == (wish.reservation_id, wish.need.key)
            for each in chosen) for wish in self._cleared_for(wishes)}

    def _cleared_for(self, wishes):
        """Return the Wishes for which hosts are cleared, at most one for each reservation."""
        by_reservation = {}
        for wish in wishes:
            if wish.need.demand.amount is selection.WHOLE and self._core.registry.is_clearable(
                    wish.need.pool):
                by_reservation.setdefault(wish.reservation_id, wish)
        return list(by_reservation.values())
