# SPDX-License-Identifier: Apache-2.0
"""One try to acquire the resources of a lease: it succeeds, is put off, or is given up."""
import dataclasses
import datetime
import random

from oslo_log import log

from climate import errors
from climate.db import acquisitions
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.db import wait_queue
from climate.domain import acquire
from climate.domain import acquisition_reasons
from climate.domain import lifecycle
from climate.domain import minimum_need
from climate.domain import refusals
from climate.domain import retry_pauses
from climate.domain import texts
from climate.manager import core as cores
from climate.manager import ownership
from climate.manager import preparations
from climate.manager import results
from climate.manager.acquisition import closing
from climate.manager.acquisition import hold_back
from climate.manager.booking import booking
from climate.manager.booking import refused_demand
from climate.manager.clearing import reconcile
from climate.manager.queue import bound
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)


# An entry in the history that is not older than this is of the same try for its reader.
_AT_ONCE = datetime.timedelta(seconds=10)


class Tries:
    """Carries out the event ACQUIRE; its result is written together with the end of the claim."""

    def __init__(self, core):
        self._core = core
        self._conf = core.conf.acquire
        self._booking = booking.Booking(core)
        self._refused = refused_demand.RefusedDemand(core)
        self._holding = hold_back.Holding(core)
        self._clearing = reconcile.Reconciler(core)
        self._breath = datetime.timedelta(seconds=core.conf.manager.busy_seconds)

    def carry_out(self, claim, now):
        """Try once; returns an Outcome, RECORDED unless host clearing goes on.

        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        lease = claim.lease
        clears_hosts = lease.acquisition.type == acquire.BEST_EFFORT
        try:
            if lease.given_up_at is not None and lease.given_up_at <= now:
                return self._time_out(claim, now, clears_hosts)
            if clears_hosts:
                return self._clear_on(claim, now)
            self._try(claim, now)
        except ownership.Withdrawn:
            self._finish(claim, now)
        return results.Outcome(results.RECORDED)

    def _time_out(self, claim, now, clears_hosts):
        try:
            achieved = self._clearing.abandon(claim.lease, now) if clears_hosts else None
        except errors.ClimateError as error:
            # A lease must not end while it still affects hosts or servers of other projects.
            self._clearing.tell_of_delay(claim.lease, error, now)
            return results.Outcome(results.BUSY, texts.of_error(error), patient=True)
        self._give_up(claim, acquisition_reasons.too_late(claim.lease, achieved), now)
        return results.Outcome(results.RECORDED)

    def _clear_on(self, claim, now):
        try:
            outcome = self._clearing.step(claim, now)
            if outcome.result != results.DONE:
                return outcome
            self._take(claim, now)
        except errors.ClimateError as error:
            # A best effort has a time limit of its own. Until then the next step may succeed.
            LOG.info('Lease %s: host clearing goes on in a moment: %s', claim.lease.id,
                     error.message)
            return results.Outcome(results.BUSY, texts.of_error(error), patient=True)
        return results.Outcome(results.RECORDED)

    def _try(self, claim, now):
        claim = self._reread(claim)
        short = self._plain_shortage(claim.lease, now)
        if short is not None:
            self._put_off(claim, texts.same(short.message), now)
            return
        try:
            try:
                self._take(claim, now)
            except errors.NotEnough:
                if not self._holding.take_from_others(claim.lease):
                    raise
                self._take(claim, now)
        except errors.NotEnough as error:
            held = self._holding.hold(claim.lease, self._booking.wishes_of_all(claim.lease),
                                      claim.lease.interval_from(now), now)
            self._put_off(claim, texts.of_error(error), now, held)
        except (wakeups.OutOfTurn, errors.LostRace):
            self._yield(claim, now)

    def _plain_shortage(self, lease, now):
        """Return why a lease that is not the first plainly does not fit, or None.

        So a try that cannot succeed costs one statement for each pool, however many reservations
        the lease has. The first in the queue is always tried: it may get what others hold back,
        and holds back what it can.
        """
        needed = lease.acquisition.least
        if needed is None:
            needed = minimum_need.of(wish.need for wish in self._booking.wishes_of_all(lease))
        own = [each.id for each in lease.reservations if each.allocated]
        with self._core.database.reader() as connection:
            short = bound.Bound(connection, self._core.conf, now, own).shortage(
                needed, lease.interval_from(now).end)
            if short is None or wait_queue.is_first(connection, lease.id):
                return None
        return short

    def _take(self, claim, now):
        """Book the resources of a lease and let it start.

        :raises NotEnough: the resources are not free.
        :raises OutOfTurn: other leases in the wait queue come first.
        """
        lease, acquisition = claim.lease, claim.lease.acquisition
        span = lease.interval_from(now)
        wishes = self._booking.wishes_of_all(lease)

        def write(connection, chosen):
            current = ownership.current(connection, claim.lease)
            wakeups.lock(connection, current)
            if acquisition.type in acquire.QUEUED:
                wakeups.refuse_out_of_turn(connection, acquisition, now,
                                           alone=not _has_turn(claim))
            self._booking.replace(connection, chosen, [each.id for each in lease.reservations])
            events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)
            acquisitions.change(connection, lease.id, now,
                                attempts=acquisition.attempts + _counts(acquisition, now))
            closing.acquired(connection, current, span, now, preparations.of(
                self._core, lease.open_reservations))
            if acquisition.type in acquire.QUEUED:
                # The resources that are left may be enough for another lease in the queue. They
                # were not enough for the leases before this one.
                wakeups.pass_on(connection, self._core.conf, acquisition, now)
        self._booking.book(wishes, span, now, write)
        LOG.info('Lease %s: acquired, %s to %s', lease.id, span.start.isoformat(),
                 span.end.isoformat())

    @cores.again_after_a_race
    def _put_off(self, claim, reason, now, held=''):
        """Write down that a try failed, and when the next one is; or give the lease up.

        :param held: what is held back for the lease now, in words.
        """
        lease, seen = claim.lease, claim.lease.acquisition
        with self._core.database.writer() as connection:
            current = ownership.current(connection, claim.lease)
            wakeups.lock(connection, current)
            acquisition = acquisitions.get(connection, lease.id)
            attempts = acquisition.attempts + _counts(acquisition, now)
            next_at = self._next_at(acquisition, attempts, now)
            # Resources that were released since this try began may be those that it lacked.
            missed = acquisition.wakes != seen.wakes
            if next_at is None and missed:
                # So the lease gets one more try, which is not counted.
                attempts, next_at = acquisition.attempts, acquisition.next_at
            plain, text = (
                acquisition_reasons.with_notice(
                    lease, acquisition_reasons.attempt(lease, attempts, next_at, each))
                for each in (reason, acquisition_reasons.with_held(reason, held)))
            # A reason that the lease shows already is not added to its history again. What is held
            # back at once belongs to the entry of the first try, which was written just before.
            if text != current.reason_text and not (held and journal.replace(
                    connection, lease.id, now - _AT_ONCE, 'attempt', plain, text)):
                journal.note_if_new(connection, lease.id, now, 'climate', 'attempt', text)
            if next_at is None:
                events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)
                acquisitions.change(connection, lease.id, now, attempts=attempts)
                self._refused.waited_in_vain(connection, lease, refusals.RETRIES_USED_UP, now)
                closing.give_up(connection, current, lifecycle.USED_UP, text, now)
                return
            is_first = wait_queue.is_first(connection, lease.id)
            moments = [next_at, current.given_up_at]
            if is_first:
                moments.append(wakeups.next_cleaned(connection, self._core.conf, now))
            due_at = now if missed else min(each for each in moments if each is not None)
            # This try ran to its end, so the count of failures starts again at 0.
            events.finish(connection, claim.event, now, lifecycle.EVENT_UNDONE, due_at=due_at,
                          waits=0, attempts=0)
            acquisitions.change(connection, lease.id, now, attempts=attempts, next_at=next_at,
                                heard=seen.wakes)
            if text != current.reason_text:
                leases.change(connection, current, now, reason=text)
            if is_first or seen.wakes != seen.heard:
                wakeups.pass_on(connection, self._core.conf, acquisition, now)

    def _next_at(self, acquisition, attempts, now):
        """Return when the clock starts the next try; None if the retries are used up."""
        if acquisition.type == acquire.WAIT:
            return now + datetime.timedelta(seconds=self._conf.wait_look_seconds)
        if attempts > acquisition.retries:
            return None
        if acquisition.next_at > now:
            return acquisition.next_at
        return now + retry_pauses.with_jitter(acquisition.retry_pause_seconds,
                                              self._conf.retry_pause_longest_seconds, attempts,
                                              random.random())

    @cores.again_after_a_race
    def _yield(self, claim, now):
        """Let the leases before this one in the wait queue try first, and try again after them."""
        with self._core.database.writer() as connection:
            wakeups.lock(connection, ownership.current(connection, claim.lease))
            if not _has_turn(claim):
                wakeups.wake_first(connection, now)
            events.finish(connection, claim.event, now, lifecycle.EVENT_UNDONE,
                          due_at=now + self._breath, waits=claim.event.waits + 1)

    @cores.again_after_a_race
    def _give_up(self, claim, reason, now):
        with self._core.database.writer() as connection:
            current = ownership.current(connection, claim.lease)
            wakeups.lock(connection, current)
            events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)
            self._refused.waited_in_vain(connection, claim.lease, refusals.WAITED_TOO_LONG, now)
            closing.give_up(connection, current, lifecycle.TOO_LATE, reason, now)

    @cores.again_after_a_race
    def _finish(self, claim, now):
        with self._core.database.writer() as connection:
            ownership.refuse_overtaken(connection, claim.lease)
            events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)

    def _reread(self, claim):
        """Return the claim with its acquisition read again, to see what was released until now."""
        with self._core.database.reader() as connection:
            found = acquisitions.of_leases(connection, [claim.lease.id])
        return dataclasses.replace(claim, lease=dataclasses.replace(
            claim.lease, acquisition=found[claim.lease.id]))


def _has_turn(claim):
    """Return True if the wait queue notified this lease, or if the try has let others go first."""
    acquisition = claim.lease.acquisition
    return acquisition.wakes != acquisition.heard or claim.event.waits > 0


def _counts(acquisition, now):
    """Return 1 if this try counts as an attempt, else 0.

    For the type RETRIES only tries that the clock started count.
    """
    if acquisition.type != acquire.RETRIES:
        return 1
    return int(acquisition.next_at is not None and acquisition.next_at <= now)
