# SPDX-License-Identifier: Apache-2.0
"""Mark a lease as deleted, end it early, order the deletion of its trust, all in the database."""
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
from climate.manager.acquisition import completion
from climate.manager.clearing import lent_hosts
from climate.manager.notifications import outbox

_NONE_LEFT = texts.same('None of its reservations is left.')


def release(connection, lease, now, *, by_owner=False):
    """Release the allocations of a locked lease, and close its events and its acquisition.

    :param by_owner: whether the owner returns the resources, see ``allocations.cut``.
    """
    events.close(connection, lease.id, now, event_kinds.CLOSED_BY_DELETION)
    if lease.acquisition is not None or due_events.has_retry(lease):
        acquisitions.leave(connection, lease.id, now)
    allocations.cut(connection, [each.id for each in lease.reservations], now, by_owner=by_owner)


def can_delete_at_once(lease):
    """Return whether the cloud has no objects of a lease, and no sub-lease must end first."""
    return due_events.has_no_objects(lease) and not lease.sub_leases


def delete(connection, lease, now):
    """Mark a released lease as deleted, or order its deletion if it has objects in the cloud."""
    if can_delete_at_once(lease):
        mark_deleted(connection, lease, now)
        return
    events.change(connection, lease.id, lease_events.ordered(lease, event_kinds.DELETE, now), now)
    # The task only shows users that the lease is being deleted.
    task = {'task': 'delete', 'task_until': now} if lease.task_at(now) is None else {}
    leases.change(connection, lease, now, **task)


def mark_deleted(connection, lease, now, claimed_for=None):
    """Mark a lease as deleted, because it has no objects in the cloud any more.

    The caller has cut its allocations and closed its events, in this transaction.

    :returns: as `order_trust_dropped`.
    """
    reservations.change(connection, [each.id for each in lease.reservations], now,
                        state=lifecycle.RESERVATION_DELETED)
    # The reason of an acquiring lease only shows the progress of its search for resources.
    reason = None if lease.state == lifecycle.ACQUIRING else lease.reason_text
    leases.change(connection, lease, now, state=lifecycle.TERMINATED, task=None, reason=reason,
                  task_until=None, deleted_at=now, ended_at=lease.ended_at or now)
    ordered = order_trust_dropped(connection, lease, now, claimed_for)
    lent_hosts.order_return(connection, lease, now, over=True)
    outbox.publish(connection, lease, now, 'delete')
    return ordered


def order_trust_dropped(connection, lease, now, claimed_for=None):
    """Order the deletion of the trust of a lease that is over, unless it is ordered already.

    :param claimed_for: (manager, end) of the claim on the lease, if this manager deletes the trust
        at once; None: any manager may claim the deletion.
    :returns: the Event for the holder of the claim, or None.
    """
    planned = lease_events.trust_dropped(lease, now)
    if not planned or claimed_for is None:
        events.add(connection, events.all_new(lease.id, planned, now))
        return None
    (kind, _), (owner, until) = *planned, claimed_for
    event = events.new_claimed(lease.id, kind, owner, now, until)
    events.add(connection, [event])
    return event


def end_early(connection, lease_id, now, why=_NONE_LEFT):
    """End a lease now, by default because all its reservations have ended.

    :param why: a ``texts.Text`` for the history.
    """
    lease = leases.get(connection, lease_id)
    changes = lease_events.ended_early(lease, now)
    events.change(connection, lease_id, changes, now)
    if lease.state == lifecycle.ACQUIRING:
        completion.give_up(connection, lease, lifecycle.USED_UP,
                           texts.same('Its target is gone.'), now)
        return
    if not changes.move:
        return
    if lease.start < now:
        leases.change(connection, lease, now, end=now)
    journal.note(connection, lease_id, now, 'climate', 'end early', why)
