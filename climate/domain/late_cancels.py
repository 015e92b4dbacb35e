# SPDX-License-Identifier: Apache-2.0
"""The charge for a lease, or a part of it, that its owner cancels shortly before the start.

A late cancellation costs a share of the price of what is cancelled. A deletion cancels the whole
lease with its fee. A change cancels the hours that the lease had before it and does not have after
it. Resources that are added at the same time compensate for those that are given up, at most up to
their price; resources at another time do not.
"""
from collections.abc import Sequence
import dataclasses
import datetime
import decimal
import itertools

from climate.domain import lease_pricing
from climate.domain import price_books


def is_late(start: datetime.datetime, books: Sequence[price_books.PriceBook],
            now: datetime.datetime) -> bool:
    """Return whether a cancellation of a lease with this start is late now.

    After the planned start it is not, because the resources should have been available by then.
    """
    book = price_books.at(books, now)
    if book is None or book.late_cancel is None:
        return False
    return now < start < now + datetime.timedelta(hours=book.late_cancel[0])


def of_deletion(subject: lease_pricing.Subject, books: Sequence[price_books.PriceBook],
                now: datetime.datetime) -> lease_pricing.LateCancel | None:
    """Return the charge for the deletion of a lease before its start; None: it costs nothing.

    :param books: all versions of the price book, in order.
    """
    terms = _terms(subject, books, now)
    if terms is None:
        return None
    whole = _without_later_charges(subject, subject.items)
    end = max((item.end for item in whole.items), default=subject.start)
    return _late_cancel(terms, now, [_price(whole, books, subject.start, end, with_fee=True)])


def of_change(before: lease_pricing.Subject, after: Sequence[lease_pricing.PricedItem],
              books: Sequence[price_books.PriceBook],
              now: datetime.datetime) -> lease_pricing.LateCancel | None:
    """Return the charge for a change of a lease before its start; None: it costs nothing.

    :param before: the lease before the change.
    :param after: the items of the lease after the change.
    :param books: all versions of the price book, in order.
    """
    terms = _terms(before, books, now)
    if terms is None:
        return None
    # Surcharges that the change adds, such as for short notice, must not compensate for anything.
    notice = before.start - before.asked_at
    had, has = (_without_later_charges(before, [
        dataclasses.replace(item, notice=notice) for item in items])
        for items in (before.items, after))
    moments = sorted({moment for item in (*had.items, *has.items)
                      for moment in (item.start, item.end)})
    return _late_cancel(terms, now, [
        _positive(_price(had, books, start, end) - _price(has, books, start, end))
        for start, end in itertools.pairwise(moments)])


def _terms(subject: lease_pricing.Subject, books: Sequence[price_books.PriceBook],
           now: datetime.datetime) -> tuple[int, decimal.Decimal] | None:
    """Return (version, percent) of the price book if a cancellation is late now, or None."""
    if not is_late(subject.start, books, now):
        return None
    book = price_books.at(books, now)
    assert book is not None and book.late_cancel is not None
    return book.version, book.late_cancel[1]


def _without_later_charges(subject: lease_pricing.Subject,
                           items: Sequence[lease_pricing.PricedItem]) -> lease_pricing.Subject:
    return dataclasses.replace(subject, items=tuple(items), later=(), late_cancels=())


def _price(subject: lease_pricing.Subject, books: Sequence[price_books.PriceBook],
           start: datetime.datetime, end: datetime.datetime, *,
           with_fee: bool = False) -> lease_pricing.Charge:
    """Return the price of a lease between two moments, and its resource-microseconds."""
    atoms = microseconds = 0
    for key, charge in lease_pricing.charges(subject, books, start, end).items():
        if with_fee or key.kind != lease_pricing.FEE:
            atoms += charge.atoms
        if key.kind == lease_pricing.HOURS:
            microseconds += charge.microseconds
    return lease_pricing.Charge(atoms, microseconds)


def _positive(charge: lease_pricing.Charge) -> lease_pricing.Charge:
    return lease_pricing.Charge(max(0, charge.atoms), max(0, charge.microseconds))


def _late_cancel(terms: tuple[int, decimal.Decimal], now: datetime.datetime,
                 cancelled: Sequence[lease_pricing.Charge]) -> lease_pricing.LateCancel | None:
    """Return the LateCancel for the Charges of what is cancelled; None: it costs nothing."""
    version, percent = terms
    charge = lease_pricing.share_of(sum(cancelled, lease_pricing.NOTHING), percent)
    if not charge.atoms:
        return None
    return lease_pricing.LateCancel(now, version, str(percent), charge.atoms, charge.microseconds)
