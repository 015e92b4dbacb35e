# SPDX-License-Identifier: Apache-2.0
"""The charges for leases, or parts of them, that owners cancel shortly before the start."""

from climate.db import bills
from climate.db import late_cancels as stored
from climate.db import price_facts
from climate.domain import late_cancels
from climate.domain import lease_pricing
from climate.domain import lifecycle
from climate.domain import prices
from climate.manager.billing import books
from climate.manager.billing import priced_items


def of_deletion(connection, lease, now):
    """Return the LateCancel if the owner of a lease deleted it now; None: it costs nothing."""
    return _charge(connection, lease, now, lambda priced, versions: late_cancels.of_deletion(
        priced.subject, versions, now))


def of_change(connection, before, after, allocations, now):
    """Return the LateCancel if the owner of a lease changed it now; None: it costs nothing.

    :param before: the Lease before the change.
    :param after: the Lease after the change.
    :param allocations: the new Allocations. Reservations without new ones keep theirs.
    """
    def charged(priced, versions):
        [new_items] = priced_items.of_plans(
            connection, versions, [(after.reservations, allocations)], priced.properties)
        items = priced_items.moved(after, priced.subject.items, new_items)
        return late_cancels.of_change(
            priced.subject, [item for item in items if item.start < item.end], versions, now)
    return _charge(connection, before, now, charged)


def write_deletion(connection, lease, now):
    """Write the charge for the deletion of a locked lease by its owner, if it costs anything."""
    _write(connection, lease, of_deletion(connection, lease, now))


def write_change(connection, change, allocations):
    """Write the charge for a LeaseChange of a locked lease, if it costs anything."""
    if change.by_owner:
        _write(connection, change.lease, of_change(
            connection, change.lease, change.target, allocations, change.now))


def price(cancel, versions):
    """Return the LeasePrice of a LateCancel alone."""
    book = next(book for book in versions if book.version == cancel.book)
    amount = prices.amount_text(lease_pricing.rounded(
        cancel.atoms, prices.DECIMALS[book.currency]), book.currency)
    key, charge = lease_pricing.late_cancel_charge(cancel)
    return prices.LeasePrice(amount, book.currency, (
        lease_pricing.price_line(key, charge.microseconds, amount, book),))


def _charge(connection, lease, now, charged):
    """Return what `charged` returns for the PricedLease and the versions of the price book."""
    # Only what is cancelled before the start is charged as cancelled.
    if lease.state != lifecycle.PENDING or lease.start <= now:
        return None
    versions = books.read_all(connection)
    if not late_cancels.is_late(lease.start, versions, now):
        return None
    bill = bills.get(connection, lease.id)
    priced = price_facts.read(
        connection, lease.id, priced_items.property_names(versions),
        bill.properties if bill is not None else {}, planned=True)
    return None if priced is None else charged(priced, versions)


def _write(connection, lease, cancel):
    if cancel is not None:
        stored.add(connection, lease.id, cancel)
