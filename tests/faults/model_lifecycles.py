# SPDX-License-Identifier: Apache-2.0
"""Invariants of the states of leases, of their events, and of the notifications to their owners."""
import collections

import model_records as records
import sqlalchemy as sa

from climate.db import tables
from climate.domain import acquire
from climate.domain import event_kinds
from climate.domain import lifecycle

_ENDINGS = (event_kinds.END, event_kinds.DELETE)
_KINDS_OF = {task: {kind.name for kind in event_kinds.KINDS.values() if kind.task == task}
             for task in lifecycle.TASKS}
_RESERVATION_MOVES = {
    lifecycle.RESERVATION_PENDING: {'pending', 'active', 'error', 'deleted'},
    lifecycle.RESERVATION_ACTIVE: {'active', 'error', 'deleted'},
    lifecycle.RESERVATION_ERROR: {'active', 'error', 'deleted'},
    lifecycle.RESERVATION_DELETED: {'deleted'},
}


def _reachable():
    """{state: those to which tasks, one after another, may bring a lease}."""
    found = {state: {state} for state in lifecycle.STATES}
    for _ in lifecycle.STATES:
        for task in lifecycle.TASKS.values():
            for reached in found.values():
                if reached & task.begins_in:
                    reached |= {task.failure} | ({task.success} - {None})
                if lifecycle.ACQUIRING in reached:
                    reached |= set(lifecycle.ACQUIRING_ENDS.values())
    return found


_MOVES = _reachable()


def the_lifecycle_is_kept(recorded, lease):
    assert lease.state in lifecycle.STATES
    assert lease.start < lease.end
    assert lease.task is None or lease.task in lifecycle.TASKS
    if lease.task is not None:
        kinds = {event.kind for event in recorded.open_events(lease.id)}
        ending = {*_KINDS_OF[lease.task], event_kinds.DELETE}
        assert kinds & ending, f'{lease}: nobody will ever end its task.'
    if event_kinds.HEAL in {event.kind for event in recorded.open_events(lease.id)}:
        assert lease.task != 'start', f'{lease} is started again, and is listed as starting.'
    for event in recorded.events[lease.id]:
        assert event.status != lifecycle.EVENT_IN_PROGRESS or event.claim_owner, event


def no_allocation_is_lost(recorded, lease, now):
    """For each state that a lease must still reach there is an event that takes it there."""
    events = recorded.events[lease.id]
    pending = {event.kind for event in recorded.open_events(lease.id)}
    if lease.deleted_at is not None:
        assert lease.state == lifecycle.TERMINATED
    elif lease.state == lifecycle.PENDING:
        # One whose time passed by ends without having started.
        assert pending & {event_kinds.START, event_kinds.DELETE} or lease.end <= now, (
            f'{lease} will never start: {events}')
    if lease.state not in lifecycle.OVER and not pending.intersection(_ENDINGS):
        given_up = [each for each in events if each.kind in _ENDINGS
                    and each.status == lifecycle.EVENT_ERROR]
        assert given_up and lease.state == lifecycle.ERROR, f'{lease} will never end: {events}'
    elif lease.state in lifecycle.OVER and lease.trust_id is not None:
        dropped = [each for each in events if each.kind == event_kinds.DROP_TRUST]
        assert dropped, f'{lease}: nobody will ever drop its trust.'
    ends = [event.at for event in events
            if event.kind == event_kinds.END and event.status in records.OPEN]
    assert all(lease.end >= at or lease.start >= at for at in ends), (
        f'{lease} ends at another moment than it says: {ends}')


def what_is_looked_for_is_not_forgotten(recorded, lease, now):
    """A lease that is being acquired is tried again; one that was given up has nothing."""
    acquisition = recorded.acquisitions[lease.id]
    pending = {event.kind for event in recorded.open_events(lease.id)}
    assert not pending & {event_kinds.END, event_kinds.BEFORE_END, event_kinds.NOTIFY,
                          event_kinds.HEAL}, (lease, pending)
    going_on = lease.state == lifecycle.ACQUIRING and event_kinds.DELETE not in pending
    stands = going_on and acquisition.type in acquire.QUEUED
    assert acquisition.waits_for == ('queue' if stands else None), (lease, acquisition)
    if lease.state == lifecycle.ACQUIRING:
        given_up = any(event.kind == event_kinds.DELETE and event.status == lifecycle.EVENT_ERROR
                       for event in recorded.events[lease.id])
        going = pending & {event_kinds.ACQUIRE, event_kinds.DELETE}
        assert going or given_up, f'{lease} is forgotten.'
        return
    # A try of a manager that died is carried out once more, and finds nothing to do.
    assert all(event.kind != event_kinds.ACQUIRE or event.status == lifecycle.EVENT_IN_PROGRESS
               for event in recorded.open_events(lease.id)), lease
    mine = {each.id for each in recorded.reservations.values() if each.lease_id == lease.id}
    assert not [each for each in recorded.allocations
                if each.reservation_id in mine and each.released_at is None
                and each.end > now], f'{lease} was not acquired, and has something.'
    assert lease.trust_id is None or event_kinds.DROP_TRUST in {
        event.kind for event in recorded.events[lease.id]}, f'{lease}: its trust stays for ever.'


def what_happened_is_told(recorded, told):
    """Creation, end and deletion of each lease have one notification each, if they happened.

    :param told: {(lease id, event type): how many notifications of the outbox}.
    """
    wanted = collections.Counter()
    for lease in recorded.leases.values():
        wanted[lease.id, 'lease.create'] = 1
        if lease.deleted_at is not None:
            wanted[lease.id, 'lease.delete'] = 1
        elif lease.state == lifecycle.TERMINATED:
            wanted[lease.id, 'lease.event.end_lease'] = 1
    for key in wanted.keys() | {key for key in told if key[1] in (
            'lease.create', 'lease.delete')}:
        assert told[key] == wanted[key], f'{key} has {told[key]} notifications, not {wanted[key]}.'


def told(database):
    """Return {(lease id, event type): how many notifications of the outbox}."""
    with database.reader() as connection:
        return collections.Counter(
            (row.payload['lease_id'], row.event_type) for row in connection.execute(
                sa.select(tables.OUTBOX.c.event_type, tables.OUTBOX.c.payload)
                .where(tables.OUTBOX.c.event_type.like('lease.%'))))


def nothing_goes_back(recorded, before):
    """Leases and reservations come only to states to which one of their tasks leads."""
    for lease in before.leases.values():
        after = recorded.leases[lease.id]
        assert after.state in _MOVES[lease.state], f'{lease} became {after}'
        assert after.generation >= lease.generation
        assert lease.deleted_at is None or after.deleted_at == lease.deleted_at
    for reservation in before.reservations.values():
        after = recorded.reservations[reservation.id]
        assert after.state in _RESERVATION_MOVES[reservation.state], (
            f'{reservation} became {after}')
        if (reservation.state, after.state) == (lifecycle.RESERVATION_ACTIVE,
                                                lifecycle.RESERVATION_ERROR):
            # A change that fails leaves alone what runs.
            assert any(each.kind in _ENDINGS and (
                each.attempts or each.status != lifecycle.EVENT_UNDONE)
                for each in recorded.events[reservation.lease_id]), f'{reservation} was spoiled.'
