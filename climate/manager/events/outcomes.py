# SPDX-License-Identifier: Apache-2.0
"""Write the Outcome of an action in one transaction, which checks that the claim still holds."""
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
from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import core as cores
from climate.manager import counters
from climate.manager import ownership
from climate.manager import results
from climate.manager.clearing import lent_hosts
from climate.manager.events import given_up
from climate.manager.events import retries
from climate.manager.events import task_end
from climate.manager.idle import reclaim
from climate.manager.leases import lease_end
from climate.manager.leases import targets
from climate.manager.notifications import outbox
from climate.manager.queue import wakeups
from climate.manager.sub_leases import division

LOG = log.getLogger(__name__)

# The maximum number of warnings of an action that the reason of a lease shows.
_MOST_WARNINGS = 10
_NOT_RECLAIMABLE = texts.same('It may not be reclaimed any more.')
_TRIED_AGAIN = 'The start failed and is tried again: '


class Outcomes:
    """Writes the Outcomes of claimed events to the database."""

    def __init__(self, core):
        self._core = core
        self._retries = retries.Retries(core.conf.manager)
        self._given_up = given_up.GivenUp(core, self._retries)
        self._claim_length = datetime.timedelta(seconds=core.conf.manager.claim_seconds)

    def record(self, claim, outcome, goes_on=False):
        """Write the Outcome of a Claim to the database.

        :param goes_on: True if the manager can carry out a following event at once.
        :returns: the following Event, which is claimed for this manager, or None.
        :raises ClaimLost: another manager has the lease; nothing was written.
        :raises LostRace: the event was moved while it was carried out; nothing was written.
        """
        try:
            return self._record(claim, outcome, goes_on)
        except reclaim.NotReclaimable:
            # The next try reopens the resources that this try has closed or reclaimed.
            return self._record(claim, results.Outcome(results.BUSY, _NOT_RECLAIMABLE,
                                                       patient=True), goes_on)

    @cores.again_after_a_race
    def _record(self, claim, outcome, goes_on):
        now = self._core.clock()
        claimed_for = (claim.event.claim_owner, now + self._claim_length) if goes_on else None
        following = None
        with self._core.database.writer() as connection:
            released = _release(connection, claim, outcome)
            unchanged = ownership.refuse_overtaken(connection, claim.lease)
            if claim.lease.parent_id is not None:
                division.lock_family(connection, claim.lease)
            bound = targets.bound_late(connection, claim.lease.id, outcome.targetless)
            if bound:
                outcome = outcome.without(bound)
            if claim.event.kind == event_kinds.STAGE and not unchanged:
                outcome = _with_current_bindings(connection, claim, outcome)
            wakeups.lock(connection, claim.lease)
            if released or (outcome.result == results.DONE and outcome.bindings and (
                    claim.kind.releases is event_kinds.Releases.PART)):
                wakeups.wake(connection, now)
            if outcome.reclaimed is not None:
                reclaim.write(connection, self._core, claim.lease.id, outcome.reclaimed, now)
            pause = self._retries.pause_after(claim, outcome)
            recording = task_end.Recording(connection, claim, outcome, now, unchanged, claimed_for)
            _record_reservations(recording)
            if pause is not None:
                self._record_again(recording, pause)
            else:
                following = self._record_end(_explained(recording))
                if claim.kind.releases_all and recording.succeeded:
                    division.settle(connection, claim.lease, now)
            if outcome.warnings:
                _warn(recording)
            if outcome.over and not claim.kind.releases_all:
                lease_end.end_early(connection, claim.lease.id, now)
            if outcome.free or outcome.released:
                # This is the last step, because it locks events of other leases.
                events.hasten_starts(connection, outcome.free.union(outcome.released), now)
        self._count(claim, outcome, now, tried_again=pause is not None)
        return following

    def _record_again(self, recording, pause):
        """Write that the event is due again after a pause."""
        connection, now = recording.connection, recording.now
        claim, outcome = recording.claim, recording.outcome
        event, lease = claim.event, claim.lease
        failed = self._retries.has_failed(claim, outcome)
        events.finish(connection, event, now, lifecycle.EVENT_UNDONE, due_at=now + pause,
                      attempts=self._retries.attempts_after(claim, outcome),
                      waits=event.waits + (
                          not failed and not retries.waits_for_images(claim, outcome)))
        if claim.has_task:
            # Users still see the task on the lease, but it does not block other events any more.
            lease_claims.hold_task(connection, [lease], now)
        if not failed:
            return
        if claim.kind.retry is event_kinds.Retry.ACQUISITION and (
                lease.acquisition.type in acquire.QUEUED):
            # Leases behind this one in the wait queue must not wait for its next try.
            acquisitions.change(connection, lease.id, now, heard=lease.acquisition.wakes)
            wakeups.pass_on(connection, self._core.conf, lease.acquisition, now)
        if event.kind == event_kinds.START and outcome.reason is not None:
            # The lease loses this reason when the start succeeds.
            leases.change(connection, leases.get(connection, lease.id), now,
                          reason=outcome.reason.within(_TRIED_AGAIN))
        given_up.note(recording, f'{event.kind} failed')
        LOG.warning('Lease %s: %s failed, again in %s: %s', lease.id, event.kind, pause,
                    given_up.words(outcome))

    def _record_end(self, recording):
        """Write that the event is done or given up; return the following Event, or None."""
        connection, now = recording.connection, recording.now
        claim, outcome, succeeded = recording.claim, recording.outcome, recording.succeeded
        event, lease, following = claim.event, claim.lease, None
        # A moot change was not applied, so the resources that it removed are still in use. The end
        # releases them if the change has the status ERROR.
        unapplied = outcome.result == results.MOOT and event.kind == event_kinds.UPDATE
        if not succeeded and claim.kind.given_up is event_kinds.AfterLastTry.GOES_ON:
            events.finish(connection, event, now, lifecycle.EVENT_UNDONE,
                          due_at=now + self._retries.pause_after_given_up(claim),
                          attempts=self._retries.attempts_after(claim, outcome))
        else:
            done = succeeded and not unapplied
            events.finish(connection, event, now,
                          lifecycle.EVENT_DONE if done else lifecycle.EVENT_ERROR)
        if claim.kind.task is not None:
            lease, following = task_end.write(recording)
        if succeeded and claim.kind.may_leave_unneeded:
            lent_hosts.order_return(connection, lease, now)
        if claim.kind.retry is event_kinds.Retry.HEALING:
            self._given_up.record_retry(recording)
            return following
        given_up.note(recording, event.kind if succeeded else f'{event.kind} given up')
        if not succeeded:
            self._given_up.record(recording, lease)
        elif outcome.result != results.MOOT and claim.kind.shown:
            outbox.publish(connection, lease, now, f'event.{event.kind}')
        return following

    def _count(self, claim, outcome, now, tried_again):
        """Count an Outcome for the metrics; a wait for the cloud is not counted.

        :param tried_again: whether the same event is due again after a pause.
        """
        event, counts = claim.event, self._core.counts
        if outcome.result == results.MOOT:
            counts.event(event.kind, counters.MOOT)
        elif outcome.result == results.DONE:
            counts.event(event.kind, counters.DONE)
            # A start that was given up counts as late when a retry succeeds.
            is_retry = claim.kind.retry is event_kinds.Retry.HEALING
            punctual = due_events.failed_event(claim.lease) if is_retry else event
            if punctual.kind in counters.PUNCTUAL:
                counts.late(punctual.kind, now - punctual.at)
        elif self._retries.has_failed(claim, outcome):
            again = (tried_again or claim.kind.given_up is None
                     or self._retries.was_given_up(event))
            counts.event(event.kind, counters.RETRIED if again else counters.GIVEN_UP)


