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
from climate.manager.clearing import executor
from climate.manager.clearing import planner
from climate.manager.clearing import store


class Reconciler:
    """Plans host clearing for a lease, carries it on, and undoes it.

    Only whole hosts are cleared. All other reservations of the lease must fit without that.
    """

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        self._planner = planner.Planner(core)
        self._executor = executor.Executor(core)
        self._store = store.Store(core)

    def plan(self, lease, wishes, now):
        """Return the plan for a lease that is not stored yet, ready for JSON; changes nothing.

        :raises NotEnough: no plan could succeed; the error says what was missing.
        """
        span = dataclasses.replace(lease.interval, start=max(lease.start, now))
        try:
            given = self._booking.plan(self._as_far_as_it_goes(wishes), span, now)
        except errors.NotEnough as error:
            raise errors.with_sentence(error, (
                'A best effort clears whole hosts only; what else is in the lease must fit as it '
                'is.')) from error
        plan = plans.ClearingPlan(lease.acquisition.strategy)
        return self._planner.planned(lease, plan, wishes, self._missing(wishes, given)).as_json()

    def step(self, claim, now):
        """Carry out the next step of host clearing for a claimed lease, by its stored plan.

        :returns: an Outcome: DONE if all hosts can be booked; BUSY if another step is needed.
        :raises Withdrawn: the lease is to be deleted.
        """
        lease = claim.lease
        before = plans.from_json(lease.acquisition.plan)
        wishes = self._booking.wishes_of_all(lease)
        given, held_more = self._hold(lease, wishes, now)
        missing = self._missing(wishes, given)
        observed = self._executor.look(before, now)
        after, orders = steps.decide(before, observed, plans.fence_of(lease.id),
                                     self._core.conf.acquire.parallel_moves)
        lacking = planner.lacking(missing, before, after)
        after = planner.without_excess(after, lacking)
        after, failure = self._carried_out(lease, before, after, orders, now)
        troubled = steps.troubled(after, observed)
        # After a search that found no plan, the next one waits until its time or a change.
        may_look = (before.look_at is None or before.look_at <= now or held_more
                    or after != before)
        if may_look and (troubled or planner.is_short(after, lacking)):
            after = self._planned(lease, after, wishes, lacking, troubled, now)
        if not any(missing.values()):
            # Hosts of the plan that are not needed are returned by an event of the lease.
            return results.Outcome(results.DONE)
        if failure is not None:
            raise failure
        return results.Outcome(results.BUSY, plans.achieved(after), patient=True)

    def _planned(self, lease, plan, wishes, lacking, troubled, now):
        """Make the Plan again; return it, or the old one if no plan is possible now.

        A plan may become possible before the lease times out, because other leases may end.
        """
        try:
            planned = dataclasses.replace(
                self._planner.planned(lease, plan, wishes, lacking, troubled),
                looks=0, look_at=None)
        except errors.NotEnough as error:
            self._store.say(lease, acquisition_reasons.no_plan(lease, error), plans.NO_PLAN, error,
                            now)
            planned = plan.looked_in_vain(now)
        return self._store.write(lease, plan, planned, now)

    def tell_of_delay(self, lease, error, now):
        """Write down why a lease whose time is over is not given up yet.

        :param error: the ClimateError that kept its hosts from being returned.
        """
        self._store.say(lease, acquisition_reasons.not_undone(lease, error), plans.NOT_UNDONE,
                        error, now)

    def abandon(self, lease, now):
        """Undo all host clearing for a lease that did not get its resources.

        Repeatable; does nothing if there is nothing to undo.

        :returns: what was achieved, as a ``texts.Text``, or None.
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
        observed = self._executor.look(after, now)
        after, orders = steps.decide(after, observed, plans.fence_of(lease.id), 0)
        after, failure = self._carried_out(lease, before, after, orders, now)
        if failure is not None:
            raise failure
        self._executor.refuse_unsettled(after)
        return after

    def _carried_out(self, lease, before, after, orders, now):
        """Store a Plan and carry out its orders; returns (the new Plan, first error or None)."""
        written = self._store.write(lease, before, after, now)
        done, failure = self._executor.carry_out(written, orders)
        return self._store.write(lease, written, done, now), failure

    def _hold(self, lease, wishes, now):
        """Allocate to the lease what it can have of the enrolled resources.

        :returns: (the Allocations, True if they differ from those before).
        """
        span = lease.interval_from(now)
        parts = self._as_far_as_it_goes(wishes)
        given = self._booking.plan(parts, span, now)
        if all(records.by_need(given, each.id) == each.allocated for each in lease.reservations):
            return given, False

        def write(connection, chosen):
            ownership.current(connection, lease)
            self._booking.replace(connection, chosen, [each.id for each in lease.reservations])
            return chosen
        return self._booking.book(parts, span, now, write, planned=given), True

    def _as_far_as_it_goes(self, wishes):
        """Return the Wishes; those with host clearing accept fewer hosts or none."""
        cleared_for = self._cleared_for(wishes)
        return [_at_most_needed(wish) if wish in cleared_for else wish for wish in wishes]

    def _missing(self, wishes, given):
        """Return {reservation id: how many whole hosts it lacks}."""
        return {wish.reservation_id: wish.need.demand.at_least - sum(
            (each.reservation_id, each.need) == (wish.reservation_id, wish.need.key)
            for each in given) for wish in self._cleared_for(wishes)}

    def _cleared_for(self, wishes):
        """Return the first Wish for whole hosts of each reservation: hosts are cleared for it."""
        found = {}
        for wish in wishes:
            if wish.need.demand.amount is selection.WHOLE and self._core.registry.is_clearable(
                    wish.need.pool):
                found.setdefault(wish.reservation_id, wish)
        return list(found.values())


def _at_most_needed(wish):
    demand = dataclasses.replace(wish.need.demand, at_least=0,
                                 at_most=wish.need.demand.at_least)
    return dataclasses.replace(wish, need=dataclasses.replace(wish.need, demand=demand))
