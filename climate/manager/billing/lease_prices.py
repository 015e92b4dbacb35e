# SPDX-License-Identifier: Apache-2.0
"""The expected prices of leases: for dry runs, changes, free slots and offers."""
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
from climate.manager.billing import late_cancels
from climate.manager.billing import priced_items


class LeasePrices:
    """Computes what leases would cost according to the price book."""

    def __init__(self, core):
        self._core = core
        self._books = books.KnownBooks(core)

    def of_new(self, lease, allocations, now):
        """Return the LeasePrice of a Lease that would get these Allocations.

        :returns: None if no version of the price book is valid before the end of the lease.
        """
        return self.of_plans([(lease, allocations)], now)[0]

    def of_plans(self, plans, now):
        """Return the LeasePrices of several leases that would be created now, in order.

        :param plans: [(Lease, the Allocations that it would get)]. One query reads all resources.
        :returns: None instead of a LeasePrice if no version of the price book is valid before the
            end of the lease.
        """
        return self._prices([(_subject(lease, now), lease.end, lease.reservations, allocations)
                             for lease, allocations in plans])

    def of_offers(self, unpriced, now):
        """Return Offers with their prices. Each is the price of a lease that takes the offer now.

        :param unpriced: Offers, with or without their allocations. One query reads all allocations.
        """
        if not any(self._valid_before(offer.end) for offer in unpriced):
            return list(unpriced)
        with self._core.database.reader() as connection:
            allocations_of = offers.allocations_of(connection, unpriced)
        offer_prices = self._prices([_plan_of_offer(offer, allocations_of[offer.id], now)
                                     for offer in unpriced])
        return [dataclasses.replace(offer, price=price)
                for offer, price in zip(unpriced, offer_prices, strict=True)]

    def _prices(self, plans):
        """Return the LeasePrice of each plan, or None; one query reads all resources.

        :param plans: [(Subject without PricedItems, end, reservations, Allocations)].
        """
        versions = [self._valid_before(end) for _, end, _, _ in plans]
        if not any(versions):
            return [None] * len(plans)
        with self._core.database.reader() as connection:
            items = priced_items.of_plans(connection, max(versions, key=len), [
                (reservations, allocations) for _, _, reservations, allocations in plans])
        return [_price(dataclasses.replace(plan[0], items=tuple(of_plan)), valid) if valid else None
                for plan, of_plan, valid in zip(plans, items, versions, strict=True)]

    def of_change(self, before, after, allocations, now, by_owner=True):
        """Return the LeasePrice of a whole lease, from its start to its end, if it changed now.

        :param before: the Lease before the change.
        :param after: the Lease after the change.
        :param allocations: the new Allocations. Reservations without new ones keep theirs.
        :param by_owner: whether the owner asks for the change, and so pays for unused hours.
        :returns: None if no version of the price book is valid before the end of the lease.
        """
        versions = self._valid_before(max(before.end, after.end))
        if not versions:
            return None
        with self._core.database.reader() as connection:
            bill = bills.get(connection, before.id)
            read = bill.properties if bill is not None else {}
            billing = price_facts.read(
                connection, before.id, priced_items.property_names(versions), read, planned=True)
            [new_items] = priced_items.of_plans(
                connection, versions, [(after.reservations, allocations)], read)
            cancel = late_cancels.of_change(
                connection, before, after, allocations, now) if by_owner else None
        if billing is None:
            return None
        old_items = billing.subject.items
        items = (priced_items.moved(after, old_items, new_items)
                 if before.state == lifecycle.PENDING
                 else _changed(before, after, old_items, new_items, now, by_owner))
        asked_at = now if asks_again(before, after, allocations) else billing.subject.asked_at
        later = short_notice.with_added(
            billing.subject.later, short_notice.of_change(before, after, allocations, now))
        return _price(dataclasses.replace(
            _subject(after, asked_at), items=tuple(items), later=later, late_cancels=(
                *billing.subject.late_cancels, *([cancel] if cancel is not None else ()))),
            versions)

    def of_late_change(self, before, after, allocations, now):
        """Return the LeasePrice of what a change by the owner cancels late; None: nothing.

        The parameters are those of `of_change`.
        """
        with self._core.database.reader() as connection:
            cancel = late_cancels.of_change(connection, before, after, allocations, now)
        return self._of_late_cancel(cancel)

    def of_deletion(self, lease, now):
        """Return the LeasePrice if the owner deleted a lease now; None: it costs nothing."""
        with self._core.database.reader() as connection:
            cancel = late_cancels.of_deletion(connection, lease, now)
        return self._of_late_cancel(cancel)

    def _of_late_cancel(self, cancel):
        return None if cancel is None else late_cancels.price(cancel, self._books.every())

    def _valid_before(self, end):
        return [book for book in self._books.every() if book.valid_from < end]