def _release(connection, claim, outcome):
    """Release the resources that the reservations no longer use; return True if there were any.

    Shared resources that a change removed are released only when the whole change is done.
    """
    released = bool(outcome.free or outcome.released)
    for reservation in claim.lease.reservations:
        if reservation.id in outcome.free:
            resources.release(connection, reservation.id)
        elif reservation.id in outcome.released:
            resources.release(connection, reservation.id, outcome.released[reservation.id])
        elif reservation.id in outcome.bindings:
            released |= resources.release_others(connection, reservation.id) > 0
    return released


def _record_reservations(recording):
    """Write the new states, bindings and flags of the reservations."""
    connection, now = recording.connection, recording.now
    claim, outcome = recording.claim, recording.outcome
    over = [key for key, state in outcome.states.items()
            if state == lifecycle.RESERVATION_DELETED]
    if over and not claim.kind.releases_all:
        # If a check finds no target, the owner has deleted it, and so released the resources.
        allocations.cut(connection, over, now, by_owner=claim.event.kind == event_kinds.CHECK)
        division.settle(connection, claim.lease, now)
    for reservation in claim.lease.reservations:
        values = {}
        if reservation.id in outcome.states:
            values['state'] = outcome.states[reservation.id]
        if reservation.id in outcome.bindings:
            values['binding'] = outcome.bindings[reservation.id]
        if outcome.missing_resources is not None:
            missing = reservation.id in outcome.missing_resources
            if reservation.missing_resources != missing:
                values['missing_resources'] = missing
        if values:
            reservations.change(connection, [reservation.id], now, **values)


