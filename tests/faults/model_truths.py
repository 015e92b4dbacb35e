# SPDX-License-Identifier: Apache-2.0
"""What must be true of the accounts after each step, found by brute force in the rows."""
import collections
import dataclasses

import sqlalchemy as sa

from climate.db import tables
from climate.domain import agenda
from climate.domain import lifecycle

_OPEN = (lifecycle.EVENT_UNDONE, lifecycle.EVENT_IN_PROGRESS)
_ENDINGS = (agenda.END, agenda.DELETE)
_KIND_OF = {task: kind for kind, task in agenda.TASK_OF.items()}
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
    return found


_MOVES = _reachable()
_COLUMNS = {
    'leases': (tables.LEASES, 'id state task start end generation trust_id deleted_at reason'),
    'reservations': (tables.RESERVATIONS, 'id lease_id state leased_id'),
    'events': (tables.EVENTS, 'id lease_id kind status at due_at claim_owner'),
    'allocations': (tables.ALLOCATIONS, 'reservation_id resource_id start end whole amount '
                                        'copies released_at'),
    'resources': (tables.RESOURCES, 'id name capacity reservable held_by withdrawn_at'),
}


@dataclasses.dataclass(frozen=True)
class Accounts:
    """The rows as they are."""

    leases: dict
    reservations: dict
    events: dict
    allocations: list
    resources: dict

    def open_events(self, lease_id):
        return [event for event in self.events.get(lease_id, ()) if event.status in _OPEN]


def read(database):
    """The Accounts; leases, reservations and resources by id, events by the id of their lease."""
    found = {}
    with database.reader() as connection:
        for name, (table, columns) in _COLUMNS.items():
            found[name] = connection.execute(
                sa.select(*(table.c[each] for each in columns.split()))).all()
    for name in ('leases', 'reservations', 'resources'):
        found[name] = {row.id: row for row in found[name]}
    by_lease = collections.defaultdict(list)
    for event in found['events']:
        by_lease[event.lease_id].append(event)
    return Accounts(**{**found, 'events': by_lease})


def check(accounts, before):
    """Nothing, where all is as it must be; `before` are the Accounts of the last look."""
    nothing_is_given_twice(accounts)
    holders_have_what_they_hold(accounts)
    those_that_run_hold_what_they_have(accounts)
    for lease in accounts.leases.values():
        the_lifecycle_is_kept(accounts, lease)
        no_promise_is_lost(accounts, lease)
    if before is not None:
        nothing_goes_back(accounts, before)


def nothing_is_given_twice(accounts):
    """At no moment, past or to come, has a resource more than it can give."""
    by_resource = collections.defaultdict(list)
    for given in accounts.allocations:
        end = given.end if given.released_at is None else min(given.end, given.released_at)
        if given.start < end:
            by_resource[given.resource_id].append((given.start, end, given))
    for resource_id, spans in by_resource.items():
        capacity = accounts.resources[resource_id].capacity
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


def _whole_ones(accounts):
    """{reservation id: its allocations of whole resources}."""
    found = collections.defaultdict(list)
    for given in accounts.allocations:
        if given.whole:
            found[given.reservation_id].append(given)
    return found


def holders_have_what_they_hold(accounts):
    """Whoever occupies a resource was promised it, and is not over."""
    whole = _whole_ones(accounts)
    for resource in accounts.resources.values():
        if resource.held_by is None:
            continue
        assert resource.withdrawn_at is None, f'{resource} is withdrawn and held.'
        reservation = accounts.reservations[resource.held_by]
        lease = accounts.leases[reservation.lease_id]
        mine = [each for each in whole[reservation.id] if each.resource_id == resource.id]
        assert mine, f'{resource} is held by {reservation}, which was never promised it.'
        assert lease.state not in lifecycle.OVER and lease.deleted_at is None, (
            f'{resource} is held by {reservation} of {lease}, which is over.')
        assert (any(each.released_at is None for each in mine)
                or accounts.open_events(lease.id)), f'{resource} is held by {reservation} for ever.'


