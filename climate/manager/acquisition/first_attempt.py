# SPDX-License-Identifier: Apache-2.0
"""The first attempt to acquire the resources of a new lease, made in its request."""
import dataclasses
import datetime
import random

from climate import errors
from climate.db import events
from climate.db import resource_properties
from climate.db import resources
from climate.db import wait_queue
from climate.domain import acquire
from climate.domain import acquisition_reasons
from climate.domain import joint_selection
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import minimum_need
from climate.domain import retry_pauses
from climate.domain import texts
from climate.domain.limits import holdings
from climate.manager import core as cores
from climate.manager.booking import booking
from climate.manager.booking import criteria
from climate.manager.booking import enrolled_demands
from climate.manager.booking import limit_rations
from climate.manager.clearing import reconcile
from climate.manager.limits import checking
from climate.manager.limits import subjects
from climate.manager.queue import fair_share
from climate.manager.queue import wakeups


class FirstAttempt:
    """Books a new lease at once, or leaves it to be acquired later if its type allows that."""

    def __init__(self, core, *, for_waiting=False):
        """Take the core of the manager.

        :param for_waiting: see ``booking.Booking``.
        """
        self._core = core
        self._booking = booking.Booking(core, for_waiting=for_waiting)
        self._clearing = reconcile.Reconciler(core)

    def preview(self, draft):
        """Return the result of `plan`, as limits allow it; write nothing.

        :raises NotEnough: see `plan`.
        :raises LimitExceeded: the lease would exceed a limit of its owner.
        """
        lease, planned = self.plan(draft)
        limits = self._limits_of(draft)

        def allowed(wishes, chosen):
            if chosen is None:
                chosen = self._booking.plan(wishes, draft.span, draft.now)
            limits.refuse_in_preview(self._subject(draft, lease, chosen, limits))
            return lease, chosen
        if planned is not None:
            try:
                return self._within_limits(draft, limits, planned, allowed)
            except errors.LimitExceeded as error:
                lease = self._after_failure(draft, error)
        limits.refuse_in_preview(self._subject(draft, lease, None, limits))
        return lease, None

    def _within_limits(self, draft, limits, planned, book):
        """Return the result of ``limit_rations.attempt`` for a Draft."""
        types = {each.id: each.resource_type for each in draft.lease.reservations}
        return limit_rations.attempt(self._core, limits, (draft.wishes, types), planned, book)

    def _limits_of(self, draft):
        return checking.applying(self._core, draft.lease.project_id, draft.lease.user_id,
                                 draft.now)

    def _subject(self, draft, lease, chosen, limits):
        """Return the LimitSubject of the Lease of a Draft for the check of limits.

        :param chosen: its Allocations; None: it waits for its resources.
        """
        if chosen is not None:
            return subjects.of_new_lease(self._core, lease, chosen, draft.roles)
        candidates = []
        if limits.needs_candidates(draft.roles):
            types = {each.id: each.resource_type for each in lease.reservations}
            with self._core.database.reader() as connection:
                candidates = [held for wish in draft.wishes for held in self._candidates(
                    connection, wish, types[wish.reservation_id], draft.span)]
        return subjects.of_waiting_lease(self._core, draft, lease, limits.limits, candidates)

    def plan(self, draft):
        """Choose the resources for the Draft of a lease; return (the Lease, its Allocations).

        If nothing fits now and the type of the lease goes on trying, the returned Lease is in
        the state ACQUIRING, and the second value is None.

        :raises NotEnough: not enough resources are free, and the type of the lease does not go on
            trying.
        """
        try:
            return draft.lease, self._booking.plan(draft.wishes, draft.span, draft.now)
        except errors.NotEnough as error:
            return self._after_failure(draft, error), None

    def _candidates(self, connection, wish, resource_type, span):
        """Return the enrolled resources that a Wish may get, as HeldResources."""
        enrolled = {each.id: each for each in resources.find(connection, wish.need.pool)}
        matching = criteria.matching(self._core, connection, wish.need, enrolled)
        names = resource_properties.names(connection, wish.need.pool)
        values = criteria.values_of(self._core, connection, wish.need.pool, enrolled,
                                    frozenset().union(*names))
        return [holdings.HeldResource(wish.reservation_id, resource_type, wish.need.pool, key,
                                      span.start, span.end, properties=values[key])
                for key in matching]

    def book(self, draft, planned, write):
        """Book a planned lease; return the result of ``write(connection, lease, chosen)``.

        `write` gets the Lease in the state to be stored. If other requests were faster and the type
        of the lease goes on trying, this state is ACQUIRING.

        :param planned: the Allocations that `plan` returned, or None.
        :raises NotEnough: other requests took the resources, and the type does not go on trying.
        :raises LostRace: other requests were faster each time, and the type does not go on trying.
        :raises LimitExceeded: the lease would exceed a limit of its owner, and the type does not go
            on trying, or a waiting lease would exceed a limit, too.
        """
        lease, limits = draft.lease, self._limits_of(draft)
        if planned is not None:
            def in_turn(connection, chosen):
                limits.refuse_excess(connection, self._subject(draft, lease, chosen, limits))
                if lease.acquisition is not None and lease.acquisition.type in acquire.QUEUED:
                    ranked = fair_share.with_share(connection, self._core.conf, lease)
                    wakeups.refuse_out_of_turn(connection, ranked.acquisition, draft.now)
                return write(connection, lease, chosen)
            try:
                return self._within_limits(
                    draft, limits, planned, lambda wishes, chosen: self._booking.book(
                        wishes, draft.span, draft.now, in_turn, planned=chosen))
            except (errors.NotEnough, errors.LostRace, errors.LimitExceeded) as error:
                return self._write_waiting(draft, self._after_failure(draft, error), write)
            except wakeups.OutOfTurn:
                lease = self._waiting(draft, texts.same('Other waiting leases come first.'))
                return self._write_waiting(draft, lease, write)
        return self._write_waiting(draft, lease, write)

    def _write_waiting(self, draft, lease, write):
        limits = self._limits_of(draft)
        subject = self._subject(draft, lease, None, limits)
        return self._write_row(
            lease, lambda connection: limits.refuse_excess(connection, subject), write)

    @cores.again_after_a_race
    def _write_row(self, lease, refuse_excess, write):
        with self._core.database.writer() as connection:
            refuse_excess(connection)
            if lease.state == lifecycle.ACQUIRING and lease.acquisition.type in acquire.QUEUED:
                wait_queue.lock(connection)
                wakeups.refuse_too_many(connection, self._core.conf, lease.project_id)
                lease = fair_share.with_share(connection, self._core.conf, lease)
            return write(connection, lease, [])

    def _after_failure(self, draft, error):
        """Return the lease in the state ACQUIRING, after its first attempt failed.

        :param error: the NotEnough, LostRace or LimitExceeded of the first attempt.
        :raises NotEnough: the type of the lease does not go on trying, or no later attempt could
            succeed.
        :raises LimitExceeded: as NotEnough. A best effort does not wait for limits.
        """
        lease = draft.lease
        if lease.acquisition is None:
            raise error
        if isinstance(error, errors.LimitExceeded):
            if error.kwargs['never'] or lease.acquisition.type == acquire.BEST_EFFORT:
                raise error
            return self._waiting(draft, texts.of_error(error))
        if lease.acquisition.type == acquire.BEST_EFFORT:
            plan = self._clearing.plan(lease, draft.wishes, draft.now)
            return self._waiting(draft, texts.of_error(error), plan)
        if isinstance(error, errors.NotEnough):
            self._refuse_impossible(draft.wishes, draft.span, error)
        return self._waiting(draft, acquisition_reasons.of_shortage(lease, error))

    def _waiting(self, draft, reason, plan=None):
        lease, now = draft.lease, draft.now
        acquisition = dataclasses.replace(lease.acquisition, plan=plan)
        following = next_at(self._core.conf.acquire, acquisition, 1, now)
        if acquisition.type in acquire.QUEUED:
            with self._core.database.reader() as connection:
                wakeups.refuse_too_many(connection, self._core.conf, lease.project_id)
            # The lease is not in the wait queue yet, so resources that are released during this
            # request do not wake it. Therefore it counts as woken from the start.
            acquisition = dataclasses.replace(
                acquisition, wakes=1, least=minimum_need.of(wish.need for wish in draft.wishes))
        text = acquisition_reasons.attempt(lease, acquisition.attempts, following, reason)
        return dataclasses.replace(
            lease.explained(texts.joined(text, lease.reason_text)), state=lifecycle.ACQUIRING,
            events=tuple(events.all_new(lease.id, lease_events.of_acquiring(now), now)),
            acquisition=dataclasses.replace(acquisition, next_at=following))

    def _refuse_impossible(self, wishes, span, error):
        """Refuse wishes that need more than all enrolled resources, even if all of them are free.

        :raises NotEnough: the `error`, with a sentence that explains this.
        """
        with self._core.database.reader() as connection:
            demands = enrolled_demands.of(self._core, connection, wishes)
        try:
            joint_selection.choose(demands, span)
        except errors.NotEnough:
            raise errors.with_sentence(error, (
                'All enrolled resources would not be enough, so there is nothing to wait for.'
            )) from error


def next_at(conf, acquisition, attempts, now):
    """Return the time of the timed try after a number of attempts; None: the type has none.

    :param conf: the options of [acquire].
    """
    if acquisition.type == acquire.RETRIES:
        return now + retry_pauses.with_jitter(
            acquisition.retry_pause_seconds, conf.retry_pause_longest_seconds, attempts,
            random.random())
    if acquisition.type == acquire.WAIT:
        return now + datetime.timedelta(seconds=conf.wait_look_seconds)
    return None
