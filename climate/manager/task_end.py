# SPDX-License-Identifier: Apache-2.0
"""How the task of a lease is written down as ended, and what the lease is then."""
from oslo_log import log

from climate.db import acquisitions
from climate.db import events
from climate.db import lease_claims
from climate.db import leases
from climate.domain import aftermath
from climate.domain import agenda
from climate.domain import lifecycle
from climate.manager import endings
from climate.manager import results
from climate.manager.acquire import returns

LOG = log.getLogger(__name__)

# Of a lease that is over, nothing of this is left to do.
_CLOSED = (agenda.ACQUIRE, agenda.PREPARE, agenda.START, agenda.HEAL, agenda.UPDATE, agenda.CHECK,
           agenda.BEFORE_END)
# What of a lease these change is all in their outcome.
_PLAIN = (agenda.START, agenda.END)


def write(connection, claim, outcome, good, now, unchanged, claimed_for):
    """Write down that the task of a claimed event has ended, well or not.

    What became of its reservations and of the event is written already.

    :param unchanged: nobody else has changed the lease since it was claimed.
    :param claimed_for: as in ``endings.order_trust_dropped``.
    :returns: (the Lease then, an Event that is to be carried out next under the claim or None).
    """
    lease, event = claim.lease, claim.event
    state = lifecycle.after(lease.state, lease.task, good)
    if outcome.result == results.MOOT:
        state = lease.state
    over = good and event.kind in (agenda.END, agenda.DELETE)
    values = {'ended_at': now} if over else {}
    after = lease_claims.end_task(connection, lease, now, state, _reason(claim, outcome), **values)
    LOG.info('Lease %s: %s, %s %s, now %s', lease.id, lease.state, event.kind, outcome.result,
             state)
    if over:
        events.close(connection, lease.id, now, _CLOSED)
        if lease.event(agenda.HEAL) is not None:
            acquisitions.leave(connection, lease.id, now)
    if unchanged and _is_plain(claim, outcome):
        after = aftermath.of_lease(after, event, outcome.states, outcome.bindings,
                                   _CLOSED if over else (), now)
    else:
        after = leases.get(connection, lease.id)
    following = None
    if over and event.kind == agenda.DELETE:
        following = endings.bury(connection, after, now, claimed_for)
    elif over:
        returns.order(connection, after, now)
        following = endings.order_trust_dropped(connection, after, now, claimed_for)
    return after, following


def _is_plain(claim, outcome):
    """True where the claim and its outcome say all that there is to say of the lease."""
    return (outcome.result == results.DONE and claim.event.kind in _PLAIN
            and claim.lease.acquisition is None and not outcome.over and (
                claim.event.kind == agenda.END
                or lifecycle.RESERVATION_DELETED not in outcome.states.values()))


def _reason(claim, outcome):
    """The reason of the lease then."""
    lease, event = claim.lease, claim.event
    # What went wrong before stays readable when the end went well, and so does what was said of the
    # lease when it was made; not how far looking for its resources had come.
    passed = (event.kind == agenda.HEAL or lease.state == lifecycle.ACQUIRING
              or (event.kind == agenda.START and event.attempts))
    return outcome.reason or (None if passed else lease.reason)