def _warn(recording):
    """Write each new warning of an action into the history, the reason and the binding."""
    connection, now, outcome = recording.connection, recording.now, recording.outcome
    lease, fresh = leases.get(connection, recording.claim.lease.id), []
    for reservation in lease.reservations:
        written = reservation.binding.get('warnings', {})
        new = {key: text for key, text in outcome.warnings.get(reservation.id, {}).items()
               if key not in written}
        if new:
            fresh += new.values()
            reservations.change(connection, [reservation.id], now, binding={
                **reservation.binding,
                'warnings': {**written, **{key: text.owner for key, text in new.items()}}})
    for text in fresh:
        LOG.warning('Lease %s: %s', lease.id, text.operator)
    if fresh:
        journal.note_each(connection, lease.id, now, 'climate', 'warning', fresh)
        hidden_count = len(fresh) - _MOST_WARNINGS
        shown = fresh[:_MOST_WARNINGS]
        if hidden_count > 0:
            shown.append(texts.same(f'{hidden_count} more warnings are in the history.'))
        leases.change(connection, lease, now, reason=texts.joined(lease.reason_text, *shown))


def _with_current_bindings(connection, claim, outcome):
    """Return the Outcome without bindings of reservations that have changed since the claim."""
    current = {each.id: each for each in leases.get(connection, claim.lease.id).reservations}
    unchanged = {each.id for each in claim.lease.reservations if (
        each.request, each.binding) == (current[each.id].request, current[each.id].binding)}
    return dataclasses.replace(outcome, bindings={
        key: binding for key, binding in outcome.bindings.items() if key in unchanged})


def _explained(recording):
    """Return the Recording; the reason of an end that was given up names the blocked resources.

    Blocked resources stay allocated, so no other lease gets them.
    """
    connection, outcome, lease = recording.connection, recording.outcome, recording.claim.lease
    if not recording.claim.kind.releases_all or recording.succeeded:
        return recording
    open_ids = {each.id for each in lease.open_reservations} - outcome.free
    shared_ids = {allocation.resource_id
                  for allocation in allocations.of_reservations(connection, open_ids)
                  if not allocation.whole}
    # A whole resource is blocked only while a reservation holds it.
    blocked = {each.name for each in [*resources.with_ids(connection, shared_ids),
                                      *resources.held(connection, open_ids)]}
    if not blocked:
        return recording
    text = 'Climate tries again. Until it succeeds, nobody else gets its resources'
    return dataclasses.replace(recording, outcome=dataclasses.replace(
        outcome, reason=texts.joined(outcome.reason, texts.Text(
            f'{text}.', f'{text} {", ".join(sorted(blocked))}.'))))
