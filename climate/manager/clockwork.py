# SPDX-License-Identifier: Apache-2.0
"""The clockwork: claim the events that are due, carry them out, write down how it went."""
import dataclasses
import datetime
import threading

from oslo_log import log

from climate import errors
from climate.db import allocations
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.db import resources
from climate.domain import agenda
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import actions
from climate.manager import binding
from climate.manager import core
from climate.manager import endings
from climate.manager import notify

LOG = log.getLogger(__name__)

# More than one batch of due events is looked at, because those of busy leases are passed over.
_LOOK = 500
# They release the promises of a lease by themselves.
_ENDINGS = (agenda.END, agenda.DELETE)


@dataclasses.dataclass(frozen=True)
class Claim:
    """An event that this manager carries out, and the lease it belongs to."""

    event: records.Event
    lease: records.Lease

    @property
    def has_task(self):
        """True where the claim holds the lease too; a task left there may be another event's."""
        return self.event.kind in agenda.TASK_OF


class Clockwork:
    """Carries out events, those of one lease one after another, of different leases at once."""

    def __init__(self, parts, owner, submit):
        """Prepare; nothing runs yet.

        :param owner: the name under which this manager claims.
        :param submit: `submit(function, argument)` runs it, on another thread or at once.
        """
        self._core = parts
        self._owner = owner
        self._submit = submit
        self._actions = actions.Actions(parts)
        conf = parts.conf.manager
        self._claim_length = datetime.timedelta(seconds=conf.claim_seconds)
        self._busy_pause = datetime.timedelta(seconds=conf.busy_seconds)
        self._waits_limit = int(conf.busy_limit_seconds / max(conf.busy_seconds, 0.01))
        self._pause = agenda.Pause(conf.retry_seconds, conf.retry_longest_seconds,
                                   conf.event_max_retries)
        self._running = {}
        self._lock = threading.Lock()

    @property
    def running(self):
        """How many events this manager is carrying out."""
        with self._lock:
            return len(self._running)

    def tick(self, now):
        """Claim events that are due at `now` and let them run; returns how many."""
        room = self._core.conf.manager.workers - self.running
        if room <= 0:
            return 0
        with self._core.database.reader() as connection:
            due = events.due(connection, now, _LOOK)
            busy = events.busy_leases(connection, {event.lease_id for event in due}, now)
        count = 0
        for event in agenda.next_of_each_lease(due, busy)[:room]:
            claim = self._claim(event, now)
            if claim is not None:
                # At once, so that no claim is left lying when the next one fails.
                with self._lock:
                    self._running[event.id] = claim
                self._submit(self._carry_out, claim)
                count += 1
        return count

    def next_moment(self):
        """When the next event is due, or None."""
        with self._core.database.reader() as connection:
            return events.next_moment(connection)

    def prolong(self, now):
        """Hold on to the claims of the events that are running."""
        with self._lock:
            claims = list(self._running.values())
        until = now + self._claim_length
        for claim in claims:
            with self._core.database.writer() as connection:
                held = events.hold(connection, claim.event, until)
                if held and claim.has_task:
                    held = leases.hold_task(connection, claim.lease, until)
            if not held:
                LOG.warning('Event %s of lease %s: another manager has taken it over',
                            claim.event.id, claim.lease.id)

    def _claim(self, event, now):
        """The Claim of an event, or None where there is nothing to do or another was faster."""
        until = now + self._claim_length
        task = agenda.TASK_OF.get(event.kind)
        try:
            with self._core.database.writer() as connection:
                lease = leases.lock(connection, event.lease_id)
                event = agenda.still_due(lease, event, now)
                claimed = event and events.claim(connection, event, self._owner, now, until)
                if claimed is None:
                    return None
                if agenda.is_moot(lease, event):
                    events.finish(connection, claimed, now, lifecycle.EVENT_DONE)
                    return None
                if task is not None:
                    lease = leases.begin_task(connection, lease, task, self._owner, now, until)
                return Claim(claimed, lease)
        except (errors.LostRace, errors.LeaseNotFound):
            return None
        except errors.BadTransition as error:
            LOG.debug('Event %s waits: %s', event.id, error.message)
            return None

    def _carry_out(self, claim):
        lease, event = claim.lease, claim.event
        try:
            outcome = self._actions.perform(lease, event, self._core.clock())
        except Exception as error:  # A door: one event must not stop the others.
            LOG.exception('Lease %s: %s failed unexpectedly', lease.id, event.kind)
            outcome = actions.Outcome(actions.FAILED, f'Unexpected: {error}')
        try:
            self._record(claim, outcome)
        except errors.LostRace:
            LOG.warning('Lease %s: another manager has taken over %s; its word counts',
                        lease.id, event.kind)
        except Exception:  # The same door: the claim ends, and the event is carried out anew.
            LOG.exception('Lease %s: how %s went could not be written down; it is done again',
                          lease.id, event.kind)
        finally:
            with self._lock:
                self._running.pop(event.id, None)
            self._core.wake()

    @core.again_after_a_race
    def _record(self, claim, outcome):
        now = self._core.clock()
        with self._core.database.writer() as connection:
            late = binding.late_comers(connection, claim.lease.id, outcome.in_vain)
            if late:
                outcome = outcome.without(late)
            pause = self._pause_after(claim.event, outcome)
            self._record_reservations(connection, claim, outcome, now)
            if pause is not None:
                self._record_again(connection, claim, outcome, now, pause)
            else:
                self._record_end(connection, claim, outcome, now)
            if outcome.over and claim.event.kind not in _ENDINGS:
                endings.end_early(connection, claim.lease.id, now)

    def _pause_after(self, event, outcome):
        """How long until the event is tried again; None when it is over with it."""
        if self._has_failed(event, outcome):
            return self._pause.after(event.attempts + 1)
        return self._busy_pause if outcome.result == actions.BUSY else None

    def _has_failed(self, event, outcome):
        """True also where something in the cloud takes longer than it may."""
        if outcome.result == actions.BUSY:
            return not outcome.patient and event.waits >= self._waits_limit
        return outcome.result == actions.FAILED

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
            if reservation.id in outcome.free:
                resources.release(connection, reservation.id)
            elif reservation.id in outcome.bindings:
                resources.release_others(connection, reservation.id)

    def _record_again(self, connection, claim, outcome, now, pause):
        event, lease = claim.event, claim.lease
        failed = self._has_failed(event, outcome)
        events.finish(connection, event, now, lifecycle.EVENT_UNDONE, due_at=now + pause,
                      attempts=event.attempts + failed, waits=event.waits + (not failed))
        if claim.has_task:
            # The task stays on the lease, so that it is shown; the event alone guards it.
            leases.hold_task(connection, lease, now)
        if failed:
            journal.note(connection, lease.id, now, 'climate', f'{event.kind} failed',
                         outcome.reason)
            LOG.warning('Lease %s: %s failed, again in %s: %s', lease.id, event.kind, pause,
                        outcome.reason)

    def _record_end(self, connection, claim, outcome, now):
        event, lease = claim.event, claim.lease
        good = outcome.result in (actions.DONE, actions.MOOT)
        events.finish(connection, event, now,
                      lifecycle.EVENT_DONE if good else lifecycle.EVENT_ERROR)
        if claim.has_task:
            lease = self._end_task(connection, claim, outcome, good, now)
        journal.note(connection, lease.id, now, 'climate',
                     event.kind if good else f'{event.kind} given up', outcome.reason)
        if good and outcome.result != actions.MOOT and event.kind in agenda.SHOWN:
            notify.publish(connection, lease, now, f'event.{event.kind}')
        elif not good and event.kind == agenda.DROP_TRUST:
            # No lease has it from here on, so that the reaper drops it when Keystone is back.
            leases.change(connection, leases.get(connection, lease.id), now, trust_id=None)
            LOG.warning('Lease %s: its trust is left to the reaper: %s', lease.id,
                        outcome.reason)
        elif not good:
            if not claim.has_task:
                leases.change(connection, leases.get(connection, lease.id), now,
                              reason=outcome.reason)
            LOG.error('Lease %s: %s failed for good, look at it: %s', lease.id, event.kind,
                      outcome.reason)
            notify.publish(connection, lease, now, 'error')

    @staticmethod
    def _end_task(connection, claim, outcome, good, now):
        lease, event = claim.lease, claim.event
        state = lifecycle.after(lease.state, lease.task, good)
        if outcome.result == actions.MOOT:
            state = lease.state
        # What went wrong before stays readable when the end went well, and so does what was said
        # of the lease when it was made.
        retried = event.kind == agenda.START and event.attempts
        reason = outcome.reason or (None if retried else lease.reason)
        values = {}
        over = good and event.kind in (agenda.END, agenda.DELETE)
        if over:
            values['ended_at'] = now
        leases.end_task(connection, lease, now, state, reason, **values)
        LOG.info('Lease %s: %s, %s %s, now %s', lease.id, lease.state, event.kind,
                 outcome.result, state)
        if over:
            events.close(connection, lease.id, now,
                         (agenda.PREPARE, agenda.START, agenda.UPDATE, agenda.CHECK,
                          agenda.BEFORE_END))
        after = leases.get(connection, lease.id)
        if over and event.kind == agenda.DELETE:
            endings.bury(connection, after, now)
        elif over and lease.trust_id is not None:
            events.add(connection, [events.new(lease.id, agenda.DROP_TRUST, now, now)])
        return after