def asks_again(before, after, allocations):
    """Return whether a change counts as a request for a new lease, made at the time of the change.

    Such a change asks for an earlier start, a later end or additional resources before the start.

    :param allocations: the new Allocations; none if the lease only gets shorter.
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


def _plan_of_offer(offer, allocations, now):
    """Return a plan for `_prices`, of a lease that takes an Offer now."""
    start = max(offer.start, now)
    return (lease_pricing.Subject(start, now, ()), offer.end, offer.request,
            [dataclasses.replace(allocation, start=start) for allocation in allocations])


def _changed(before, after, old, new, now, by_owner):
    """Return the PricedItems of a running lease: its past ones, and its items from now on."""
    changed_ids = {item.reservation_id for item in new}
    running = {_key(item): item for item in old if item.end == before.end and item.end > now}
    kept = {_key(item) for item in new} & running.keys()
    items = [dataclasses.replace(item, unused_until=_paid_until(
        running[_key(item)], item.end, by_owner)) for item in new if _key(item) in kept]
    for reservation_id in sorted(changed_ids):
        items += _replacing(
            [item for key, item in running.items()
             if key not in kept and item.reservation_id == reservation_id],
            [item for item in new
             if _key(item) not in kept and item.reservation_id == reservation_id], by_owner)
    for item in old:
        if item.end != before.end or item.end <= now:
            items.append(item)
        elif item.reservation_id not in changed_ids:
            end = max(after.end, now)
            items.append(dataclasses.replace(item, end=end,
                                             unused_until=_paid_until(item, end, by_owner)))
        else:
            items.append(dataclasses.replace(item, end=now, unused_until=(
                None if _key(item) in kept else _paid_until(item, now, by_owner))))
    return unused_hours.with_unused_copies([item for item in items if item.start < item.end])


def _replacing(ended, begun, by_owner):
    """Return the PricedItems `begun`, each paid at least until the end of the item it replaces.

    :param ended: the PricedItems of the same reservation that end now.
    """
    guarantees = [unused_hours.Guarantee(item.resource_id, item.copies, until) for item in ended
                  if not item.whole and (until := _paid_until(item, item.start, by_owner))]
    parts_of = unused_hours.inherited_guarantees(guarantees, [
        unused_hours.Guarantee(item.resource_id, item.copies, item.end) for item in begun])
    return [dataclasses.replace(item, copies=copies, unused_until=until)
            for item, parts in zip(begun, parts_of, strict=True) for until, copies in parts.items()]


def _key(item):
    return item.reservation_id, item.resource_id, item.copies


def _paid_until(item, end, by_owner):
    """Return until when the owner pays for a PricedItem that now ends at `end`, or None."""
    ends = [item.unused_until, item.end if by_owner and end < item.end else None]
    return max(filter(None, ends), default=None)


def _subject(lease, asked_at):
    """Return the Subject of a lease, without PricedItems."""
    acquisition = lease.acquisition
    return lease_pricing.Subject(
        lease.start, asked_at, (), acquisition.priority if acquisition is not None else 0,
        lease.acquire_type == acquire.BEST_EFFORT)


def _price(subject, versions):
    """Return the LeasePrice of a Subject according to versions of the price book."""
    ends = [item.unused_until or item.end for item in subject.items]
    end = max(ends, default=subject.start)
    start = min([subject.start, *(cancel.cancelled_at for cancel in subject.late_cancels)])
    charges = lease_pricing.charges(subject, versions, start, end)
    currency = versions[0].currency
    decimals = prices.DECIMALS[currency]
    by_version = {book.version: book for book in versions}
    amounts = lease_pricing.amounts(list(charges.values()), decimals)
    return prices.LeasePrice(
        prices.amount_text(sum(amounts), currency), currency, tuple(
            lease_pricing.price_line(key, charge.microseconds, prices.amount_text(minor, currency),
                                     by_version[key.book])
            for (key, charge), minor in zip(charges.items(), amounts, strict=True)))
