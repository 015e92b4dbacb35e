# SPDX-License-Identifier: Apache-2.0
"""The record of an action's outcome, in one transaction that proves that the claim still holds."""
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
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import core
from climate.manager import ownership
from climate.manager import results
from climate.manager.acquisition import closing
from climate.manager.clearing import returns
from climate.manager.events import counting
from climate.manager.events import retries
from climate.manager.events import transitions
from climate.manager.idle import reclaim
from climate.manager.leases import targets
from climate.manager.leases import transitions as lease_transitions
from climate.manager.notifications import outbox
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)

# How many warnings of an action the reason of a lease shows.
_MOST_TOLD = 10
_EXEMPTED = texts.same('It may not be reclaimed any more.')
_TRIED_AGAIN = 'The start failed and is tried again: '
_TAKEN_BACK = texts.same('Not all of its reservations could be started, and they depend on each '
                         'other. What has started is taken back.')


class Outcomes:
    """Writes the Outcomes of claimed events to the database."""

    def __init__(self, parts):
        self._core = parts
        conf = parts.conf.manager
        self._retries = retries.Retries(conf)
        self._counting = counting.Counting(parts.counts, self._retries)
        self._claim_length = datetime.timedelta(seconds=conf.claim_seconds)

    def record(self, claim, outcome, goes_on=False):
        """Write the Outcome of a Claim to the database.

        :param goes_on: True if the manager can carry out a following event at once.
        :returns: the Event that follows and is claimed for the same manager, or None.
        :raises ClaimLost: another manager has the lease; nothing was written.
        :raises LostRace: the event was moved while it was carried out; nothing was written.
        """
        try:
            return self._record(claim, outcome, goes_on)
        except reclaim.NotReclaimable:
            # The next try reopens what this one has closed or reclaimed.
            return self._record(claim, results.Outcome(results.BUSY, _EXEMPTED, patient=True),
                                goes_on)

    @core.again_after_a_race
    def _record(self, claim, outcome, goes_on):
        now = self._core.clock()
        following = None
        claimed_for = (claim.event.claim_owner, now + self._claim_length) if goes_on else None
        with self._core.database.writer() as connection:
            released = self._release(connection, claim, outcome)
            unchanged = ownership.refuse_overtaken(connection, claim.lease)
            late = targets.late_comers(connection, claim.lease.id, outcome.in_vain)
            if late:
                outcome = outcome.without(late)
            if claim.event.kind == event_kinds.STAGE and not unchanged:
                outcome = _as_far_as_it_fits(connection, claim, outcome)
            wakeups.lock(connection, claim.lease)
            if released or (outcome.result == results.DONE and outcome.bindings and (
                    claim.kind.releases is event_kinds.Releases.PART)):
                wakeups.wake(connection, now)
            if outcome.taken is not None:
                reclaim.write(connection, self._core, claim.lease.id, outcome.taken, now)
            pause = self._retries.pause_after(claim, outcome)
            self._record_reservations(connection, claim, outcome, now)
            if pause is not None:
                self._record_again(connection, claim, outcome, now, pause)
            else:
                outcome = _explained(connection, claim, outcome)
                following = self._record_end(connection, claim, outcome, now, unchanged,
                                             claimed_for)
            if outcome.warnings:
                _warn(connection, claim, outcome, now)
            if outcome.over and not claim.kind.releases_all:
                lease_transitions.end_early(connection, claim.lease.id, now)
            if outcome.free or outcome.released:
                # Last, because it locks events of others.
                events.hasten_starts(connection, outcome.free.union(outcome.released), now)
        self._counting.count(claim, outcome, now, tried_again=pause is not None)
        return following

    @staticmethod
    def _release(connection, claim, outcome):
        """Release what the reservations do not hold any more; return whether that is anything.

        What a change takes from shared resources is released only when all of it is done.
        """
        released = bool(outcome.free or outcome.released)
        for reservation in claim.lease.reservations:
            if reservation.id in outcome.free:
                resources.release(connection, reservation.id)
            elif reservation.id in outcome.released:
                resources.release(connection, reservation.id,
                                  outcome.released[reservation.id])
            elif reservation.id in outcome.bindings:
                released |= resources.release_others(connection, reservation.id) > 0
        return released

    @staticmethod
    def _record_reservations(connection, claim, outcome, now):
        over = [key for key, state in outcome.states.items()
                if state == lifecycle.RESERVATION_DELETED]
        if over and not claim.kind.releases_all:
            # A target that is gone was deleted by its owner, who thus gave the rest back.
            allocations.cut(connection, over, now,
                            by_owner=claim.event.kind == event_kinds.CHECK)
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

    def _record_again(self, connection, claim, outcome, now, pause):
        event, lease = claim.event, claim.lease
        failed = self._retries.has_failed(claim, outcome)
        events.finish(connection, event, now, lifecycle.EVENT_UNDONE, due_at=now + pause,
                      attempts=self._retries.attempts_after(claim, outcome),
                      waits=event.waits + (
                          not failed and not retries.waits_for_images(claim, outcome)))
        if claim.has_task:
            # The lease keeps its task, so that users see it. Only the event holds the claim.
            lease_claims.hold_task(connection, [lease], now)
        if failed and claim.kind.retry is event_kinds.Retry.ACQUISITION and (
                lease.acquisition.type in acquire.QUEUED):
            # The leases behind it in the wait queue need not wait until this failure is over.
            acquisitions.change(connection, lease.id, now, heard=lease.acquisition.wakes)
            wakeups.pass_on(connection, self._core.conf, lease.acquisition, now)
        if failed and event.kind == event_kinds.START and outcome.reason is not None:
            # Dropped again when the start succeeds.
            leases.change(connection, leases.get(connection, lease.id), now,
                          reason=outcome.reason.within(_TRIED_AGAIN))
        if failed:
            _tell(connection, claim, now, f'{event.kind} failed', outcome.reason)
            LOG.warning('Lease %s: %s failed, again in %s: %s', lease.id, event.kind, pause,
                        _words(outcome))

    def _record_end(self, connection, claim, outcome, now, unchanged, claimed_for):
        event, lease, following = claim.event, claim.lease, None
        good = outcome.result in (results.DONE, results.MOOT)
        # What a change took out is still in use if the change is left to the end of the lease.
        left = outcome.result == results.MOOT and event.kind == event_kinds.UPDATE
        if not good and claim.kind.given_up is event_kinds.GivenUp.GOES_ON:
            events.finish(connection, event, now, lifecycle.EVENT_UNDONE,
                          due_at=now + self._retries.pause_after_given_up(claim),
                          attempts=self._retries.attempts_after(claim, outcome))
        else:
            events.finish(connection, event, now,
                          lifecycle.EVENT_DONE if good and not left else lifecycle.EVENT_ERROR)
        if claim.kind.task is not None:
            lease, following = transitions.write(connection, claim, outcome, good, now, unchanged,
                                                 claimed_for)
        if good and claim.kind.may_leave_unneeded:
            returns.order(connection, lease, now)
        if claim.kind.retry is event_kinds.Retry.HEALING:
            self._record_healing(connection, claim, outcome, good, now)
            return following
        _tell(connection, claim, now, event.kind if good else f'{event.kind} given up',
              outcome.reason)
        if not good:
            self._record_given_up(connection, claim, outcome, lease, now)
        elif outcome.result != results.MOOT and claim.kind.shown:
            outbox.publish(connection, lease, now, f'event.{event.kind}')
        return following

    def _record_given_up(self, connection, claim, outcome, lease, now):
        """Carry out what the table of event kinds says for an event whose last try failed.

        :param lease: the Lease after the end of its task was written.
        """
        event, given_up = claim.event, claim.kind.given_up
        if given_up is event_kinds.GivenUp.LEFT_TO_START:
            LOG.warning('Lease %s: %s is left to its start: %s', lease.id, event.kind,
                        _words(outcome))
            return
        if given_up is event_kinds.GivenUp.REAPED:
            # No lease refers to the trust any more. So the reaper deletes it once Keystone is back.
            leases.change(connection, leases.get(connection, lease.id), now, trust_id=None)
            LOG.warning('Lease %s: its trust is left to the reaper: %s', lease.id,
                        _words(outcome))
            return
        if given_up is event_kinds.GivenUp.NOT_ACQUIRED:
            closing.give_up(connection, leases.get(connection, lease.id), lifecycle.USED_UP,
                            outcome.reason, now)
            return
        if given_up is event_kinds.GivenUp.HEALED and self._starts_whole(claim):
            lease_transitions.end_early(connection, lease.id, now, _TAKEN_BACK)
            allocations.cut(connection, [each.id for each in lease.reservations], now)
            # What is taken back is not billed.
            reservations.change(connection, [each.id for each in lease.reservations], now,
                                started_at=None)
        elif given_up is event_kinds.GivenUp.HEALED:
            self._order_healing(connection, claim, now)
        if claim.kind.task is None:
            leases.change(connection, leases.get(connection, lease.id), now,
                          reason=outcome.reason if claim.kind.given_up_reason is None
                          else texts.same(claim.kind.given_up_reason))
        self._log_given_up(claim, outcome, event, now)
        if not self._retries.was_given_up(event):
            outbox.publish(connection, lease, now, 'error')

    def _log_given_up(self, claim, outcome, event, now):
        """Log that an Event failed: as an ERROR only if it does not pass without a person."""
        log_it, then = LOG.warning, 'it is tried again'
        if not self._retries.goes_on(claim) or self._starts_whole(claim):
            log_it, then = LOG.error, 'it is not tried again'
        elif self._retries.is_refused_for_long(event, outcome, now):
            log_it, then = LOG.error, 'it is tried again, but has failed for long'
        log_it('Lease %s: %s failed, %s: %s', claim.lease.id, event.kind, then, _words(outcome))

    def _starts_whole(self, claim):
        """Return whether a lease is taken back because a part of it could not be started."""
        return (self._core.conf.manager.take_back_partial_starts
                and claim.event.kind == event_kinds.START
                and any(each.depends_on for each in claim.lease.reservations))

    def _order_healing(self, connection, claim, now):
        """Order the event that tries once more, after a pause, what was given up."""
        pause = self._retries.healing_pause(claim.event, now)
        again = lease_events.healed(claim.lease, pause, now)
        if again.add or again.move:
            events.change(connection, claim.lease.id, again, now)
            acquisitions.heal(connection, claim.lease, now)

    def _record_healing(self, connection, claim, outcome, good, now):
        """Write down that what was given up succeeded after all, or order another try."""
        lease, event = claim.lease, claim.event
        given_up = due_events.to_heal(lease)
        if not good:
            pause = self._retries.healing_pause(given_up, now)
            moments = (now + (pause or self._retries.busy_pause),
                       wakeups.next_cleaned(connection, self._core.conf, now))
            events.move(connection, event, now,
                        min(each for each in moments if each is not None))
            _tell(connection, claim, now, f'{event.kind} failed', outcome.reason)
            if self._retries.is_refused_for_long(given_up, outcome, now):
                self._log_given_up(claim, outcome, given_up, now)
            return
        acquisitions.leave(connection, lease.id, now)
        if outcome.result == results.DONE:
            events.close(connection, lease.id, now, (given_up.kind,))
            if outcome.given_back:
                _tell(connection, claim, now, 'start_lease given up', outcome.reason)
                outbox.publish(connection, leases.get(connection, lease.id), now, 'error')
                return
            changed = given_up.kind == event_kinds.UPDATE
            what = 'It could not be changed' if changed else 'It failed to start'
            journal.note(connection, lease.id, now, 'climate', 'healed',
                         _before(lease).within(f'{what} before: '))
            if not changed:
                outbox.publish(connection, leases.get(connection, lease.id), now,
                               f'event.{event_kinds.START}')


