# SPDX-License-Identifier: Apache-2.0
"""How an action went is written down, in one transaction that proves that the claim is ours."""
import dataclasses
import datetime

from oslo_log import log

from climate.db import acquisitions
from climate.db import allocations
from climate.db import events
from climate.db import journal
from climate.db import lease_claims
from climate.db import leases
from climate.db import reservations
from climate.db import resources
from climate.domain import acquire
from climate.domain import agenda
from climate.domain import lifecycle
from climate.manager import binding
from climate.manager import claims
from climate.manager import core
from climate.manager import endings
from climate.manager import notify
from climate.manager import results
from climate.manager import task_end
from climate.manager.acquire import closing
from climate.manager.acquire import line
from climate.manager.acquire import returns

LOG = log.getLogger(__name__)

# They release the promises of a lease by themselves.
_ENDINGS = (agenda.END, agenda.DELETE)
# Of which hosts its owner is not told.
_NOT_GIVEN_BACK = ('Hosts that were cleared for it could not be given back: its history says to '
                   'administrators which, and why.')
# After these a lease may have no need of what it had, or was promised.
_REARRANGING = (agenda.START, agenda.HEAL, agenda.UPDATE)


class Outcomes:
    """Writes down the Outcomes of claimed events."""

    def __init__(self, parts):
        self._core = parts
        conf = parts.conf.manager
        self._busy_pause = datetime.timedelta(seconds=conf.busy_seconds)
        self._waits_limit = int(conf.busy_limit_seconds / max(conf.busy_seconds, 0.01))
        self._pause = agenda.Pause(conf.retry_seconds, conf.retry_longest_seconds,
                                   conf.event_max_retries)
        self._claim_length = datetime.timedelta(seconds=conf.claim_seconds)
        self._healing = (datetime.timedelta(seconds=conf.heal_seconds)
                         if conf.heal_seconds else None)

    @core.again_after_a_race
    def record(self, claim, outcome, goes_on=False):
        """Write the Outcome of a Claim down.

        :param goes_on: whoever holds the claim has time for what follows at once.
        :returns: the Event that follows and is claimed for them, or None.
        :raises ClaimLost: another manager has the lease; nothing is written.
        :raises LostRace: the event was moved while it was carried out; nothing is written.
        """
        now = self._core.clock()
        following = None
        claimed_for = (claim.event.claim_owner, now + self._claim_length) if goes_on else None
        with self._core.database.writer() as connection:
            self._release(connection, claim, outcome)
            unchanged = claims.refuse_overtaken(connection, claim.lease)
            late = binding.late_comers(connection, claim.lease.id, outcome.in_vain)
            if late:
                outcome = outcome.without(late)
            line.lock(connection, claim.lease)
            if outcome.free or (outcome.bindings and claim.event.kind == agenda.UPDATE):
                line.wake(connection, now)
            pause = self._pause_after(claim, outcome)
            self._record_reservations(connection, claim, outcome, now)
            if pause is not None:
                self._record_again(connection, claim, outcome, now, pause)
            else:
                outcome = _explained(connection, claim, outcome)
                following = self._record_end(connection, claim, outcome, now, unchanged,
                                             claimed_for)
            if outcome.over and claim.event.kind not in _ENDINGS:
                endings.end_early(connection, claim.lease.id, now)
        return following

    def _pause_after(self, claim, outcome):
        """How long until the event is tried again; None when it is over with it."""
        event = claim.event
        if self._has_failed(event, outcome):
            if event.kind == agenda.ACQUIRE and claim.lease.acquire_type == acquire.BEST_EFFORT:
                # Its time is limited by itself, and what it cleared must be put right in the end.
                return self._pause.after(min(event.attempts + 1, self._pause.attempts)) or (
                    self._busy_pause)
            # What heals has its own pauses, without an end but that of the lease.
            return None if event.kind == agenda.HEAL else self._pause.after(event.attempts + 1)
        return self._busy_pause if outcome.result == results.BUSY else None

    def _has_failed(self, event, outcome):
        """True also where something in the cloud takes longer than it may."""
        if outcome.result == results.BUSY:
            return not outcome.patient and event.waits >= self._waits_limit
        return outcome.result == results.FAILED

    @staticmethod
    def _release(connection, claim, outcome):
        for reservation in claim.lease.reservations:
            if reservation.id in outcome.free:
                resources.release(connection, reservation.id)
            elif reservation.id in outcome.bindings:
                resources.release_others(connection, reservation.id)

    @staticmethod
    def _record_reservations(connection, claim, outcome, now):
        over = [key for key, state in outcome.states.items()
                if state == lifecycle.RESERVATION_DELETED]
        if over and claim.event.kind not in _ENDINGS:
            allocations.cut(connection, over, now)
        for reservation in claim.lease.reservations:
            values = {}
            if reservation.id in outcome.states:
                values['state'] = outcome.states[reservation.id]
            if reservation.id in outcome.bindings:
                values['binding'] = outcome.bindings[reservation.id]
            if values:
                reservations.change(connection, [reservation.id], now, **values)

    @staticmethod
    def _waits_left(event):
        """How often a failed event has waited: what heals begins anew each time."""
        return 0 if event.kind == agenda.HEAL else event.waits

    def _record_again(self, connection, claim, outcome, now, pause):
        event, lease = claim.event, claim.lease
        failed = self._has_failed(event, outcome)
        events.finish(connection, event, now, lifecycle.EVENT_UNDONE, due_at=now + pause,
                      attempts=event.attempts + failed,
                      waits=event.waits + 1 if not failed else self._waits_left(event))
        if claim.has_task:
            # The task stays on the lease, so that it is shown; the event alone guards it.
            lease_claims.hold_task(connection, [lease], now)
        if failed and event.kind == agenda.ACQUIRE and lease.acquisition.type in acquire.QUEUED:
            # Those behind it do not wait for what failed here.
            acquisitions.change(connection, lease.id, now, heard=lease.acquisition.wakes)
            line.pass_on(connection, lease.acquisition, now)
        if failed:
            _tell(connection, claim, now, f'{event.kind} failed', outcome.reason)
            LOG.warning('Lease %s: %s failed, again in %s: %s', lease.id, event.kind, pause,
                        outcome.reason)

    def _record_end(self, connection, claim, outcome, now, unchanged, claimed_for):
        event, lease, following = claim.event, claim.lease, None
        good = outcome.result in (results.DONE, results.MOOT)
        events.finish(connection, event, now,
                      lifecycle.EVENT_DONE if good else lifecycle.EVENT_ERROR)
        if claim.has_task:
            lease, following = task_end.write(connection, claim, outcome, good, now, unchanged,
                                              claimed_for)
        if good and event.kind in _REARRANGING:
            returns.order(connection, lease, now)
        if event.kind in (agenda.START, agenda.HEAL):
            self._record_healing(connection, claim, outcome, good, now)
        if event.kind != agenda.HEAL:
            self._tell_end(connection, claim, outcome, lease, good, now)
        return following

    @staticmethod
    def _tell_end(connection, claim, outcome, lease, good, now):
        event = claim.event
        _tell(connection, claim, now, event.kind if good else f'{event.kind} given up',
              outcome.reason)
        if good and outcome.result != results.MOOT and event.kind in agenda.SHOWN:
            notify.publish(connection, lease, now, f'event.{event.kind}')
        elif not good and event.kind == agenda.DROP_TRUST:
            # No lease has it from here on, so that the reaper drops it when Keystone is back.
            leases.change(connection, leases.get(connection, lease.id), now, trust_id=None)
            LOG.warning('Lease %s: its trust is left to the reaper: %s', lease.id,
                        outcome.reason)
        elif not good and event.kind == agenda.ACQUIRE:
            closing.give_up(connection, leases.get(connection, lease.id), lifecycle.USED_UP,
                            outcome.reason, now)
        elif not good:
            if not claim.has_task:
                leases.change(connection, leases.get(connection, lease.id), now, reason=(
                    _NOT_GIVEN_BACK if event.kind == agenda.GIVE_BACK else outcome.reason))
            LOG.error('Lease %s: %s failed for good, look at it: %s', lease.id, event.kind,
                      outcome.reason)
            notify.publish(connection, lease, now, 'error')

    def _record_healing(self, connection, claim, outcome, good, now):
        """Let a start that was given up be tried again, or say that it went well at last."""
        lease, event = claim.lease, claim.event
        if event.kind == agenda.START:
            if not good and self._healing is not None and lease.end > now:
                again = events.new(lease.id, agenda.HEAL, now + self._healing, now)
                events.add(connection, [again])
                acquisitions.heal(connection, lease, now)
            return
        if not good:
            moments = (now + (self._healing or self._busy_pause),
                       line.next_cleaned(connection, self._core.conf, now))
            events.move(connection, event, now,
                        min(each for each in moments if each is not None))
            _tell(connection, claim, now, f'{event.kind} failed', outcome.reason)
            return
        acquisitions.leave(connection, lease.id, now)
        if outcome.result == results.DONE:
            events.close(connection, lease.id, now, (agenda.START,))
            journal.note(connection, lease.id, now, 'climate', 'healed',
                         f'It failed to start before: {lease.reason}')
            notify.publish(connection, leases.get(connection, lease.id), now,
                           f'event.{agenda.START}')


def _tell(connection, claim, now, what, why):
    """Let the history of a lease say what became of an event; a failure that lasts, only once."""
    if claim.event.kind in agenda.UNTOLD:
        return
    tell = journal.note if what == claim.event.kind else journal.note_if_new
    tell(connection, claim.lease.id, now, 'climate', what, why)


def _explained(connection, claim, outcome):
    """The Outcome; of an end that was given up, the reason names what nobody else may have now."""
    if claim.event.kind not in _ENDINGS or outcome.result in (results.DONE, results.MOOT):
        return outcome
    left = {each.id for each in claim.lease.open_reservations} - outcome.free
    promised = {given.resource_id for given in allocations.of_reservations(connection, left)}
    kept = {each.name for each in resources.with_ids(connection, promised)}
    kept |= {each.name for each in resources.held(connection, left)}
    if not kept:
        return outcome
    return dataclasses.replace(outcome, reason=(
        f'{outcome.reason} Until this is mended and the lease deleted, nobody else gets what it '
        f'has of {", ".join(sorted(kept))}.'))
