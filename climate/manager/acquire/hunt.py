# SPDX-License-Identifier: Apache-2.0
"""The hunt of a best effort: hosts are cleared for a lease, step by step."""
import dataclasses

from climate import errors
from climate.domain import chase
from climate.domain import fit
from climate.domain import hunt
from climate.manager import booking
from climate.manager import results
from climate.manager.acquire import hands
from climate.manager.acquire import ledger
from climate.manager.acquire import planning
from climate.manager.acquire import sought
from climate.manager.acquire import words
from climate.plugins import pools


class Hunt:
    """Plans a hunt, carries it on, and undoes it.

    Only whole hosts are hunted; whatever else is in the lease must fit as it is.
    """

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        self._planner = planning.Planner(core)
        self._hands = hands.Hands(core)
        self._ledger = ledger.Ledger(core)

    def plan(self, lease, wishes, now):
        """The plan for a lease that is not written yet, JSON-ready; nothing is touched.

        :raises NotEnough: no plan could succeed, with what was missing.
        """
        span = dataclasses.replace(lease.interval, start=max(lease.start, now))
        try:
            given = self._booking.plan([_as_far_as_it_goes(wish) for wish in wishes], span, now)
        except errors.NotEnough as error:
            raise errors.NotEnough(
                f'{error.message} A best effort clears whole hosts only; what else is in the lease '
                'must fit as it is.', **error.kwargs) from error
        plan = hunt.Plan(lease.acquisition.strategy)
        return self._planner.planned(lease, plan, wishes, _missing(wishes, given)).as_json()

    def step(self, claim, now):
        """Carry the hunt of a claimed lease on for a moment, by the plan in its acquisition.

        :returns: an Outcome: DONE, all is there to be booked; BUSY, it is to be carried on.
        :raises Withdrawn: the lease is to be deleted.
        """
        lease = claim.lease
        before = hunt.from_json(lease.acquisition.plan)
        wishes = self._booking.wishes_of_all(lease)
        given, held_more = self._hold(lease, wishes, now)
        missing = _missing(wishes, given)
        sight = self._hands.look(before, now)
        after, orders = chase.decide(before, sight, hunt.fence_of(lease.id),
                                     self._core.conf.acquire.parallel_moves)
        lacking = planning.lacking(missing, before, after)
        after = planning.without_excess(after, lacking)
        after, failure = self._carried_out(lease, before, after, orders, now)
        troubled = chase.troubled(after, sight)
        # While nothing changed since a look in vain, the next one waits.
        may_look = (before.look_at is None or before.look_at <= now or held_more
                    or after != before)
        if may_look and (troubled or planning.is_short(after, lacking)):
            after = self._planned(lease, after, wishes, lacking, troubled, now)
        if not any(missing.values()):
            # What was given up for others of these is given back by an event of the lease.
            return results.Outcome(results.DONE)
        if failure is not None:
            raise failure
        return results.Outcome(results.BUSY, hunt.achieved(after), patient=True)

    def _planned(self, lease, plan, wishes, lacking, troubled, now):
        """The Plan made anew, or as it was where there is none as things are now.

        Others may come to their end before the time of the lease is over.
        """
        try:
            planned = dataclasses.replace(
                self._planner.planned(lease, plan, wishes, lacking, troubled),
                looks=0, look_at=None)
        except errors.NotEnough as error:
            self._ledger.say(lease, words.no_plan(lease, error), hunt.NO_PLAN, error, now)
            planned = plan.looked_in_vain(now)
        return self._ledger.write(lease, plan, planned, now)

    def tell_of_delay(self, lease, error, now):
        """Let a lease whose time is over say why it is not given up yet: a ClimateError."""
        self._ledger.say(lease, words.not_undone(lease, error), hunt.NOT_UNDONE, error, now)

    def abandon(self, lease, now):
        """Undo what a hunt has left of a lease that has got nothing.

        Repeatable, and harmless where there is nothing.

        :returns: in words what was achieved, or None.
        :raises StillBusy: not all is undone yet.
        """
        if lease.acquisition is None or lease.acquisition.plan is None:
            return None
        before = hunt.from_json(lease.acquisition.plan)
        after = before.without([host.name for host in before.hosts], hunt.GIVEN_UP)
        return hunt.achieved(self._undone(lease, before, after, now))

    def tidy(self, lease, now):
        """Undo what a hunt has left of a lease beside what it has got. Repeatable.

        :raises StillBusy: not all is undone yet.
        """
        if lease.acquisition is not None and lease.acquisition.plan is not None:
            before = hunt.from_json(lease.acquisition.plan)
            after = before.without([host.name for host in before.coming], hunt.NOT_WANTED)
            self._undone(lease, before, after, now)

    def _undone(self, lease, before, after, now):
        sight = self._hands.look(after, now)
        after, orders = chase.decide(after, sight, hunt.fence_of(lease.id), 0)
        after, failure = self._carried_out(lease, before, after, orders, now)
        if failure is not None:
            raise failure
        self._hands.refuse_unsettled(after)
        return after

    def _carried_out(self, lease, before, after, orders, now):
        """(the Plan after it was written down and its orders were carried out, what failed)."""
        written = self._ledger.write(lease, before, after, now)
        done, failure = self._hands.carry_out(written, orders)
        return self._ledger.write(lease, written, done, now), failure

    def _hold(self, lease, wishes, now):
        """What the lease can have of what is enrolled, and nobody else gets.

        :returns: Allocations, and whether they are others than before.
        """
        span = lease.interval_from(now)
        parts = [_as_far_as_it_goes(wish) for wish in wishes]
        given = self._booking.plan(parts, span, now)
        had = sorted((each.id, key) for each in lease.reservations for key in each.resource_ids)
        if sorted((each.reservation_id, each.resource_id)
                  for each in given for _ in range(each.copies)) == had:
            return given, False

        def write(connection, chosen):
            sought.current(connection, lease)
            self._booking.replace(connection, chosen, now, [
                each.id for each in lease.reservations])
            return chosen
        return self._booking.book(parts, span, now, write, planned=given), True


def _is_hunted(wish):
    return wish.need.pool == pools.HostPool.name and wish.need.demand.amount is fit.WHOLE


def _as_far_as_it_goes(wish):
    """The Wish that takes as many whole hosts as there are, up to what is needed."""
    if not _is_hunted(wish):
        return wish
    demand = dataclasses.replace(wish.need.demand, at_least=0,
                                 at_most=wish.need.demand.at_least)
    return dataclasses.replace(wish, need=dataclasses.replace(wish.need, demand=demand))


def _missing(wishes, given):
    """{reservation id: how many whole hosts it lacks}."""
    return {wish.reservation_id: wish.need.demand.at_least - sum(
        each.whole and each.reservation_id == wish.reservation_id for each in given)
        for wish in wishes if _is_hunted(wish)}
