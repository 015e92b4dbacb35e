# SPDX-License-Identifier: Apache-2.0
"""One attempt to acquire the resources of a lease: it succeeds, is postponed, or is given up."""
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.db import acquisitions
from climate.db import allocations
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.db import wait_queue
from climate.domain import acquire
from climate.domain import acquisition_reasons
from climate.domain import lifecycle
from climate.domain import minimum_need
from climate.domain import refusals
from climate.domain import texts
from climate.manager import core as cores
from climate.manager import ownership
from climate.manager import preparations
from climate.manager import results
from climate.manager.acquisition import completion
from climate.manager.acquisition import first_attempt
from climate.manager.acquisition import hold_back
from climate.manager.booking import booking
from climate.manager.booking import limit_rations
from climate.manager.booking import refused_demand
from climate.manager.booking import wish_lists
from climate.manager.clearing import reconcile
from climate.manager.enforcement import questions
from climate.manager.limits import checking
from climate.manager.limits import subjects
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)

# Readers of the history see entries within this time as one attempt.
_SAME_ATTEMPT = datetime.timedelta(seconds=10)


class Attempts:
    """Carries out the event ACQUIRE, and writes its result together with the end of the claim."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core, for_waiting=True)
        self._refused = refused_demand.RefusedDemand(core)
        self._hold_back = hold_back.HoldBack(core)
        self._questions = questions.Questions(core)
        self._clearing = reconcile.Reconciler(core)
        self._busy_pause = datetime.timedelta(seconds=core.conf.manager.busy_seconds)

    def carry_out(self, claim):
        """Try once; return an Outcome, which is RECORDED unless host clearing goes on.

        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        lease, now = claim.lease, claim.at
        clears_hosts = lease.acquisition.type == acquire.BEST_EFFORT
        try:
            if lease.given_up_at is not None and lease.given_up_at <= now:
                return self._time_out(claim, clears_hosts)
            if clears_hosts:
                return self._continue_clearing(claim)
            self._try(self._reread(claim))
        except ownership.Withdrawn:
            self._finish(claim)
        return results.Outcome(results.RECORDED)

    def _time_out(self, claim, clears_hosts):
        try:
            achieved = self._clearing.abandon(claim.lease, claim.at) if clears_hosts else None
        except errors.ClimateError as error:
            # A lease must not end while it still affects hosts or servers of other projects.
            self._clearing.record_delay(claim.lease, error, claim.at)
            return results.Outcome(results.BUSY, texts.of_error(error), patient=True)
        self._give_up(claim, acquisition_reasons.too_late(claim.lease, achieved))
        return results.Outcome(results.RECORDED)

    def _continue_clearing(self, claim):
        try:
            outcome = self._clearing.step(claim, claim.at)
            if outcome.result != results.DONE:
                return outcome
            self._book(claim)
        except errors.EnforcementRefused as error:
            self._give_up(claim, texts.of_error(error), lifecycle.USED_UP)
        except errors.ClimateError as error:
            # Until the time limit of the best effort, a later step may succeed.
            LOG.info('Lease %s: host clearing is retried soon: %s', claim.lease.id, error.message)
            return results.Outcome(results.BUSY, texts.of_error(error), patient=True)
        return results.Outcome(results.RECORDED)

    def _try(self, claim):
        lease, now = claim.lease, claim.at
        shortage = self._sure_shortage(lease, now)
        if shortage is not None:
            self._postpone(claim, texts.same(shortage.message))
            return
        try:
            try:
                self._book(claim)
            except errors.NotEnough:
                if not self._hold_back.take_from_others(lease):
                    raise
                self._book(claim)
        except errors.NotEnough as error:
            held = self._hold_back.hold(lease, self._wishes(lease), lease.interval_from(now), now)
            self._postpone(claim, acquisition_reasons.of_shortage(lease, error), held)
        except errors.LimitExceeded as error:
            self._obey_limit(claim, error)
        except errors.EnforcementRefused as error:
            self._give_up(claim, texts.of_error(error), lifecycle.USED_UP)
        except (errors.EnforcementUnavailable, errors.EnforcementBusy) as error:
            self._postpone(claim, texts.of_error(error))
        except (wakeups.OutOfTurn, errors.LostRace):
            self._yield(claim)

    def _obey_limit(self, claim, error):
        """Postpone a lease that would exceed a limit, or give it up if it would do so for ever."""
        if error.kwargs['never']:
            self._give_up(claim, texts.of_error(error), lifecycle.USED_UP)
        else:
            self._postpone(claim, texts.of_error(error))

    def _wishes(self, lease):
        return wish_lists.of(self._core.registry, lease.open_reservations)

    def _sure_shortage(self, lease, now):
        """Return the Shortage of a lease whose try cannot succeed, or None.

        This costs one statement for each pool, while a try costs more for each reservation. The
        result is None for the first lease in the queue, because its try may get the resources that
        other leases hold back, and holds back resources itself.
        """
        needed = lease.acquisition.least
        if needed is None:
            needed = minimum_need.of(wish.need for wish in self._wishes(lease))
        own = [each.id for each in lease.reservations if each.allocated]
        with self._core.database.reader() as connection:
            shortage = wakeups.CapacityBound(connection, self._core.conf, now, own).shortage(
                needed, lease.interval_from(now).end)
            if shortage is None or wait_queue.is_first(connection, lease.id):
                return None
        return shortage

    def _book(self, claim):
        """Book the resources of a lease, which then starts.

        :raises NotEnough: the resources are not free.
        :raises OutOfTurn: other leases in the wait queue come first.
        :raises LimitExceeded: the lease would exceed a limit of its owner.
        """
        lease, acquisition, now = claim.lease, claim.lease.acquisition, claim.at
        span = lease.interval_from(now)
        limits = checking.applying(self._core, lease.project_id, lease.user_id, now)

        def write(connection, chosen, question):
            limits.refuse_excess(connection, subjects.of_attempt(self._core, lease, chosen, span))
            current = ownership.current(connection, lease)
            wakeups.lock(connection, current)
            if acquisition.type in acquire.QUEUED:
                wakeups.refuse_out_of_turn(connection, acquisition, now,
                                           alone=not _has_turn(claim))
            allocations.replace(connection, [each.id for each in lease.reservations], chosen)
            events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)
            acquisitions.change(connection, lease.id, now,
                                attempts=acquisition.attempts + _counts(acquisition, now))
            completion.acquired(connection, current, span, now, preparations.of(
                self._core, lease.open_reservations))
            if acquisition.type in acquire.QUEUED:
                # The remaining resources were not enough for the leases before this one, but may be
                # enough for a lease behind it.
                wakeups.pass_on(connection, self._core.conf, acquisition, now)
            question.settle(connection, leases.get(connection, lease.id), chosen)
        wishes, planned = self._wishes(lease), None
        types = {each.id: each.resource_type for each in lease.reservations}
        acquiring = dataclasses.replace(lease, start=span.start, end=span.end)
        if self._questions.asks(lease):
            planned = self._booking.plan(wishes, span, now)
        # A task reports the lease, because a refusal then ends it, and this try is over.
        with self._questions.of_new(None, acquiring, planned, commits=False) as question:
            question.book(planned, lambda chosen: limit_rations.attempt(
                self._core, limits, (wishes, types), chosen, lambda others, given:
                self._booking.book(others, span, now, lambda connection, booked: write(
                    connection, booked, question), planned=given)))
        LOG.info('Lease %s: acquired, %s to %s', lease.id, span.start.isoformat(),
                 span.end.isoformat())

    @cores.again_after_a_race
    def _postpone(self, claim, reason, held=''):
        """Write a failed attempt and the time of the next one, or give the lease up.

        :param held: the resources that are held back for the lease now, in words.
        """
        lease, seen, now = claim.lease, claim.lease.acquisition, claim.at
        with self._core.database.writer() as connection:
            current = ownership.current(connection, lease)
            wakeups.lock(connection, current)
            acquisition = acquisitions.get(connection, lease.id)
            attempts = acquisition.attempts + _counts(acquisition, now)
            next_at = self._next_at(acquisition, attempts, now)
            # True if resources were released during this try, which may have missed them.
            missed = acquisition.wakes != seen.wakes
            if next_at is None and missed:
                # The lease gets one more try, which is not counted.
                attempts, next_at = acquisition.attempts, acquisition.next_at
            text = self._note_attempt(connection, current, (attempts, next_at), reason, held, now)
            if next_at is None:
                events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)
                acquisitions.change(connection, lease.id, now, attempts=attempts)
                self._refused.record_waiting(connection, lease, refusals.RETRIES_USED_UP, now)
                completion.give_up(connection, current, lifecycle.USED_UP, text, now)
                return
            is_first = wait_queue.is_first(connection, lease.id)
            moments = [next_at, current.given_up_at]
            if is_first:
                moments.append(wakeups.next_cleaned(connection, self._core.conf, now))
            due_at = now if missed else min(at for at in moments if at is not None)
            # This try was completed, so the count of failures starts again at 0.
            events.finish(connection, claim.event, now, lifecycle.EVENT_UNDONE, due_at=due_at,
                          waits=0, attempts=0)
            acquisitions.change(connection, lease.id, now, attempts=attempts, next_at=next_at,
                                heard=seen.wakes)
            if text != current.reason_text:
                leases.change(connection, current, now, reason=text)
            if is_first or seen.wakes != seen.heard:
                wakeups.pass_on(connection, self._core.conf, acquisition, now)

    @staticmethod
    def _note_attempt(connection, lease, attempt, reason, held, now):
        """Add a failed attempt to the history of a lease; return its new reason.

        A reason that the lease already shows is not added again.

        :param attempt: (the number of attempts, the moment of the next one or None).
        """
        plain, text = (
            acquisition_reasons.attempt(lease, *attempt, variant)
            for variant in (reason, acquisition_reasons.with_held(reason, held)))
        # If the first attempt has just written an entry without the resources that are held back,
        # replace that entry.
        if text != lease.reason_text and not (held and journal.replace(
                connection, lease.id, now - _SAME_ATTEMPT, 'attempt', plain, text)):
            journal.note_if_new(connection, lease.id, now, 'climate', 'attempt', text)
        return text

    def _next_at(self, acquisition, attempts, now):
        """Return the time of the next timed try; None if the retries are used up."""
        if acquisition.type == acquire.RETRIES:
            if attempts > acquisition.retries:
                return None
            if acquisition.next_at > now:
                return acquisition.next_at
        return first_attempt.next_at(self._core.conf.acquire, acquisition, attempts, now)

    @cores.again_after_a_race
    def _yield(self, claim):
        """Try again after the leases before this one in the wait queue have been tried."""
        with self._core.database.writer() as connection:
            wakeups.lock(connection, ownership.current(connection, claim.lease))
            if not _has_turn(claim):
                wakeups.wake_first(connection, claim.at)
            events.finish(connection, claim.event, claim.at, lifecycle.EVENT_UNDONE,
                          due_at=claim.at + self._busy_pause, waits=claim.event.waits + 1)

    @cores.again_after_a_race
    def _give_up(self, claim, reason, result=lifecycle.TOO_LATE):
        now = claim.at
        with self._core.database.writer() as connection:
            current = ownership.current(connection, claim.lease)
            wakeups.lock(connection, current)
            events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)
            if result == lifecycle.TOO_LATE:
                self._refused.record_waiting(connection, claim.lease, refusals.WAITED_TOO_LONG, now)
            completion.give_up(connection, current, result, reason, now)

    @cores.again_after_a_race
    def _finish(self, claim):
        with self._core.database.writer() as connection:
            ownership.refuse_overtaken(connection, claim.lease)
            events.finish(connection, claim.event, claim.at, lifecycle.EVENT_DONE)

    def _reread(self, claim):
        """Return the claim with its acquisition read again, which shows the latest wake-ups."""
        with self._core.database.reader() as connection:
            acquisition = acquisitions.of_leases(connection, [claim.lease.id])[claim.lease.id]
        return dataclasses.replace(claim, lease=dataclasses.replace(
            claim.lease, acquisition=acquisition))


def _has_turn(claim):
    """Return True if the wait queue woke this lease, or if it has already yielded to others."""
    acquisition = claim.lease.acquisition
    return acquisition.wakes != acquisition.heard or claim.event.waits > 0


def _counts(acquisition, now):
    """Return 1 if this try counts as an attempt, else 0.

    For the type RETRIES, only timed tries count.
    """
    if acquisition.type != acquire.RETRIES:
        return 1
    return int(acquisition.next_at is not None and acquisition.next_at <= now)
