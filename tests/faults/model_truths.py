# SPDX-License-Identifier: Apache-2.0
"""Invariants of the database after each step, found by brute force in the rows."""
import collections
import datetime
import itertools
import re

import model_lifecycles as lifecycles

from climate.domain import event_kinds
from climate.domain import health
from climate.domain import lifecycle

_NONE = datetime.timedelta()
_ID = re.compile(r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')
_ENDINGS = (event_kinds.END, event_kinds.DELETE)


def check(recorded, before, now, cleaning=_NONE):
    """Check that all invariants of the database hold.

    :param before: the Recorded of the last look, or None.
    :param now: the moment of this one.
    :param cleaning: the time that must be between two spans of a resource.
    """
    nothing_is_given_twice(recorded, cleaning)
    every_allocation_is_to_somebody(recorded)
    nothing_withdrawn_is_allocated(recorded, now)
    holders_have_what_they_hold(recorded)
    those_that_run_hold_what_they_have(recorded)
    what_is_missing_is_told(recorded)
    owners_read_nothing_of_operators(recorded)
    for lease in recorded.leases.values():
        lifecycles.the_lifecycle_is_kept(recorded, lease)
        if recorded.never_acquired(lease):
            lifecycles.what_is_looked_for_is_not_forgotten(recorded, lease, now)
        else:
            lifecycles.no_allocation_is_lost(recorded, lease, now)
    if before is not None:
        lifecycles.nothing_goes_back(recorded, before)


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


def every_allocation_is_to_somebody(recorded):
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


def nothing_withdrawn_is_allocated(recorded, now):
    """A withdrawn resource has no allocations; the owner of an offer is notified on taking it."""
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
        assert mine, f'{resource} is held by {reservation}, to which it was never allocated.'
        assert lease.state not in lifecycle.OVER and lease.deleted_at is None, (
            f'{resource} is held by {reservation} of {lease}, which is over.')
        assert (any(each.released_at is None for each in mine) or recorded.open_events(lease.id)
                or _end_was_given_up(recorded, lease)), (
            f'{resource} is held by {reservation} for ever.')


def _end_was_given_up(recorded, lease):
    """Return whether an operator must act: the lease is in error and says why."""
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
    """The texts for owners name no resource, no address and no foreign reservation.

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