def _tell(connection, claim, now, what, why):
    """Add the result of an event to the history of its lease; a repeated failure only once."""
    if not claim.kind.told:
        return
    tell = journal.note if what == claim.event.kind else journal.note_if_new
    tell(connection, claim.lease.id, now, 'climate', what, why)


def _warn(connection, claim, outcome, now):
    """Write the warnings of an action into the history, the reason and the bindings, each once."""
    lease, fresh = leases.get(connection, claim.lease.id), []
    for reservation in lease.reservations:
        known = reservation.binding.get('warnings', {})
        new = {key: text for key, text in outcome.warnings.get(reservation.id, {}).items()
               if key not in known}
        if new:
            fresh += new.values()
            reservations.change(connection, [reservation.id], now, binding={
                **reservation.binding,
                'warnings': {**known, **{key: text.owner for key, text in new.items()}}})
    for text in fresh:
        LOG.warning('Lease %s: %s', lease.id, text.operator)
    if fresh:
        journal.note_each(connection, lease.id, now, 'climate', 'warning', fresh)
        more = len(fresh) - _MOST_TOLD
        told = [*fresh[:_MOST_TOLD], *(
            [texts.same(f'{more} more warnings are in the history.')] if more > 0 else [])]
        leases.change(connection, lease, now, reason=texts.joined(lease.reason_text, *told))


