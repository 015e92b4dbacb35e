# SPDX-License-Identifier: Apache-2.0
"""The price of a lease before it is billed: of dry runs, changes, free slots and offers."""
import collections
import dataclasses

from climate.db import bills
from climate.db import offers
from climate.db import price_facts
from climate.domain import acquire
from climate.domain import lease_pricing
from climate.domain import lifecycle
from climate.domain import prices
from climate.domain import short_notice
from climate.domain import unused_hours
from climate.manager.billing import books


class LeasePrices:
    """Computes what leases would cost, by the current versions of the price book."""

    def __init__(self, core):
        self._core = core
        self._books = books.KnownBooks(core)

    def of_new(self, lease, allocations, now):
        """Return the Price of a Lease that would get these Allocations.

        :returns: None if no version of the price book is valid before its end.
        """
        return self.of_plans([(lease, allocations)], now)[0]

    def of_plans(self, plans, now):
        """Return the Prices of several leases that would be created now, in order.

        :param plans: [(Lease, the Allocations that it would get)]; one query reads them all.
        :returns: None in place of a Price if no version of the price book is valid before the end.
        """
        return self._prices([(_subject(lease, now), lease.end, lease.reservations, given)
                             for lease, given in plans])

    def of_offers(self, found, now):
        """Return the Offers with the Price that each has if it is taken now.

        :param found: Offers, with or without their allocations; one query reads them all.
        """
        if not any(self._valid_before(offer.end) for offer in found):
            return list(found)
        with self._core.database.reader() as connection:
            given = offers.allocations_of(connection, found)
        offer_prices = self._prices([_taken(offer, given[offer.id], now) for offer in found])
        return [dataclasses.replace(offer, price=price)
                for offer, price in zip(found, offer_prices, strict=True)]

    def _prices(self, plans):
        """Return the Price of each plan, or None; one query reads all resources.

        :param plans: [(Subject without Items, end, reservations, Allocations)].
        """
        known = [self._valid_before(end) for _, end, _, _ in plans]
        if not any(known):
            return [None] * len(plans)
        with self._core.database.reader() as connection:
            items = self._items(connection, max(known, key=len),
                                [(reservations, given) for _, _, reservations, given in plans])
        return [_price(dataclasses.replace(plan[0], items=tuple(each)), books) if books else None
                for plan, each, books in zip(plans, items, known, strict=True)]

    def of_change(self, before, after, allocations, now, by_owner=True):
        """Return the Price of a whole lease, from its start to its end, if it were changed now.

        :param before: the Lease as it is.
        :param after: the Lease as it would be.
        :param allocations: the new ones; reservations without any keep what they have.
        :param by_owner: whether the owner asks for the change, and so pays for unused hours.
        :returns: None if no version of the price book is valid before its end.
        """
        known = self._valid_before(max(before.end, after.end))
        if not known:
            return None
        with self._core.database.reader() as connection:
            billed = bills.get(connection, before.id)
            read = billed.properties if billed is not None else {}
            billing = price_facts.read(connection, before.id, _names(known), read, planned=True)
            [new_items] = self._items(connection, known, [(after.reservations, allocations)], read)
        if billing is None:
            return None
        old_items = billing.subject.items
        items = (_moved(after, old_items, new_items) if before.state == lifecycle.PENDING
                 else _changed(before, after, old_items, new_items, now, by_owner))
        asked_at = now if asks_again(before, after, allocations) else billing.subject.asked_at
        later = short_notice.with_added(
            billing.subject.later, short_notice.of_change(before, after, allocations, now))
        return _price(dataclasses.replace(_subject(after, asked_at), items=tuple(items),
                                          later=later), known)

    def _valid_before(self, end):
        return [book for book in self._books.every() if book.valid_from < end]

    def _items(self, connection, known, plans, read=()):
        """Return the Items of each plan, a pair (reservations, Allocations).

        :param read: the properties by which the lease is billed already; see ``bills.described``.
        """
        pools, properties = price_facts.described(
            connection, {allocation.resource_id for _, given in plans for allocation in given},
            _names(known), read)
        items = []
        for reservations, given in plans:
            types = {reservation.id: reservation.resource_type for reservation in reservations}
            items.append([lease_pricing.PricedItem(
                allocation.reservation_id, types[allocation.reservation_id],
                pools[allocation.resource_id], allocation.start, allocation.end, allocation.copies,
                price_facts.item_properties(properties, allocation.resource_id),
                resource_id=allocation.resource_id, whole=allocation.whole)
                for allocation in given])
        return items


