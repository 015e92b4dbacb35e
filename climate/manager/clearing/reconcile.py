# SPDX-License-Identifier: Apache-2.0
"""The control loop of best effort: it clears hosts for a lease, step by step."""
import dataclasses

from climate import errors
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


class Reconciler:
    """Plans host clearing for a lease, carries it on, and undoes it.

    Only whole hosts are cleared. All other reservations of the lease must fit without that.
    """

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        self._planner = planner.Planner(core)
        self._executor = executor.Executor(core)
        self._store = plan_store.PlanStore(core)

    def plan(self, lease, wishes, now):
        """Return the plan for a lease that is not stored yet, ready for JSON; changes nothing.

        :raises NotEnough: no plan could succeed; the error names the missing resources.
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
        """Carry out the next step of host clearing for a claimed lease, by its stored plan.

        :returns: an Outcome: DONE if all hosts can be booked; BUSY if another step is needed.
        :raises Withdrawn: the lease is to be deleted.
        """
        lease = claim.lease
        before = plans.from_json(lease.acquisition.plan)
        wishes = wish_lists.of(self._core.registry, lease.open_reservations)
        chosen, held_more = self._hold(lease, wishes, now)
        missing = self._missing(wishes, chosen)
        observed = self._executor.observe(before, now)
        after, orders = steps.decide(before, observed, plans.fence_of(lease.id),
                                     self._core.conf.acquire.parallel_moves)
        lacking = planner.lacking(missing, before, after)
        after = planner.without_excess(after, lacking)
        after, failure = self._carried_out(lease, before, after, orders, now)
        troubled = steps.troubled(after, observed)
        # After a search that found no plan, the next one waits until its time or a change.
        may_plan = (before.look_at is None or before.look_at <= now or held_more
                    or after != before)
        if may_plan and (troubled or planner.is_short(after, lacking)):
            after = self._planned(lease, after, wishes, lacking, troubled, now)
        if not any(missing.values()):
            # Hosts of the plan that are not needed are returned by an event of the lease.
            return results.Outcome(results.DONE)
        if failure is not None:
            raise failure
        return results.Outcome(results.BUSY, plans.achieved(after), patient=True)

    def _planned(self, lease, plan, wishes, lacking, troubled, now):
        """Plan again; return the new Plan, or the old one if no plan is possible now.

        A plan may become possible before the lease times out, because other leases may end.
        """
        try:
            planned = dataclasses.replace(
                self._planner.planned(lease, plan, wishes, lacking, troubled),
                looks=0, look_at=None)
        except errors.NotEnough as error:
            reason = acquisition_reasons.no_plan(lease, error)
            self._store.record_delay(lease, reason, plans.NO_PLAN, error, now)
            planned = plan.after_failed_search(now)
        return self._store.write(lease, plan, planned, now)

    def record_delay(self, lease, error, now):
        """Write why a lease whose time is over is not given up yet.

        :param error: the ClimateError that kept its hosts from being returned.
        """
        reason = acquisition_reasons.not_undone(lease, error)
        self._store.record_delay(lease, reason, plans.NOT_UNDONE, error, now)

    def abandon(self, lease, now):
        """Undo all host clearing for a lease that did not get its resources.

        Repeatable; does nothing if no hosts were cleared.

        :returns: the achieved state, as a ``texts.Text``, or None.
        :raises StillBusy: not all is undone yet.
        """
        if lease.acquisition is None or lease.acquisition.plan is None:
            return None
        before = plans.from_json(lease.acquisition.plan)
        after = before.without([host.name for host in before.hosts], plans.GIVEN_UP)
        return texts.same(plans.achieved(self._undone(lease, before, after, now)))

    def tidy(self, lease, now):
        """Undo the host clearing that a lease did not need, and keep its ready hosts. Repeatable.

        :raises StillBusy: not all is undone yet.
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
        """Store a Plan and carry out its orders; return (the new Plan, first error or None)."""
        written = self._store.write(lease, before, after, now)
        done, failure = self._executor.carry_out(written, orders)
        return self._store.write(lease, written, done, now), failure

    def _hold(self, lease, wishes, now):
        """Allocate the free enrolled resources that the lease needs.

        :returns: (the Allocations, True if they differ from those before).
        """
        span = lease.interval_from(now)
        parts = self._with_fewer_hosts(wishes)
        planned = self._booking.plan(parts, span, now)
        if all(records.by_need(planned, each.id) == each.allocated for each in lease.reservations):
            return planned, False

        def write(connection, chosen):
            ownership.current(connection, lease)
            self._booking.replace(connection, chosen, [each.id for each in lease.reservations])
            return chosen
        return self._booking.book(parts, span, now, write, planned=planned), True

    def _with_fewer_hosts(self, wishes):
        """Return the Wishes; those with host clearing accept fewer hosts or none."""
        cleared_for = self._cleared_for(wishes)
        return [wish.demanding(at_least=0, at_most=wish.need.demand.at_least)
                if wish in cleared_for else wish for wish in wishes]

    def _missing(self, wishes, chosen):
        """Return {reservation id: the number of whole hosts that it lacks}."""
        return {wish.reservation_id: wish.need.demand.at_least - sum(
            (each.reservation_id, each.need) == (wish.reservation_id, wish.need.key)
            for each in chosen) for wish in self._cleared_for(wishes)}

    def _cleared_for(self, wishes):
        """Return the first Wish for whole hosts of each reservation: hosts are cleared for it."""
        by_reservation = {}
        for wish in wishes:
            if wish.need.demand.amount is selection.WHOLE and self._core.registry.is_clearable(
                    wish.need.pool):
                by_reservation.setdefault(wish.reservation_id, wish)
        return list(by_reservation.values())