def those_that_run_hold_what_they_have(accounts):
    whole = _whole_ones(accounts)
    held = collections.defaultdict(set)
    for resource in accounts.resources.values():
        held[resource.held_by].add(resource.id)
    for reservation in accounts.reservations.values():
        lease = accounts.leases[reservation.lease_id]
        if (reservation.state != lifecycle.RESERVATION_ACTIVE or lease.state != lifecycle.ACTIVE
                or {each.kind for each in accounts.open_events(lease.id)} & {
                    agenda.UPDATE, agenda.DELETE}):
            continue
        mine = {each.resource_id for each in whole[reservation.id] if each.released_at is None}
        assert mine == held[reservation.id], (
            f'{reservation} has {mine} and holds {held[reservation.id]}')


def the_lifecycle_is_kept(accounts, lease):
    assert lease.state in lifecycle.STATES
    assert lease.start < lease.end
    assert lease.task is None or lease.task in lifecycle.TASKS
    if lease.task is not None:
        kinds = {event.kind for event in accounts.open_events(lease.id)}
        assert _KIND_OF[lease.task] in kinds, f'{lease}: nobody will ever end its task.'
    for event in accounts.events[lease.id]:
        assert event.status != lifecycle.EVENT_IN_PROGRESS or event.claim_owner, event


def no_promise_is_lost(accounts, lease):
    """Whatever a lease still has to come to has an event that will bring it there."""
    events = accounts.events[lease.id]
    pending = {event.kind for event in accounts.open_events(lease.id)}
    if lease.deleted_at is not None:
        assert lease.state == lifecycle.TERMINATED
    elif lease.state == lifecycle.PENDING:
        assert pending & {agenda.START, *_ENDINGS}, f'{lease} will never start: {events}'
    if lease.state not in lifecycle.OVER and not pending.intersection(_ENDINGS):
        given_up = [each for each in events if each.kind in _ENDINGS
                    and each.status == lifecycle.EVENT_ERROR]
        assert given_up and lease.state == lifecycle.ERROR, f'{lease} will never end: {events}'
    elif lease.state in lifecycle.OVER and lease.trust_id is not None:
        dropped = [each for each in events if each.kind == agenda.DROP_TRUST]
        assert dropped, f'{lease}: nobody will ever drop its trust.'
    ends = [event.at for event in events
            if event.kind == agenda.END and event.status in _OPEN]
    assert all(lease.end >= at or lease.start >= at for at in ends), (
        f'{lease} ends at another moment than it says: {ends}')


def nothing_goes_back(accounts, before):
    """No lease and no reservation comes to a state that none of its tasks leads to."""
    for lease in before.leases.values():
        after = accounts.leases[lease.id]
        assert after.state in _MOVES[lease.state], f'{lease} became {after}'
        assert after.generation >= lease.generation
        assert lease.deleted_at is None or after.deleted_at == lease.deleted_at
    for reservation in before.reservations.values():
        after = accounts.reservations[reservation.id]
        assert after.state in _RESERVATION_MOVES[reservation.state], (
            f'{reservation} became {after}')


def trusts_are_there(accounts, trusts):
    """The trusts of leases that are not over: all of them are in Keystone."""
    known = {each.id for each in trusts}
    for lease in accounts.leases.values():
        if lease.trust_id and lease.state not in lifecycle.OVER and lease.deleted_at is None:
            assert lease.trust_id in known, f'{lease} has lost its trust.'


def no_host_is_handed_out_twice(aggregates):
    """In the cloud no host is in the zone of one reservation and in the aggregate of another."""
    inside = collections.defaultdict(list)
    for each in aggregates:
        for host in each.hosts:
            inside[host].append(each)
    for host, found in inside.items():
        leased = [each.name for each in found if each.name != 'freepool']
        zoned = [each.name for each in found if each.zone]
        assert len(zoned) <= 1 and (not zoned or leased == zoned), (
            f'{host} is in the aggregates {leased}')
