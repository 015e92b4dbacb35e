# SPDX-License-Identifier: Apache-2.0
"""The check, in the transaction of a booking, that the chosen resources are still free."""
from climate import errors
from climate.db import resources
from climate.domain import interval
from climate.domain import selection
from climate.manager.booking import criteria


def lock(core, connection, wishes, chosen, terms, also=()):
    """Lock the resources of the Allocations `chosen`, and verify that they are still free.

    The rows are also written. A node of a Galera cluster does not know the locks of other nodes,
    but at a commit it detects two transactions that wrote the same row. So two nodes cannot book
    one resource at the same time, even if a booking only gives an allocation a new end.

    :param also: ids of other resources that are locked too.
    :raises LostRace: a resource was booked, withdrawn or changed since it was chosen, or went out
        of service.
    """
    ids = sorted({allocation.resource_id for allocation in chosen})
    if not ids:
        return
    locked = {resource.id: resource for resource in resources.lock(connection, {*ids, *also})}
    core.resource_names.learn(locked.values())
    if not locked.keys() >= set(ids):
        raise errors.LostRace()
    _verify_criteria(core, connection, wishes, chosen, locked)
    booked = terms.booked(connection, ids, terms.span)
    for allocation in chosen:
        resource = locked[allocation.resource_id]
        bookings = booked.setdefault(resource.id, [])
        if not fits(resource, allocation, bookings) or not terms.may_have(resource) or (
                terms.soon and resource.held_by not in {None, *terms.own}):
            raise errors.LostRace()
        amount = selection.WHOLE if allocation.whole else allocation.amount
        bookings += [(terms.span, amount)] * allocation.copies
    resources.touch(connection, ids, terms.now)


def _verify_criteria(core, connection, wishes, chosen, locked):
    matching, suitable = {}, set()
    for wish in wishes:
        # 1 and true are equal, but match different resources; their representations differ.
        key = wish.need.pool, repr(wish.need.requirement)
        if key not in matching:
            matching[key] = criteria.matching(core, connection, wish.need, {
                resource_id: resource for resource_id, resource in locked.items()
                if resource.pool == wish.need.pool})
        suitable |= {(wish.reservation_id, wish.need.key, id_) for id_ in matching[key]}
    if not {(allocation.reservation_id, allocation.need, allocation.resource_id)
            for allocation in chosen} <= suitable:
        raise errors.LostRace()


def fits(resource, allocation, bookings):
    """Return True if an Allocation fits on a resource beside other bookings.

    :param bookings: pairs (Interval, amount), as in a selection.Candidate.
    """
    if allocation.whole:
        return not bookings
    demand = selection.Demand(amount=allocation.amount, at_least=allocation.copies,
                              at_most=allocation.copies)
    candidate = selection.Candidate(resource.id, resource.capacity, tuple(bookings))
    try:
        selection.choose(demand, [candidate], interval.Interval(allocation.start, allocation.end))
    except errors.NotEnough:
        return False
    return True
