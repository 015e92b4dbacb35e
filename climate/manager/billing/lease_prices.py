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
        if not any(self._valid_before(each.end) for each in found):
            return list(found)
        with self._core.database.reader() as connection:
            given = offers.allocations_of(connection, found)
        made = self._prices([_taken(each, given[each.id], now) for each in found])
        return [dataclasses.replace(each, price=price)
                for each, price in zip(found, made, strict=True)]

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
            found = price_facts.read(connection, before.id, _names(known), read, planned=True)
            [new] = self._items(connection, known, [(after.reservations, allocations)], read)
        if found is None:
            return None
        had = found.subject.items
        items = (_moved(after, had, new) if before.state == lifecycle.PENDING
                 else _changed(before, after, had, new, now, by_owner))
        asked_at = now if asks_again(before, after, allocations) else found.subject.asked_at
        later = short_notice.with_added(
            found.subject.later, short_notice.of_change(before, after, allocations, now))
        return _price(dataclasses.replace(_subject(after, asked_at), items=tuple(items),
                                          later=later), known)

    def _valid_before(self, end):
        return [each for each in self._books.every() if each.valid_from < end]

    def _items(self, connection, known, plans, read=()):
        """Return the Items of each plan, a pair (reservations, Allocations).

        :param read: the properties by which the lease is billed already; see ``bills.described``.
        """
        pools, properties = price_facts.described(
            connection, {each.resource_id for _, given in plans for each in given}, _names(known),
            read)
        found = []
        for reservations, given in plans:
            types = {each.id: each.resource_type for each in reservations}
            found.append([lease_pricing.PricedItem(
                each.reservation_id, types[each.reservation_id], pools[each.resource_id],
                each.start, each.end, each.copies,
                price_facts.item_properties(properties, each.resource_id),
                resource_id=each.resource_id, whole=each.whole) for each in given])
        return found


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
    for each in before.reservations:
        for resource_ids in each.allocated.values():
            had.update((each.id, key) for key in resource_ids)
    for each in allocations:
        new[each.reservation_id, each.resource_id] += each.copies
    return bool(new - had)


def _taken(offer, given, now):
    """Return the plan of a lease that takes an Offer now."""
    start = max(offer.start, now)
    return (lease_pricing.Subject(start, now, ()), offer.end, offer.request,
            [dataclasses.replace(each, start=start) for each in given])


def _moved(after, had, new):
    """Return the Items of a lease that has not started."""
    again = {each.reservation_id for each in new}
    return [*new, *(dataclasses.replace(each, start=after.start, end=after.end)
                    for each in had if each.reservation_id not in again)]


def _changed(before, after, had, new, now, by_owner):
    """Return the Items of a running lease: its past ones, and those from now on."""
    again = {each.reservation_id for each in new}
    running = {(each.reservation_id, each.resource_id, each.copies): each for each in had
               if each.end == before.end and each.end > now}
    kept = {_kind(each) for each in new} & running.keys()
    items = [dataclasses.replace(each, unused_until=_promised(
        running[_kind(each)], each.end, by_owner)) for each in new if _kind(each) in kept]
    for key in sorted(again):
        items += _replacing(
            [each for kind, each in running.items() if kind not in kept and key == kind[0]],
            [each for each in new if _kind(each) not in kept and key == each.reservation_id],
            by_owner)
    for each in had:
        if each.end != before.end or each.end <= now:
            items.append(each)
        elif each.reservation_id not in again:
            end = max(after.end, now)
            items.append(dataclasses.replace(each, end=end,
                                             unused_until=_promised(each, end, by_owner)))
        else:
            items.append(dataclasses.replace(each, end=now, unused_until=(
                None if _kind(each) in kept else _promised(each, now, by_owner))))
    return unused_hours.netted([each for each in items if each.start < each.end])


def _replacing(ended, begun, by_owner):
    """Return the Items `begun` of a reservation, paid until the ends of the Items they replace."""
    promises = [unused_hours.Promise(each.resource_id, each.copies, until) for each in ended
                if not each.whole and (until := _promised(each, each.start, by_owner))]
    found = unused_hours.inherited(promises, [
        unused_hours.Promise(each.resource_id, each.copies, each.end) for each in begun])
    return [dataclasses.replace(each, copies=copies, unused_until=until)
            for each, parts in zip(begun, found, strict=True) for until, copies in parts.items()]


def _kind(item):
    return item.reservation_id, item.resource_id, item.copies


def _promised(item, end, by_owner):
    """Return until when an Item that ends at `end`, not at its own end, is paid."""
    found = [item.unused_until, item.end if by_owner and end < item.end else None]
    return max(filter(None, found), default=None)


def _names(known):
    return frozenset(name for each in known for name in each.property_names)


def _subject(lease, asked_at):
    """Return the Subject of a lease, still without Items."""
    acquisition = lease.acquisition
    return lease_pricing.Subject(
        lease.start, asked_at, (), acquisition.priority if acquisition is not None else 0,
        lease.acquire_type == acquire.BEST_EFFORT)


def _price(subject, known):
    """Return the Price of a lease by the known versions; None if none is valid then."""
    ends = [each.unused_until or each.end for each in subject.items]
    end = max(ends, default=subject.start)
    found = lease_pricing.charges(subject, known, subject.start, end)
    currency = known[0].currency
    decimals = prices.DECIMALS[currency]
    by_version = {each.version: each for each in known}
    amounts = lease_pricing.amounts(list(found.values()), decimals)
    return prices.LeasePrice(
        prices.amount_text(sum(amounts), currency), currency, tuple(
            lease_pricing.shown(key, charge.microseconds, prices.amount_text(minor, currency),
                                by_version[key.book])
            for (key, charge), minor in zip(found.items(), amounts, strict=True)))
