# SPDX-License-Identifier: Apache-2.0
"""The consequences of an event whose last try failed, and of its later retries."""
from oslo_log import log

from climate.db import acquisitions
from climate.db import allocations
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import results
from climate.manager.acquisition import completion
from climate.manager.leases import last_step
from climate.manager.leases import lease_end
from climate.manager.notifications import outbox
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)

_ENDED_AGAIN = texts.same('Not all of its reservations could be started, and they depend on each '
                          'other. So the reservations that had started were ended.')
_UNKNOWN = texts.same('the reason is not known.')


class GivenUp:
    """Writes the consequences of events that are given up: see ``event_kinds.AfterLastTry``."""

    def __init__(self, core, retries):
        self._core = core
        self._retries = retries

    def record(self, recording, lease):
        """Write the consequences of an event whose last try failed.

        :param lease: the Lease after the end of its task was written.
        """
        connection, now, outcome = recording.connection, recording.now, recording.outcome
        claim = recording.claim
        event, consequence = claim.event, claim.kind.given_up
        if consequence is event_kinds.AfterLastTry.LEFT_TO_START:
            LOG.warning('Lease %s: %s failed, and the start does its work instead: %s', lease.id,
                        event.kind, words(outcome))
            return
        if consequence is event_kinds.AfterLastTry.REAPED:
            # The reaper deletes trusts to which no lease refers, once Keystone is back.
            leases.change(connection, leases.get(connection, lease.id), now, trust_id=None)
            LOG.warning('Lease %s: its trust could not be deleted and is deleted later: %s',
                        lease.id, words(outcome))
            return
        if consequence is event_kinds.AfterLastTry.NOT_ACQUIRED:
            completion.give_up(connection, leases.get(connection, lease.id), lifecycle.USED_UP,
                               outcome.reason, now)
            return
        if consequence is event_kinds.AfterLastTry.NOT_EXTENDED:
            last_step.write(connection, leases.get(connection, lease.id), outcome.reason, now)
            return
        if consequence is event_kinds.AfterLastTry.HEALED and self._ends_partial_start(claim):
            ids = [each.id for each in lease.reservations]
            lease_end.end_early(connection, lease.id, now, _ENDED_AGAIN)
            allocations.cut(connection, ids, now)
            # Without the time of its start, a reservation is not billed.
            reservations.change(connection, ids, now, started_at=None)
        elif consequence is event_kinds.AfterLastTry.HEALED:
            self._schedule_retry(recording)
        if claim.kind.task is None:
            leases.change(connection, leases.get(connection, lease.id), now,
                          reason=outcome.reason if claim.kind.given_up_reason is None
                          else texts.same(claim.kind.given_up_reason))
        self._log(recording, event)
        if not self._retries.was_given_up(event):
            outbox.publish(connection, lease, now, 'error')

    def _log(self, recording, event):
        """Log that an Event failed, as an ERROR only if an operator must act."""
        claim, outcome = recording.claim, recording.outcome
        write, consequence = LOG.warning, 'it is tried again'
        if not self._retries.goes_on(claim) or self._ends_partial_start(claim):
            write, consequence = LOG.error, 'it is not tried again'
        elif self._retries.is_refused_for_long(event, outcome, recording.now):
            write, consequence = LOG.error, 'it is tried again, but has failed for long'
        write('Lease %s: %s failed, %s: %s', claim.lease.id, event.kind, consequence,
              words(outcome))

    def _ends_partial_start(self, claim):
        """Return whether a lease ends because only some reservations could be started."""
        return (self._core.conf.manager.take_back_partial_starts
                and claim.event.kind == event_kinds.START
                and any(each.depends_on for each in claim.lease.reservations))

    def _schedule_retry(self, recording):
        """Schedule the event that retries the failed start or change after a pause."""
        lease, now = recording.claim.lease, recording.now
        pause = self._retries.healing_pause(recording.claim.event, now)
        changes = lease_events.healed(lease, pause, now)
        if changes.add or changes.move:
            events.change(recording.connection, lease.id, changes, now)
            acquisitions.heal(recording.connection, lease, now)

    def record_retry(self, recording):
        """Write that the retry of a start or change succeeded, or schedule the next retry."""
        connection, now, outcome = recording.connection, recording.now, recording.outcome
        lease, event = recording.claim.lease, recording.claim.event
        given_up = due_events.failed_event(lease)
        if not recording.succeeded:
            pause = self._retries.healing_pause(given_up, now)
            moments = (now + (pause or self._retries.busy_pause),
                       wakeups.next_cleaned(connection, self._core.conf, now))
            events.move(connection, event, now,
                        min(moment for moment in moments if moment is not None))
            note(recording, f'{event.kind} failed')
            if self._retries.is_refused_for_long(given_up, outcome, now):
                self._log(recording, given_up)
            return
        acquisitions.leave(connection, lease.id, now)
        if outcome.result != results.DONE:
            return
        events.close(connection, lease.id, now, (given_up.kind,))
        if outcome.start_abandoned:
            note(recording, 'start_lease given up')
            outbox.publish(connection, leases.get(connection, lease.id), now, 'error')
            return
        changed = given_up.kind == event_kinds.UPDATE
        text = 'It could not be changed' if changed else 'It failed to start'
        journal.note(connection, lease.id, now, 'climate', 'healed',
                     (lease.reason_text or _UNKNOWN).within(f'{text} before: '))
        if not changed:
            outbox.publish(connection, leases.get(connection, lease.id), now,
                           f'event.{event_kinds.START}')


def note(recording, heading):
    """Add the result of an event to the history of its lease; add a repeated failure only once."""
    claim = recording.claim
    if claim.kind.in_history:
        write = journal.note if heading == claim.event.kind else journal.note_if_new
        write(recording.connection, claim.lease.id, recording.now, 'climate', heading,
              recording.outcome.reason)


def words(outcome):
    """Return the reason of an Outcome for the log."""
    return outcome.reason and outcome.reason.operator
