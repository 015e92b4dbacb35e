# SPDX-License-Identifier: Apache-2.0
"""How a lease comes to its end in the database: buried once all is given back, or before time."""
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.domain import agenda
from climate.domain import lifecycle
from climate.manager import notify
from climate.manager.acquire import closing
from climate.manager.acquire import returns


def bury(connection, lease, now, claimed_for=None):
    """Record that a lease has nothing in the cloud any more and is deleted.

    The caller has cut its allocations and closed its events, in this transaction.

    :returns: as `order_trust_dropped`.
    """
    reservations.change(connection, [each.id for each in lease.reservations], now,
                        state=lifecycle.RESERVATION_DELETED)
    # How far looking for its resources had come says nothing any more.
    reason = None if lease.state == lifecycle.ACQUIRING else lease.reason
    leases.change(connection, lease, now, state=lifecycle.TERMINATED, task=None, reason=reason,
                  task_until=None, deleted_at=now, ended_at=lease.ended_at or now)
    ordered = order_trust_dropped(connection, lease, now, claimed_for)
    returns.order(connection, lease, now, over=True)
    notify.publish(connection, lease, now, 'delete')
    return ordered


def order_trust_dropped(connection, lease, now, claimed_for=None):
    """Let the trust of a lease that is over be dropped, if it has one and that is not ordered.

    :param claimed_for: (owner, until): the holder of the lease's claim, who does it at once.
    :returns: the Event for that holder, or None.
    """
    if lease.trust_id is None or lease.event(agenda.DROP_TRUST) is not None:
        return None
    if claimed_for is None:
        events.add(connection, [events.new(lease.id, agenda.DROP_TRUST, now, now)])
        return None
    owner, until = claimed_for
    event = events.new_claimed(lease.id, agenda.DROP_TRUST, owner, now, until)
    events.add(connection, [event])
    return event


def end_early(connection, lease_id, now):
    """Let a lease end at this moment, because none of its reservations is left."""
    lease = leases.get(connection, lease_id)
    if lease.state == lifecycle.ACQUIRING:
        events.close(connection, lease_id, now, (agenda.ACQUIRE,))
        closing.give_up(connection, lease, lifecycle.USED_UP, 'What it leased is gone.', now)
        return
    event = lease.event(agenda.END)
    if event.status != lifecycle.EVENT_UNDONE or event.at <= now:
        return
    events.move(connection, event, now, now)
    if lease.start < now:
        leases.change(connection, lease, now, end=now)
    journal.note(connection, lease_id, now, 'climate', 'end early',
                 'None of its reservations is left.')
