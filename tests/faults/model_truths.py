# SPDX-License-Identifier: Apache-2.0
"""Invariants of the database after each step, found by brute force in the rows."""
import collections
import dataclasses
import datetime
import itertools
import re

import sqlalchemy as sa

from climate.db import tables
from climate.domain import acquire
from climate.domain import event_kinds
from climate.domain import health
from climate.domain import lifecycle

_NONE = datetime.timedelta()
_ID = re.compile(r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')
_OPEN = (lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS)
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
_COLUMNS = {
    'leases': (tables.LEASES, 'id state task start end generation trust_id deleted_at '
                              'ended_at reason degraded owner_reason'),
    'reservations': (tables.RESERVATIONS, 'id lease_id state leased_id resource_type request '
                                          'missing_resources'),
    'events': (tables.EVENTS, 'id lease_id kind status at due_at claim_owner attempts claim_no'),
    'allocations': (tables.ALLOCATIONS, 'reservation_id resource_id start end whole amount '
                                        'copies released_at'),
    'resources': (tables.RESOURCES, 'id pool name capacity reservable held_by lent_to '
                                    'withdrawn_at health_state'),
    'acquisitions': (tables.ACQUISITIONS, 'lease_id type waits_for not_after retries attempts '
                                          'duration_seconds'),
    'offers': (tables.OFFERS, 'id project_id place held_until request'),
    'windows': (tables.MAINTENANCE_WINDOWS, 'id state'),
    'early_creations': (tables.EARLY_CREATIONS, 'id reservation_id'),
}


@dataclasses.dataclass(frozen=True)
class Recorded:
    """The rows as they are."""

    leases: dict
    reservations: dict
    events: dict
    allocations: list
    resources: dict
    acquisitions: dict
    offers: dict
    windows: dict
    early_creations: list

    def hosts(self):
        return [each for each in self.resources.values() if each.pool == 'host']

    def never_acquired(self, lease):
        """True for a lease whose resources were looked for, or are, in vain."""
        return lease.id in self.acquisitions and not any(
            event.kind == event_kinds.START for event in self.events.get(lease.id, ()))

    def open_events(self, lease_id):
        return [event for event in self.events.get(lease_id, ()) if event.status in _OPEN]


def _in_order(table):
    """Return the columns by which the rows of a table have the same order on every database."""
    return [column for column in table.c if column.name == 'created_at'] + list(table.primary_key)


def read(database):
    """Return the Recorded: rows by their id, events by the id of their lease; oldest first.

    Without an order PostgreSQL returns rows as they lie on its pages, where a vacuum moves them.
    Steps choose by place, so the same steps would go on in another way.
    """
    found = {}
    with database.reader() as connection:
        for name, (table, columns) in _COLUMNS.items():
            found[name] = connection.execute(
                sa.select(*(table.c[each] for each in columns.split()))
                .order_by(*_in_order(table))).all()
    for name in ('leases', 'reservations', 'resources', 'offers', 'windows'):
        found[name] = {row.id: row for row in found[name]}
    found['acquisitions'] = {row.lease_id: row for row in found['acquisitions']
                             if row.type in acquire.LASTING}
    by_lease = collections.defaultdict(list)
    for event in found['events']:
        by_lease[event.lease_id].append(event)
    return Recorded(**{**found, 'events': by_lease})


def check(recorded, before, now, cleaning=_NONE):
    """Check that all invariants of the database hold.

    :param before: the Recorded of the last look, or None.
    :param now: the moment of this one.
    :param cleaning: the time that must be between two spans of a resource.
    """
    nothing_is_given_twice(recorded, cleaning)
    every_promise_is_to_somebody(recorded)
    nothing_is_promised_that_was_withdrawn(recorded, now)
    holders_have_what_they_hold(recorded)
    those_that_run_hold_what_they_have(recorded)
    what_is_missing_is_told(recorded)
    owners_read_nothing_of_operators(recorded)
    for lease in recorded.leases.values():
        the_lifecycle_is_kept(recorded, lease)
        if recorded.never_acquired(lease):
            what_is_looked_for_is_not_forgotten(recorded, lease, now)
        else:
            no_promise_is_lost(recorded, lease, now)
    if before is not None:
        nothing_goes_back(recorded, before)


def nothing_is_given_twice(recorded, cleaning=_NONE):
    """At no moment, past or to come, has a resource more than it can give."""
    for resource_id, spans in _spans(recorded).items():
        capacity = recorded.resources[resource_id].capacity
        for moment in {start for start, _, _ in spans}:
            there = [given for start, end, given in spans if start <= moment < end]
            if any(given.whole for given in there):
                assert len(there) == 1, f'{moment}: resource {resource_id} given twice: {there}'
                continue
            taken = collections.Counter()
            for given in there:
                taken.update({key: units * given.copies for key, units in given.amount.items()})
            assert all(units <= capacity.get(key, 0) for key, units in taken.items()), (
                f'{moment}: resource {resource_id} gives {taken} of {capacity}: {there}')
        if cleaning:
            _it_is_cleaned(sorted(
                (each for each in spans if not _is_block(recorded, each[2])),
                key=lambda span: span[0]), cleaning)


def _spans(recorded):
    """{resource id: triples (start, end, allocation) of what it really gives}."""
    found = collections.defaultdict(list)
    for given in recorded.allocations:
        end = given.end if given.released_at is None else min(given.end, given.released_at)
        if given.start < end:
            found[given.resource_id].append((given.start, end, given))
    return found


def _it_is_cleaned(spans, cleaning):
    """Between two reservations there is time where one of them has all."""
    for (_, end, first), (start, _, second) in itertools.pairwise(spans):
        assert (first.reservation_id == second.reservation_id or end + cleaning <= start
                or not (first.whole or second.whole)), f'Not cleaned between {first}, {second}.'


def every_promise_is_to_somebody(recorded):
    """To a reservation of a lease, or to one that an offer would become while it is held.

    What is not well, or has maintenance, is kept free for nobody.
    """
    offered = collections.Counter(each['id'] for offer in recorded.offers.values()
                                  for each in offer.request if offer.place is not None)
    assert all(count == 1 for count in offered.values()), offered
    assert not offered.keys() & recorded.reservations.keys(), 'An offer was taken and is there.'
    for given in recorded.allocations:
        assert (given.reservation_id in offered or given.reservation_id in recorded.reservations
                or _is_block(recorded, given)), (
            f'{given} is to nobody.')


def _is_block(recorded, given):
    return (given.reservation_id in recorded.windows
            or given.reservation_id == health.block_of(given.resource_id))


def nothing_is_promised_that_was_withdrawn(recorded, now):
    """Of what is held only, whoever takes it is told."""
    for given in recorded.allocations:
        assert (given.reservation_id not in recorded.reservations
                or given.released_at is not None or given.end <= now
                or recorded.resources[given.resource_id].withdrawn_at is None), (
            f'{given} is of a resource that was withdrawn.')


def _whole_ones(recorded):
    """{reservation id: its allocations of whole resources}."""
    found = collections.defaultdict(list)
    for given in recorded.allocations:
        if given.whole:
            found[given.reservation_id].append(given)
    return found


def holders_have_what_they_hold(recorded):
    """A reservation that occupies a resource has an allocation of it and is not over."""
    whole = _whole_ones(recorded)
    for resource in recorded.resources.values():
        if resource.held_by is None:
            continue
        assert resource.withdrawn_at is None, f'{resource} is withdrawn and held.'
        reservation = recorded.reservations[resource.held_by]
        lease = recorded.leases[reservation.lease_id]
        mine = [each for each in whole[reservation.id] if each.resource_id == resource.id]
        assert mine, f'{resource} is held by {reservation}, which was never promised it.'
        assert lease.state not in lifecycle.OVER and lease.deleted_at is None, (
            f'{resource} is held by {reservation} of {lease}, which is over.')
        assert (any(each.released_at is None for each in mine) or recorded.open_events(lease.id)
                or _end_was_given_up(recorded, lease)), (
            f'{resource} is held by {reservation} for ever.')


def _end_was_given_up(recorded, lease):
    """True where an operator must look at a lease: it is in error and says why."""
    return lease.state == lifecycle.ERROR and any(
        event.kind in _ENDINGS and event.status == lifecycle.EVENT_ERROR
        for event in recorded.events.get(lease.id, ()))


def _change_is_left_to_the_end(recorded, lease):
    return 'It could not be changed before its end.' in (lease.reason or '') and any(
        event.kind == event_kinds.END for event in recorded.open_events(lease.id))


def those_that_run_hold_what_they_have(recorded):
    """Check this; what is different after a change that was left to the end, the end returns."""
    whole = _whole_ones(recorded)
    held = collections.defaultdict(set)
    for resource in recorded.resources.values():
        held[resource.held_by].add(resource.id)
    for reservation in recorded.reservations.values():
        lease = recorded.leases[reservation.lease_id]
        if (reservation.state != lifecycle.RESERVATION_ACTIVE or lease.state != lifecycle.ACTIVE
                or {each.kind for each in recorded.open_events(lease.id)} & {
                    event_kinds.UPDATE, event_kinds.DELETE}
                or _change_is_left_to_the_end(recorded, lease)
                # It was acquired in the moment in which it was ended, and is returned by the end.
                or any(lease.end <= each.start for each in whole[reservation.id])):
            continue
        mine = {each.resource_id for each in whole[reservation.id] if each.released_at is None}
        assert mine == held[reservation.id], (
            f'{reservation} has {mine} and holds {held[reservation.id]}')


def what_is_missing_is_told(recorded):
    """A running lease says that it is degraded if one of its running reservations is."""
    for each in recorded.reservations.values():
        lease = recorded.leases[each.lease_id]
        if each.missing_resources and lease.state == lifecycle.ACTIVE and (
                each.state == lifecycle.RESERVATION_ACTIVE):
            assert lease.degraded, f'{each} lacks something, and {lease} does not say so.'


def owners_read_nothing_of_operators(recorded):
    """What owners read of their leases names no resource, no address and no foreign reservation.

    What they asked for by its name is no secret.
    """
    asked = collections.defaultdict(set)
    for each in recorded.reservations.values():
        asked[each.lease_id].add(each.request.get('required_segment'))
    names = {re.escape(each.name) for each in recorded.resources.values()}
    hidden = re.compile('|'.join(['://', 'Traceback', *(fr'\b{name}\b' for name in names)]))
    for lease in recorded.leases.values():
        assert (lease.reason is None) == (lease.owner_reason is None), lease
        text = lease.owner_reason or ''
        assert set(hidden.findall(text)) <= asked[lease.id], f'{lease.id}: {text}'
        assert all(recorded.reservations[each].lease_id == lease.id
                   for each in _ID.findall(text) if each in recorded.reservations), text


def the_lifecycle_is_kept(recorded, lease):
    assert lease.state in lifecycle.STATES
    assert lease.start < lease.end
    assert lease.task is None or lease.task in lifecycle.TASKS
    if lease.task is not None:
        kinds = {event.kind for event in recorded.open_events(lease.id)}
        ending = {*_KINDS_OF[lease.task], event_kinds.DELETE}
        assert kinds & ending, f'{lease}: nobody will ever end its task.'
    if event_kinds.HEAL in {event.kind for event in recorded.open_events(lease.id)}:
        assert lease.task != 'start', f'{lease} is being healed, and is listed as starting.'
    for event in recorded.events[lease.id]:
        assert event.status != lifecycle.EVENT_IN_PROGRESS or event.claim_owner, event


def no_promise_is_lost(recorded, lease, now):
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
            if event.kind == event_kinds.END and event.status in _OPEN]
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
    # A try that a manager had in hand when it died is looked at once more, and finds nothing to do.
    assert all(event.kind != event_kinds.ACQUIRE or event.status == lifecycle.EVENT_IN_PROGRESS
               for event in recorded.open_events(lease.id)), lease
    mine = {each.id for each in recorded.reservations.values() if each.lease_id == lease.id}
    assert not [each for each in recorded.allocations
                if each.reservation_id in mine and each.released_at is None
                and each.end > now], f'{lease} was not acquired, and has something.'
    assert lease.trust_id is None or event_kinds.DROP_TRUST in {
        event.kind for event in recorded.events[lease.id]}, f'{lease}: its trust stays for ever.'


def what_happened_is_told(recorded, told):
    """Each lease was told to be made, to have ended or to be deleted: once, and never in vain.

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
        assert told[key] == wanted[key], f'{key} was told {told[key]} times, not {wanted[key]}.'


def told(database):
    """Return {(lease id, event type): how many notifications of the outbox}."""
    with database.reader() as connection:
        return collections.Counter(
            (row.payload['lease_id'], row.event_type) for row in connection.execute(
                sa.select(tables.OUTBOX.c.event_type, tables.OUTBOX.c.payload)
                .where(tables.OUTBOX.c.event_type.like('lease.%'))))


def nothing_goes_back(recorded, before):
    """No lease and no reservation comes to a state that none of its tasks leads to."""
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
