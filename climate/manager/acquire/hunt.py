# SPDX-License-Identifier: Apache-2.0
"""The hunt of a best effort: hosts are cleared for a lease, step by step."""
import dataclasses

from climate import errors
from climate.db import leases
from climate.domain import agenda
from climate.domain import chase
from climate.domain import fit
from climate.domain import hunt
from climate.manager import booking
from climate.manager import claims
from climate.manager import results
from climate.manager.acquire import hands
from climate.manager.acquire import ledger
from climate.manager.acquire import planning
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
        """
        lease = claim.lease
        before = hunt.from_json(lease.acquisition.plan)
        wishes = self._booking.wishes_of_all(lease)
        missing = _missing(wishes, self._hold(lease, wishes, now))
        sight = self._hands.look(before)
        after, orders = chase.decide(before, sight, hunt.fence_of(lease.id),
                                     self._core.conf.acquire.parallel_moves)
        lacking = planning.lacking(missing, before, after)
        after = planning.without_excess(after, lacking)
        after = self._carried_out(lease, before, after, orders, now)
        troubled = chase.troubled(after, sight)
        if troubled or planning.is_short(after, lacking):
            try:
                planned = self._planner.planned(lease, after, wishes, lacking, troubled)
            except errors.NotEnough as error:
                # As things are now: others may come to their end before its time is over.
                self._ledger.say(lease, error, now)
                return results.Outcome(results.BUSY, error.message, patient=True)
            after = self._ledger.write(lease, after, planned, now)
        if not any(missing.values()) and all(
                host.state in hunt.SETTLED for host in after.hosts):
            return results.Outcome(results.DONE)
        return results.Outcome(results.BUSY, hunt.achieved(after), patient=True)

    def abandon(self, lease, now):
        """Undo whatever a hunt has left of a lease. Repeatable, harmless where there is nothing.

        :returns: in words what was achieved, or None.
        :raises StillBusy: not all is undone yet.
        """
        if lease.acquisition is None or lease.acquisition.plan is None:
            return None
        before = hunt.from_json(lease.acquisition.plan)
        after = before.without([host.name for host in before.hosts], hunt.GIVEN_UP)
        after, orders = chase.decide(after, self._hands.look(after), hunt.fence_of(lease.id), 0)
        after = self._carried_out(lease, before, after, orders, now)
        self._hands.refuse_unsettled(after)
        return hunt.achieved(after)

    def _carried_out(self, lease, before, after, orders, now):
        """The Plan after it was written down and its orders were carried out."""
        written = self._ledger.write(lease, before, after, now)
        done = self._hands.carry_out(written, orders)
        return self._ledger.write(lease, written, done, now)

    def _hold(self, lease, wishes, now):
        """What the lease can have of what is enrolled: Allocations, which nobody else gets."""
        span = lease.interval_from(now)
        parts = [_as_far_as_it_goes(wish) for wish in wishes]
        given = self._booking.plan(parts, span, now)
        had = sorted((each.id, key) for each in lease.reservations for key in each.resource_ids)
        if sorted((each.reservation_id, each.resource_id)
                  for each in given for _ in range(each.copies)) == had:
            return given

        def write(connection, chosen):
            claims.refuse_overtaken(connection, lease)
            if agenda.deletion_ordered(leases.get(connection, lease.id)):
                raise errors.StillBusy(service='Climate', reason='the lease is being deleted.')
            self._booking.replace(connection, chosen, now, [
                each.id for each in lease.reservations])
            return chosen
        return self._booking.book(parts, span, now, write, planned=given)


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
