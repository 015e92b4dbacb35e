# SPDX-License-Identifier: Apache-2.0
"""The end of an acquisition: the lease got its resources, or it is given up.

Both functions write within the caller's transaction.
"""
from oslo_log import log

from climate.db import acquisitions
from climate.db import allocations
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.domain import acquisition_reasons
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager.clearing import lent_hosts
from climate.manager.notifications import outbox
from climate.manager.queue import wakeups

LOG = log.getLogger(__name__)

_NOTIFICATIONS = {lifecycle.USED_UP: 'error', lifecycle.TOO_LATE: 'timedout'}


def acquired(connection, lease, span, now, preparations):
    """Write that a lease has acquired its resources and starts now.

    The caller has already written its allocations.

    :param lease: the Lease as it is in this transaction; the caller has checked its claim.
    :param preparations: the ``lease_events.Preparations`` of the lease.
    """
    planned = lease_events.of_acquired(lease, span, preparations, now)
    lease = planned.lease
    events.add(connection, events.all_new(lease.id, planned.add, now))
    acquisitions.change(connection, lease.id, now, waits_for=None, next_at=None)
    leases.change(connection, lease, now, start=lease.start, end=lease.end,
                  before_end=lease.before_end,
                  state=lifecycle.ACQUIRING_ENDS[lifecycle.ACQUIRED],
                  reason=None)
    journal.note(connection, lease.id, now, 'climate', lifecycle.ACQUIRED,
                 texts.same(str(lease.interval)))
    if planned.late:
        journal.note(connection, lease.id, now, 'climate', 'notices left out', texts.same(
            f'Their time passed before: {", ".join(map(acquisition_reasons.shown, planned.late))}'))
    lease = leases.get(connection, lease.id)
    outbox.publish(connection, lease, now, 'acquired')
    lent_hosts.order_return(connection, lease, now)


def give_up(connection, lease, result, reason, now):
    """Write that a lease did not get its resources and is not tried any more.

    :param lease: the Lease as it is in this transaction; the caller has checked its claim or locked
        its row.
    :param result: USED_UP or TOO_LATE, two keys of ``lifecycle.ACQUIRING_ENDS``.
    :param reason: a ``texts.Text``.
    """
    ids = [each.id for each in lease.reservations]
    allocations.delete(connection, ids)
    reservations.change(connection, ids, now, state=lifecycle.RESERVATION_DELETED)
    acquisitions.change(connection, lease.id, now, waits_for=None, next_at=None)
    state = lifecycle.ACQUIRING_ENDS[result]
    leases.change(connection, lease, now, state=state, reason=reason, ended_at=now)
    events.add(connection, events.all_new(lease.id, lease_events.trust_dropped(lease, now), now))
    journal.note(connection, lease.id, now, 'climate', result, reason)
    lease = leases.get(connection, lease.id)
    outbox.publish(connection, lease, now, _NOTIFICATIONS[result])
    lent_hosts.order_return(connection, lease, now)
    wakeups.wake(connection, now)
    LOG.warning('Lease %s: %s, given up, now %s: %s', lease.id, result, state, reason.operator)
