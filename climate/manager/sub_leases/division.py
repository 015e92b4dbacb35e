# SPDX-License-Identifier: Apache-2.0
"""Divide the allocations of hosts between a lease and its sub-leases, in a transaction.

A sub-lease takes its span out of the allocations of its parent, which keeps the time before and
after it. A sub-lease that ends earlier returns the rest in the same transaction.
"""
import collections
import dataclasses

from climate import errors
from climate.db import allocations
from climate.db import leases
from climate.db import reservations
from climate.db import sub_leases as stored
from climate.domain import due_events
from climate.domain import lifecycle
from climate.domain import sub_leases


def lock_family(connection, lease):
    """Lock the parent and the open sub-leases of a locked lease, in the order of their ids.

    Call it before the wait queue or events are locked. Other leases have no such relatives.
    """
    ids = {each.id for each in lease.sub_leases} | {lease.parent_id}
    leases.lock_all(connection, ids - {None})


def take(connection, parent, chosen, now):
    """Take the spans of new Allocations out of the allocations of their parent.

    The caller has locked the hosts and the parent, and writes the Allocations next.

    :raises LostRace: the parent itself does not have a host for all of the span any more.
    """
    rows = stored.own_rows(connection, [each.id for each in parent.reservations],
                           [each.resource_id for each in chosen])
    own = _spans(rows)
    for each in chosen:
        if not sub_leases.covers(own[each.resource_id], (each.start, each.end)):
            raise errors.LostRace()
    more = collections.defaultdict(list)
    for each in chosen:
        more[each.resource_id].append((each.start, each.end))
    _rewrite(connection, parent, more, {each.resource_id for each in chosen}, now)
    leases.change(connection, parent, now, sub_leased=True)


def extend(connection, lease, end, now):
    """Take the time from the end of a sub-lease to a later `end` out of its parent's allocations.

    The caller has locked the sub-lease, and changes its allocations next.

    :raises SubLeaseRefused: the parent itself does not have a host until then.
    """
    parent = leases.lock(connection, lease.parent_id)
    ids = {key for each in lease.open_reservations for key in each.resource_ids}
    limit = latest_end(connection, lease)
    if end > limit:
        raise refusal(lease, limit)
    _rewrite(connection, parent, {key: [(lease.end, end)] for key in ids}, ids, now)
    leases.change(connection, parent, now)


def settle(connection, lease, now):
    """Return to the parent of a sub-lease the time that the sub-lease no longer has.

    Nothing is returned to a parent that is over, or that is being ended or deleted. For other
    leases nothing happens. The caller has locked the lease and changed its allocations.
    """
    if lease.parent_id is None:
        return
    parent = leases.lock(connection, lease.parent_id)
    if not still_has(parent, now):
        return
    ids = {key for each in lease.reservations for key in each.resource_ids}
    _rewrite(connection, parent, {}, ids, now)
    leases.change(connection, parent, now)


def move_end(connection, before, after, chosen, now):
    """Give the hosts of a lease with sub-leases another end.

    :param before: the locked Lease.
    :param after: the Lease with the new end.
    :param chosen: the Allocations that were booked for a later end; none for an earlier one.
    """
    rows = stored.own_rows(connection, [each.id for each in before.open_reservations])
    ids = {row.resource_id for row in rows} | {each.resource_id for each in chosen}
    _rewrite(connection, after, {}, ids, now)
    others = {key for each in before.open_reservations for key in each.resource_ids} - ids
    if others:
        # Resources that are not whole hosts have one allocation each.
        allocations.change(connection, [each.id for each in before.open_reservations], others,
                           end=after.end)


