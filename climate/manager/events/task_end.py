# SPDX-License-Identifier: Apache-2.0
"""The end of a lease's task: its new state, and the events that follow from it."""
import dataclasses
import datetime
import typing

from oslo_log import log

from climate.db import acquisitions
from climate.db import events
from climate.db import lease_claims
from climate.db import leases
from climate.domain import due_events
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import transitions
from climate.manager import results
from climate.manager.clearing import lent_hosts
from climate.manager.events import claims
from climate.manager.leases import lease_end
from climate.manager.pools import flags

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Recording:
    """An Outcome that is being written, with the open transaction.

    :ivar unchanged: True if nobody else has changed the lease since it was claimed.
    :ivar claimed_for: (owner, until) of the claim of a following event, which this manager carries
        out at once; None: any manager may claim the following event.
    """

    connection: typing.Any
    claim: claims.Claim
    outcome: results.Outcome
    now: datetime.datetime
    unchanged: bool
    claimed_for: tuple | None

    @property
    def succeeded(self):
        return self.outcome.result in (results.DONE, results.MOOT)


def write(recording):
    """Write that the task of a claimed event has ended, successfully or not.

    The caller has already written the new states of the reservations and of the event.

    :returns: (the current Lease, the following Event under the same claim or None).
    """
    connection, claim, outcome = recording.connection, recording.claim, recording.outcome
    lease, event, now = claim.lease, claim.event, recording.now
    state = (lease.state if outcome.result == results.MOOT
             else lifecycle.after(lease.state, claim.kind.task, recording.succeeded))
    over = recording.succeeded and claim.kind.releases_all
    write_end = lease_claims.end_task if claim.has_task else lease_claims.end_quietly
    after = write_end(connection, lease, now, state, _reason(claim, outcome),
                      **_changes(recording, over))
    LOG.info('Lease %s: %s, %s %s, now %s', lease.id, lease.state, event.kind, outcome.result,
             state)
    if over:
        _close_when_over(recording)
    if recording.unchanged and _is_plain(claim, outcome):
        after = transitions.after_event(after, event, outcome.states, outcome.bindings,
                                        event_kinds.CLOSED_WHEN_OVER if over else (), now)
    else:
        after = leases.get(connection, lease.id)
    following = None
    if over and claim.kind.task == 'delete':
        following = lease_end.mark_deleted(connection, after, now, recording.claimed_for)
    elif over:
        lent_hosts.order_return(connection, after, now)
        following = lease_end.order_trust_dropped(connection, after, now, recording.claimed_for)
    return after, following


def _changes(recording, over):
    """Return {column: new value} of the lease, without its state and its reason."""
    lease, outcome = recording.claim.lease, recording.outcome
    values = {'ended_at': recording.now} if over else {}
    if recording.succeeded and outcome.missing_resources is not None:
        degraded = bool(outcome.missing_resources)
        if lease.degraded != degraded:
            values['degraded'] = degraded
            flags.note_change(recording.connection, lease, degraded, recording.now)
    if recording.claim.event.kind == event_kinds.RECLAIM:
        values['reclaim_at'] = None
    elif over and lease.idle_since is not None:
        values |= {'idle_since': None, 'reclaim_at': None}
    return values


def _close_when_over(recording):
    """Close the events and the acquisition of a lease that is over."""
    lease = recording.claim.lease
    if not recording.unchanged or any(
            each.status in lifecycle.EVENT_OPEN for each in lease.events
            if each.kind in event_kinds.CLOSED_WHEN_OVER):
        events.close(recording.connection, lease.id, recording.now, event_kinds.CLOSED_WHEN_OVER)
    if due_events.has_retry(lease):
        acquisitions.leave(recording.connection, lease.id, recording.now)


def _is_plain(claim, outcome):
    """Return True if the new Lease follows from the claim and the outcome without a read."""
    return (outcome.result == results.DONE and claim.kind.reports_all_changes
            and claim.lease.acquisition is None and not outcome.over
            and not outcome.missing_resources and (
                claim.kind.releases_all
                or lifecycle.RESERVATION_DELETED not in outcome.states.values()))


def _reason(claim, outcome):
    """Return the ``texts.Text`` that the lease shows after the task, or None."""
    lease, event = claim.lease, claim.event
    if event.kind == event_kinds.RECLAIM and outcome.result == results.MOOT:
        # The history says why nothing was reclaimed.
        return lease.reason_text
    # The lease keeps an earlier reason, such as a past failure, even if it ends successfully. Only
    # the reason of an acquisition or of a failed start is removed.
    tried_before = event.attempts or claim.kind.retry is event_kinds.Retry.HEALING
    outdated = lease.state == lifecycle.ACQUIRING or (claim.kind.task == 'start' and tried_before)
    return outcome.reason or (None if outdated else lease.reason_text)
