# SPDX-License-Identifier: Apache-2.0
"""The priced items of leases that are planned or have not started."""
import dataclasses

from climate.db import price_facts
from climate.domain import lease_pricing


def property_names(versions):
    """Return the names of the properties that determine rates in versions of the price book."""
    return frozenset(name for book in versions for name in book.property_names)


def of_plans(connection, versions, plans, read=()):
    """Return the PricedItems of each plan.

    :param versions: the versions of the price book.
    :param plans: pairs (reservations, Allocations).
    :param read: the properties by which the lease is billed, as in ``price_facts.described``.
    """
    pools, properties = price_facts.described(
        connection, {allocation.resource_id for _, allocations in plans
                     for allocation in allocations}, property_names(versions), read)
    items = []
    for reservations, allocations in plans:
        types = {reservation.id: reservation.resource_type for reservation in reservations}
        items.append([lease_pricing.PricedItem(
            allocation.reservation_id, types[allocation.reservation_id],
            pools[allocation.resource_id], allocation.start, allocation.end, allocation.copies,
            price_facts.item_properties(properties, allocation.resource_id),
            resource_id=allocation.resource_id, whole=allocation.whole)
            for allocation in allocations])
    return items


def moved(after, old, new):
    """Return the PricedItems of a lease after a change before its start.

    :param after: the Lease after the change.
    :param old: its PricedItems before the change.
    :param new: the PricedItems of the reservations that are booked again.
    """
    changed_ids = {item.reservation_id for item in new}
    return [*new, *(dataclasses.replace(item, start=after.start, end=after.end)
                    for item in old if item.reservation_id not in changed_ids)]