def follow(connection, parent, lost_ids, chosen, now):
    """Move sub-leases that have not begun from lost hosts of their parent to their replacements.

    A sub-lease gets fewer hosts if there are fewer replacements. For leases without sub-leases
    nothing happens.

    :param parent: the locked Lease; its allocations on `lost_ids` are deleted.
    :param chosen: the Allocations in their place, which are written already.
    """
    moves, added, unused = [], collections.defaultdict(list), {}
    for each in chosen:
        unused.setdefault(each.reservation_id, []).append(each.resource_id)
    ids = [each.id for each in parent.sub_leases] if lost_ids else ()
    for current in leases.lock_all(connection, ids):
        rows = stored.own_rows(connection, [each.id for each in current.reservations], lost_ids)
        for row, reservation in ((row, reservation) for row in rows if row.start > now
                                 for reservation in current.reservations):
            fits = [key for key in unused.get(reservation.binding.get(sub_leases.PARENT), ())
                    if not any(start < row.end and row.start < end for start, end in added[key])]
            moves.append((row, fits[0] if fits else None))
            if fits:
                added[fits[0]].append((row.start, row.end))
        if rows:
            reservations.change(connection, [each.id for each in current.reservations], now,
                                resources_changed=True)
            leases.change(connection, current, now)
    stored.delete_rows(connection, [row.id for row, _ in moves])
    _rewrite(connection, parent, added, set(added), now)
    allocations.add(connection, [dataclasses.replace(allocations.record(row), resource_id=key)
                                 for row, key in moves if key is not None])


def latest_end(connection, lease):
    """Return the latest end of a sub-lease at which its parent itself has all of its hosts."""
    ids = {key for each in lease.open_reservations for key in each.resource_ids}
    own = _spans(stored.own_rows(connection, lease.parent.reservation_ids, ids))
    return min((max((end for start, end in own[key] if start <= lease.end), default=lease.end)
                for key in ids), default=lease.end)


def refusal(lease, limit):
    """Return the error of an end that is later than `limit`, which the parent allows."""
    return errors.SubLeaseRefused(reason=(
        f'Lease {lease.id} is a sub-lease: it can last until {limit:%Y-%m-%d %H:%M} UTC at the '
        'latest, because its hosts belong to another lease, or to another sub-lease, after that. '
        'Choose an earlier end.'), until=limit.isoformat())


def still_has(parent, now):
    """Return whether a lease keeps its hosts after `now`, so that sub-leases can return theirs."""
    return (parent.end > now and parent.deleted_at is None
            and parent.state not in lifecycle.OVER and not due_events.deletion_ordered(parent))


def free_spans(connection, lease):
    """Return {resource id: the (start, end) spans in which a lease itself has a whole host}."""
    return _spans(stored.own_rows(connection, [each.id for each in lease.open_reservations]))


def _spans(rows):
    spans = collections.defaultdict(list)
    for row in rows:
        spans[row.resource_id].append((row.start, row.end))
    return spans


def _rewrite(connection, parent, more, resource_ids, now):
    """Write the allocations of a parent as the rests that its sub-leases leave from now on.

    Allocations first get shorter, then longer, because two of them must never overlap.

    :param more: {resource id: spans that sub-leases get next}.
    """
    taken = stored.taken(connection, parent.id)
    by_host = collections.defaultdict(list)
    for row in stored.own_rows(connection, [each.id for each in parent.reservations],
                               resource_ids):
        by_host[row.reservation_id, row.resource_id].append(row)
    over, doomed, shorter, longer, new = {}, [], {}, {}, []
    for (_, resource_id), rows in by_host.items():
        past = [row for row in rows if row.end <= now]
        wanted = _wanted(parent, rows, [*taken[resource_id], *more.get(resource_id, ())], now)
        if any(start <= now < end for start, end in wanted.items()):
            # Only an allocation that has begun must be left, so that the end finds the host.
            for row in past:
                over.setdefault(row.end, []).append(row.id)
        for row in rows[len(past):]:
            end = wanted.pop(row.start, None)
            if end is None:
                doomed.append(row.id)
            elif end != row.end:
                (shorter if end < row.end else longer).setdefault(end, []).append(row.id)
        new += [dataclasses.replace(allocations.record(rows[0]), start=start, end=end)
                for start, end in wanted.items()]
    stored.release_rows(connection, over)
    stored.delete_rows(connection, doomed)
    stored.end_rows(connection, shorter)
    stored.end_rows(connection, longer)
    allocations.add(connection, new)


def _wanted(parent, rows, spans, now):
    """Return {start: end} of the allocations that a parent should have on a host from now on.

    :param rows: its present allocations, by start.
    :param spans: the spans that sub-leases have, or had.
    """
    # A sub-lease may have the host from the start of the parent on.
    begin = min([rows[0].start, *(start for start, _ in spans)])
    rests = sub_leases.rests((begin, parent.end), spans)
    wanted = {start: end for start, end in rests if end > now}
    if rows[0].end > now and all(start > now for start in wanted):
        # Keep an allocation that has begun, or that begins with the parent.
        wanted.setdefault(*rests[0])
    return wanted
