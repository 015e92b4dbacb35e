# SPDX-License-Identifier: Apache-2.0
"""One try of a lease that is being acquired: it gets its resources, or is put off, or given up."""
import dataclasses
import datetime
import random

from oslo_log import log

from climate import errors
from climate.db import acquisitions
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.domain import acquire
from climate.domain import lifecycle
from climate.manager import booking
from climate.manager import claims
from climate.manager import core as cores
from climate.manager import results
from climate.manager import trusts
from climate.manager.acquire import closing
from climate.manager.acquire import holding
from climate.manager.acquire import hunt
from climate.manager.acquire import line
from climate.manager.acquire import sought
from climate.manager.acquire import words

LOG = log.getLogger(__name__)


class Tries:
    """Carries out the event ACQUIRE; what came of it is written with the end of the claim."""

    def __init__(self, core):
        self._core = core
        self._conf = core.conf.acquire
        self._booking = booking.Booking(core)
        self._holding = holding.Holding(core)
        self._hunt = hunt.Hunt(core)
        self._breath = datetime.timedelta(seconds=core.conf.manager.busy_seconds)

    def carry_out(self, claim, now):
        """Try once; returns an Outcome, RECORDED unless a hunt goes on.

        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        lease = claim.lease
        hunted = lease.acquisition.type == acquire.BEST_EFFORT
        try:
            if lease.given_up_at is not None and lease.given_up_at <= now:
                return self._time_out(claim, now, hunted)
            if hunted:
                return self._hunt_on(claim, now)
            self._try(claim, now)
        except sought.Withdrawn:
            self._finish(claim, now)
        return results.Outcome(results.RECORDED)

    def _time_out(self, claim, now, hunted):
        try:
            achieved = self._hunt.abandon(claim.lease, now) if hunted else None
        except errors.ClimateError as error:
            # No lease is over while it has anything of others in its hands.
            self._hunt.tell_of_delay(claim.lease, error, now)
            return results.Outcome(results.BUSY, error.message, patient=True)
        self._give_up(claim, words.too_late(claim.lease, achieved), now)
        return results.Outcome(results.RECORDED)

    def _hunt_on(self, claim, now):
        try:
            outcome = self._hunt.step(claim, now)
            if outcome.result != results.DONE:
                return outcome
            self._take(claim, now)
        except errors.ClimateError as error:
            # Its time is limited by itself; until then whatever failed may go well yet.
            LOG.info('Lease %s: the hunt is carried on in a moment: %s', claim.lease.id,
                     error.message)
            return results.Outcome(results.BUSY, error.message, patient=True)
        return results.Outcome(results.RECORDED)

    def _try(self, claim, now):
        claim = self._reread(claim)
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
            self._put_off(claim, words.not_yet(error, held), now)
        except (line.OutOfTurn, errors.LostRace):
            self._yield(claim, now)

    def _take(self, claim, now):
        """Give a lease its resources.

        :raises NotEnough: they are not free.
        :raises OutOfTurn: others come first.
        """
        lease, acquisition = claim.lease, claim.lease.acquisition
        span = lease.interval_from(now)
        wishes = self._booking.wishes_of_all(lease)

        def write(connection, chosen):
            current = sought.current(connection, claim.lease)
            line.lock(connection, current)
            if acquisition.type in acquire.QUEUED:
                line.refuse_out_of_turn(connection, acquisition, now, alone=not _has_turn(claim))
            self._booking.replace(connection, chosen, now, [each.id for each in lease.reservations])
            events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)
            acquisitions.change(connection, lease.id, now,
                                attempts=acquisition.attempts + _counts(acquisition, now))
            closing.acquired(connection, current, span, now, self._prepares(lease))
        self._booking.book(wishes, span, now, write)
        LOG.info('Lease %s: acquired, %s to %s', lease.id, span.start.isoformat(),
                 span.end.isoformat())

    @cores.again_after_a_race
    def _put_off(self, claim, reason, now):
        """Write down that a try failed, and when the next one is, if there is one."""
        lease, seen = claim.lease, claim.lease.acquisition
        with self._core.database.writer() as connection:
            current = sought.current(connection, claim.lease)
            line.lock(connection, current)
            acquisition = acquisitions.get(connection, lease.id)
            attempts = acquisition.attempts + _counts(acquisition, now)
            next_at = self._next_at(acquisition, attempts, now)
            # What was given back since this try began may be what it lacked.
            missed = acquisition.wakes != seen.wakes
            if next_at is None and missed:
                # So it was not the last one yet.
                attempts, next_at = acquisition.attempts, acquisition.next_at
            text = trusts.with_notice(lease, words.attempt(lease, attempts, next_at, reason))
            if text != current.reason:
                # What was found before, and costs nothing, is not told again.
                journal.note_if_new(connection, lease.id, now, 'climate', 'attempt', text)
            if next_at is None:
                events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)
                acquisitions.change(connection, lease.id, now, attempts=attempts)
                closing.give_up(connection, current, lifecycle.USED_UP, text, now)
                return
            is_first = acquisitions.first(connection) == lease.id
            moments = [next_at, current.given_up_at]
            if is_first:
                moments.append(line.next_cleaned(connection, self._core.conf, now))
            due_at = now if missed else min(each for each in moments if each is not None)
            # What failed before has been overcome.
            events.finish(connection, claim.event, now, lifecycle.EVENT_UNDONE, due_at=due_at,
                          waits=0, attempts=0)
            acquisitions.change(connection, lease.id, now, attempts=attempts, next_at=next_at,
                                heard=seen.wakes)
            if text != current.reason:
                leases.change(connection, current, now, reason=text)
            if is_first or seen.wakes != seen.heard:
                line.pass_on(connection, acquisition, now)

    def _next_at(self, acquisition, attempts, now):
        """When it is tried next by the clock; None where its retries are used up."""
        if acquisition.type == acquire.WAIT:
            return now + datetime.timedelta(seconds=self._conf.wait_look_seconds)
        if attempts > acquisition.retries:
            return None
        if acquisition.next_at > now:
            return acquisition.next_at
        return now + acquire.pause(acquisition.retry_pause_seconds,
                                   self._conf.retry_pause_longest_seconds, attempts,
                                   random.random())

    @cores.again_after_a_race
    def _yield(self, claim, now):
        """Let those before it in line try first; it is tried again when they have."""
        with self._core.database.writer() as connection:
            line.lock(connection, sought.current(connection, claim.lease))
            if not _has_turn(claim):
                line.begin_anew(connection, now)
            events.finish(connection, claim.event, now, lifecycle.EVENT_UNDONE,
                          due_at=now + self._breath, waits=claim.event.waits + 1)

    @cores.again_after_a_race
    def _give_up(self, claim, reason, now):
        with self._core.database.writer() as connection:
            current = sought.current(connection, claim.lease)
            line.lock(connection, current)
            events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)
            closing.give_up(connection, current, lifecycle.TOO_LATE, reason, now)

    @cores.again_after_a_race
    def _finish(self, claim, now):
        with self._core.database.writer() as connection:
            claims.refuse_overtaken(connection, claim.lease)
            events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)

    def _reread(self, claim):
        """The claim with the acquisition as it is now: what was given back until now is seen."""
        with self._core.database.reader() as connection:
            found = acquisitions.of_leases(connection, [claim.lease.id])
        return dataclasses.replace(claim, lease=dataclasses.replace(
            claim.lease, acquisition=found[claim.lease.id]))

    def _prepares(self, lease):
        return any(self._core.registry.plugin(each.resource_type).prepares(each.request)
                   for each in lease.open_reservations)


def _has_turn(claim):
    """True for a try to which the line came, or that has let the others try first."""
    acquisition = claim.lease.acquisition
    return acquisition.wakes != acquisition.heard or claim.event.waits > 0


def _counts(acquisition, now):
    """1 for a try that is counted, else 0: of retries, only those by the clock are."""
    if acquisition.type != acquire.RETRIES:
        return 1
    return int(acquisition.next_at is not None and acquisition.next_at <= now)