def _as_far_as_it_fits(connection, claim, outcome):
    """Return the Outcome without bindings of reservations that have changed since the claim."""
    current = {each.id: each for each in leases.get(connection, claim.lease.id).reservations}
    same = {each.id for each in claim.lease.reservations if (
        each.request, each.binding) == (current[each.id].request, current[each.id].binding)}
    return dataclasses.replace(outcome, bindings={
        key: made for key, made in outcome.bindings.items() if key in same})


def _words(outcome):
    """Return the reason of an Outcome for the log."""
    return outcome.reason and outcome.reason.operator


def _before(lease):
    return lease.reason_text or texts.same('the reason is not known.')


def _explained(connection, claim, outcome):
    """Return the Outcome, with a longer reason for an end that was given up.

    The reason then names the resources that stay allocated, so that no other lease gets them.
    """
    if not claim.kind.releases_all or outcome.result in (results.DONE, results.MOOT):
        return outcome
    left = {each.id for each in claim.lease.open_reservations} - outcome.free
    # Of whole resources only the ones that it still holds are kept.
    promised = {given.resource_id for given in allocations.of_reservations(connection, left)
                if not given.whole}
    kept = {each.name for each in resources.with_ids(connection, promised)}
    kept |= {each.name for each in resources.held(connection, left)}
    if not kept:
        return outcome
    left_to_do = 'Climate tries again. Until it succeeds, nobody else gets what it has'
    return dataclasses.replace(outcome, reason=texts.joined(outcome.reason, texts.Text(
        f'{left_to_do}.', f'{left_to_do} of {", ".join(sorted(kept))}.')))