def asks_again(before, after, allocations):
    """Return whether a change asks for a lease again, as if it were created at the change.

    It does so before the start if it asks for another time or for further resources.

    :param allocations: those of the changed reservations; none if the lease only gets shorter.
    """
    if before.state != lifecycle.PENDING or not allocations:
        return False
    if after.start < before.start or after.end > before.end:
        return True
    had, new = collections.Counter(), collections.Counter()
    for reservation in before.reservations:
        for resource_ids in reservation.allocated.values():
            had.update((reservation.id, key) for key in resource_ids)
    for allocation in allocations:
        new[allocation.reservation_id, allocation.resource_id] += allocation.copies
    return bool(new - had)


def _taken(offer, given, now):
    """Return the plan of a lease that takes an Offer now."""
    start = max(offer.start, now)
    return (lease_pricing.Subject(start, now, ()), offer.end, offer.request,
            [dataclasses.replace(each, start=start) for each in given])


def _moved(after, had, new):
    """Return the Items of a lease that has not started."""
    again = {item.reservation_id for item in new}
    return [*new, *(dataclasses.replace(item, start=after.start, end=after.end)
                    for item in had if item.reservation_id not in again)]


def _changed(before, after, had, new, now, by_owner):
    """Return the Items of a running lease: its past ones, and those from now on."""
    again = {item.reservation_id for item in new}
    running = {(item.reservation_id, item.resource_id, item.copies): item for item in had
               if item.end == before.end and item.end > now}
    kept = {_kind(item) for item in new} & running.keys()
    items = [dataclasses.replace(item, unused_until=_promised(
        running[_kind(item)], item.end, by_owner)) for item in new if _kind(item) in kept]
    for key in sorted(again):
        items += _replacing(
            [item for kind, item in running.items() if kind not in kept and key == kind[0]],
            [item for item in new if _kind(item) not in kept and key == item.reservation_id],
            by_owner)
    for item in had:
        if item.end != before.end or item.end <= now:
            items.append(item)
        elif item.reservation_id not in again:
            end = max(after.end, now)
            items.append(dataclasses.replace(item, end=end,
                                             unused_until=_promised(item, end, by_owner)))
        else:
            items.append(dataclasses.replace(item, end=now, unused_until=(
                None if _kind(item) in kept else _promised(item, now, by_owner))))
    return unused_hours.netted([item for item in items if item.start < item.end])


def _replacing(ended, begun, by_owner):
    """Return the Items `begun` of a reservation, paid until the ends of the Items they replace."""
    promises = [unused_hours.Promise(item.resource_id, item.copies, until) for item in ended
                if not item.whole and (until := _promised(item, item.start, by_owner))]
    parts_of = unused_hours.inherited(promises, [
        unused_hours.Promise(item.resource_id, item.copies, item.end) for item in begun])
    return [dataclasses.replace(item, copies=copies, unused_until=until)
            for item, parts in zip(begun, parts_of, strict=True) for until, copies in parts.items()]


def _kind(item):
    return item.reservation_id, item.resource_id, item.copies


def _promised(item, end, by_owner):
    """Return until when an Item that ends at `end`, not at its own end, is paid."""
    ends = [item.unused_until, item.end if by_owner and end < item.end else None]
    return max(filter(None, ends), default=None)


def _names(known):
    return frozenset(name for book in known for name in book.property_names)


def _subject(lease, asked_at):
    """Return the Subject of a lease, still without Items."""
    acquisition = lease.acquisition
    return lease_pricing.Subject(
        lease.start, asked_at, (), acquisition.priority if acquisition is not None else 0,
        lease.acquire_type == acquire.BEST_EFFORT)


def _price(subject, known):
    """Return the Price of a lease by the known versions; None if none is valid then."""
    ends = [item.unused_until or item.end for item in subject.items]
    end = max(ends, default=subject.start)
    charges = lease_pricing.charges(subject, known, subject.start, end)
    currency = known[0].currency
    decimals = prices.DECIMALS[currency]
    by_version = {book.version: book for book in known}
    amounts = lease_pricing.amounts(list(charges.values()), decimals)
    return prices.LeasePrice(
        prices.amount_text(sum(amounts), currency), currency, tuple(
            lease_pricing.shown(key, charge.microseconds, prices.amount_text(minor, currency),
                                by_version[key.book])
            for (key, charge), minor in zip(charges.items(), amounts, strict=True)))
