# SPDX-License-Identifier: Apache-2.0
"""The end of a lease's task: its new state, and the events that follow from it."""
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
from climate.manager.clearing import returns
from climate.manager.leases import transitions as lease_transitions
from climate.manager.pools import flags

LOG = log.getLogger(__name__)


def write(connection, claim, outcome, good, now, unchanged, claimed_for):
    """Write down that the task of a claimed event has ended, well or not.

    The caller has written the new states of the reservations and of the event before.

    :param good: True if the task ended well.
    :param unchanged: True if nobody else has changed the lease since it was claimed.
    :param claimed_for: as in ``leases.transitions.order_trust_dropped``.
    :returns: (the Lease then, the Event to carry out next under the same claim or None).
    """
    lease, event = claim.lease, claim.event
    state = lifecycle.after(lease.state, claim.kind.task, good)
    if outcome.result == results.MOOT:
        state = lease.state
    over = good and claim.kind.releases_all
    values = {'ended_at': now} if over else {}
    if good and outcome.missing_resources is not None:
        degraded = bool(outcome.missing_resources)
        if lease.degraded != degraded:
            values['degraded'] = degraded
            flags.note_change(connection, lease, degraded, now)
    if event.kind == event_kinds.RECLAIM:
        values['reclaim_at'] = None
    elif over and lease.idle_since is not None:
        values |= {'idle_since': None, 'reclaim_at': None}
    write_end = lease_claims.end_task if claim.has_task else lease_claims.end_quietly
    after = write_end(connection, lease, now, state, _reason(claim, outcome), **values)
    LOG.info('Lease %s: %s, %s %s, now %s', lease.id, lease.state, event.kind, outcome.result,
             state)
    if over:
        if not unchanged or any(each.status in lifecycle.EVENT_OPEN for each in lease.events
                                if each.kind in event_kinds.CLOSED_WHEN_OVER):
            events.close(connection, lease.id, now, event_kinds.CLOSED_WHEN_OVER)
        if due_events.is_healing(lease):
            acquisitions.leave(connection, lease.id, now)
    if unchanged and _is_plain(claim, outcome):
        after = transitions.after_event(after, event, outcome.states, outcome.bindings,
                                        event_kinds.CLOSED_WHEN_OVER if over else (), now)
    else:
        after = leases.get(connection, lease.id)
    following = None
    if over and claim.kind.task == 'delete':
        following = lease_transitions.mark_deleted(connection, after, now, claimed_for)
    elif over:
        returns.order(connection, after, now)
        following = lease_transitions.order_trust_dropped(connection, after, now, claimed_for)
    return after, following


def _is_plain(claim, outcome):
    """Return True if the new Lease follows from the claim and the outcome alone, without a read."""
    return (outcome.result == results.DONE and claim.kind.says_all
            and claim.lease.acquisition is None and not outcome.over
            and not outcome.missing_resources and (
                claim.kind.releases_all
                or lifecycle.RESERVATION_DELETED not in outcome.states.values()))


def _reason(claim, outcome):
    """Return the ``texts.Text`` that the lease shows after the task, or None."""
    lease, event = claim.lease, claim.event
    if event.kind == event_kinds.RECLAIM and outcome.result == results.MOOT:
        # The history says why nothing was taken.
        return lease.reason_text
    # The lease keeps an earlier reason, such as a past failure or a notice from its creation, also
    # when it ends well. Only the reason of an acquisition or of a failed start is dropped.
    tried_before = event.attempts or claim.kind.retry is event_kinds.Retry.HEALING
    passed = lease.state == lifecycle.ACQUIRING or (claim.kind.task == 'start' and tried_before)
    return outcome.reason or (None if passed else lease.reason_text)
