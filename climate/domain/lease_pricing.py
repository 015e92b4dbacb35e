# SPDX-License-Identifier: Apache-2.0
"""The price of a lease between two moments: exact, never negative, and additive over time.

Exact amounts are whole numbers of atoms; a unit of a currency has `ATOMS` atoms. Even the price of
one microsecond is a whole number of atoms, with a rate of six decimals and two percentages of two
decimals.
"""
import collections
from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import datetime
import decimal

from climate.domain import book_fields
from climate.domain import interval
from climate.domain import price_books
from climate.domain import prices
from climate.domain import short_notice

FEE = 'lease_fee'
HOURS = 'resource_hours'
SHORT_NOTICE = 'short_notice'
PEAK = 'peak_hours'
PRIORITY = 'priority'
BEST_EFFORT = 'best_effort'
IDLE = 'idle'
UNUSED = 'unused_hours'
CREDIT = 'early_end_credit'
LATE_CANCEL = 'late_cancel'
#: The kinds of charges, in the order of the lines.
KINDS = (FEE, HOURS, SHORT_NOTICE, PEAK, PRIORITY, BEST_EFFORT, IDLE, UNUSED, CREDIT, LATE_CANCEL)

_MICROSECOND = datetime.timedelta(microseconds=1)
#: The microseconds of an hour.
HOUR = 3_600_000_000
# A start that takes longer is late: it failed at first, or no manager carried it out.
_ON_TIME = datetime.timedelta(minutes=5)
_RATES: int = 10 ** price_books.RATE_DECIMALS
# A factor of 1 as a percentage with two decimals.
_WHOLE: int = 100 * 10 ** book_fields.PERCENT_DECIMALS
#: The number of atoms in a unit of a currency.
ATOMS: int = HOUR * _RATES * _WHOLE ** 2


@dataclasses.dataclass(frozen=True)
class PricedItem:
    """A whole resource, or `copies` parts of one, that a reservation has from `start` to `end`.

    :ivar unused_until: until when the item was guaranteed, if its owner returned it earlier.
    :ivar unused_copies: the number of returned copies that were not replaced; None: all.
    :ivar idle: the Intervals in which nothing ran on the resource.
    :ivar notice: the time from the request to the start of the item; None: the notice of the lease.
    """

    reservation_id: str
    resource_type: str
    pool: str
    start: datetime.datetime
    end: datetime.datetime
    copies: int = 1
    properties: tuple[tuple[str, str], ...] = ()
    unused_until: datetime.datetime | None = None
    idle: tuple[interval.Interval, ...] = ()
    resource_id: int | None = None
    whole: bool = False
    unused_copies: int | None = None
    notice: datetime.timedelta | None = None


@dataclasses.dataclass(frozen=True)
class LateCancel:
    """The charge for what an owner cancelled shortly before the start of a lease.

    The amount is fixed at `cancelled_at`, by the version `book` of the price book.

    :ivar percent: the charged share of the price of what was cancelled.
    :ivar atoms: the amount in atoms.
    :ivar microseconds: the resource-microseconds that were cancelled.
    """

    cancelled_at: datetime.datetime
    book: int
    percent: str
    atoms: int
    microseconds: int


@dataclasses.dataclass(frozen=True)
class Subject:
    """The facts of a lease that determine its price.

    :ivar asked_at: when the lease was requested.
    :ivar later: the parts that the owner requested while the lease ran.
    """

    start: datetime.datetime
    asked_at: datetime.datetime
    items: tuple[PricedItem, ...]
    priority: int = 0
    best_effort: bool = False
    later: tuple[short_notice.LaterRequest, ...] = ()
    late_cancels: tuple[LateCancel, ...] = ()


@dataclasses.dataclass(frozen=True, order=True)
class ChargeKey:
    """The key of the charges that are added up in one line.

    :ivar place: the index of the kind in KINDS.
    :ivar rate: the number of the rate in its version of the price book.
    """

    place: int
    book: int
    reservation_id: str = ''
    rate: int = -1
    resource_type: str = ''
    pool: str = ''
    percent: str = ''

    @property
    def kind(self) -> str:
        return KINDS[self.place]


@dataclasses.dataclass(frozen=True)
class Charge:
    """An exact amount in atoms, and the resource-microseconds that it pays for; 0 for a fee."""

    atoms: int
    microseconds: int = 0

    def __add__(self, other: 'Charge') -> 'Charge':
        return Charge(self.atoms + other.atoms, self.microseconds + other.microseconds)

    def __sub__(self, other: 'Charge') -> 'Charge':
        return Charge(self.atoms - other.atoms, self.microseconds - other.microseconds)


NOTHING = Charge(0)
_Charges = Iterator[tuple[ChargeKey, Charge]]


def charges(subject: Subject, books: Sequence[price_books.PriceBook],
            start: datetime.datetime, end: datetime.datetime) -> dict[ChargeKey, Charge]:
    """Return the charges of a lease between two moments, without zero charges.

    Used hours are charged by the version of the price book that is valid at the time, unused hours
    by the version that is valid when they begin. The fee is charged at the start of the lease.

    :param books: all versions, in order.
    """
    by_key: dict[ChargeKey, Charge] = collections.defaultdict(lambda: NOTHING)
    book = price_books.at(books, subject.start)
    if book is not None and subject.items and start <= subject.start < end:
        by_key[_key(FEE, book)] += Charge(_scaled(book.lease_fee, _RATES) * HOUR * _WHOLE ** 2)
    for item in _by_notice(subject):
        for book, first, last in _valid_books(books, max(start, item.start), min(end, item.end)):
            for key, charge in _used_charges(subject, item, book, first, last):
                by_key[key] += charge
        book = price_books.at(books, item.end)
        if book is not None and item.unused_until is not None:
            for key, charge in _unused_charges(subject, item, book, max(start, item.end),
                                               min(end, item.unused_until)):
                by_key[key] += charge
    for cancel in subject.late_cancels:
        if start <= cancel.cancelled_at < end:
            key, charge = late_cancel_charge(cancel)
            by_key[key] += charge
    return {key: by_key[key] for key in sorted(by_key) if by_key[key].atoms}


def late_cancel_charge(cancel: LateCancel) -> tuple[ChargeKey, Charge]:
    """Return the key and the charge of a LateCancel."""
    return (ChargeKey(KINDS.index(LATE_CANCEL), cancel.book, percent=cancel.percent),
            Charge(cancel.atoms, cancel.microseconds))


def share_of(charge: Charge, percent: decimal.Decimal) -> Charge:
    """Return a percentage of a charge for used hours, or of a fee; it is exact."""
    return Charge(charge.atoms // _WHOLE * _scaled_percent(percent), charge.microseconds)


def _by_notice(subject: Subject) -> Iterator[PricedItem]:
    """Yield the items of a lease, split into parts with the same notice."""
    for item in subject.items:
        if not subject.later:
            yield item
            continue
        whole = short_notice.NoticePart(item.copies, item.start, item.end)
        unused = item.copies if item.unused_copies is None else item.unused_copies
        # The copies that were requested last count as returned first.
        for part in reversed(list(short_notice.parts(subject.later, whole, item.reservation_id,
                                                     item.resource_id))):
            is_last, unused_of_part = part.end == item.end, min(unused, part.copies)
            unused -= unused_of_part if is_last else 0
            yield dataclasses.replace(
                item, copies=part.copies, start=part.start, end=part.end, notice=part.notice,
                unused_until=item.unused_until if is_last else None, unused_copies=unused_of_part)


def charged_from(start: datetime.datetime,
                 started_at: datetime.datetime | None) -> datetime.datetime:
    """Return the first charged moment of an allocation. A late start delays it.

    :param started_at: when the reservation became active; None: it has not.
    """
    if started_at is None or started_at - start <= _ON_TIME:
        return start
    return started_at


def total(by_key: dict[ChargeKey, Charge]) -> int:
    """Return the sum of charges in atoms."""
    return sum(charge.atoms for charge in by_key.values())


def without_unused(subject: Subject) -> Subject:
    """Return the Subject without unused hours."""
    return dataclasses.replace(subject, items=tuple(
        dataclasses.replace(item, unused_until=None) for item in subject.items))


def rounded(atoms: int, decimals: int) -> int:
    """Round an exact amount to the smallest unit of a currency, half a unit up."""
    unit: int = 10 ** decimals
    return (2 * atoms * unit + ATOMS) // (2 * ATOMS)


def amounts(lines: Sequence[Charge], decimals: int, before: int = 0) -> list[int]:
    """Return the amounts of consecutive lines, in the smallest unit of a currency.

    The rounding error of a line is carried over to the next line. So the first N lines of a lease
    always add up to the rounded sum of their exact amounts.

    :param before: the sum of all earlier lines of the lease, in atoms.
    """
    result, before_rounded = [], rounded(before, decimals)
    for charge in lines:
        before += charge.atoms
        after = rounded(before, decimals)
        result.append(after - before_rounded)
        before_rounded = after
    return result


def hours(microseconds: int) -> decimal.Decimal:
    """Return microseconds as hours with at most six decimals."""
    exact = decimal.Decimal(microseconds) / HOUR
    return exact.quantize(decimal.Decimal(1).scaleb(-6))


def price_line(key: ChargeKey, microseconds: int, amount: str,
               book: price_books.PriceBook) -> prices.PriceLine:
    """Return the PriceLine of a charge.

    :param amount: the amount as text, in the currency of the book.
    """
    if key.kind == FEE:
        return prices.PriceLine(key.kind, amount, key.book)
    if key.kind == LATE_CANCEL:
        return prices.PriceLine(key.kind, amount, key.book, percent=key.percent)
    return prices.PriceLine(
        key.kind, amount, key.book, key.reservation_id, key.resource_type, key.pool,
        rate=str(book.rates[key.rate].amount), percent=key.percent or None,
        hours=f'{hours(microseconds):f}')


def _valid_books(books: Sequence[price_books.PriceBook], start: datetime.datetime,
                 end: datetime.datetime) -> Iterator[
                     tuple[price_books.PriceBook, datetime.datetime, datetime.datetime]]:
    """Yield (version, start, end) of the versions that are valid between two moments."""
    for book, following in zip(books, [*books[1:], None], strict=False):
        first = max(start, book.valid_from)
        last = end if following is None else min(end, following.valid_from)
        if first < last:
            yield book, first, last


def _used_charges(subject: Subject, item: PricedItem, book: price_books.PriceBook,
                  start: datetime.datetime, end: datetime.datetime) -> _Charges:
    number = _rate_of(item, book)
    if number is None:
        return
    rate = _scaled(book.rates[number].amount, _RATES)

    def charged(kind: str, microseconds: int, percent: decimal.Decimal | None
                ) -> tuple[ChargeKey, Charge]:
        share = _WHOLE if percent is None else _scaled_percent(percent)
        return (_key(kind, book, item, number, percent),
                Charge(rate * microseconds * share * _WHOLE, microseconds))
    all_of_it = item.copies * _microseconds(start, end)
    yield charged(HOURS, all_of_it, None)
    for kind, percent in _surcharges(subject, item, book):
        yield charged(kind, all_of_it, percent)
    for percent, microseconds in _peaks(book, start, end):
        yield charged(PEAK, item.copies * microseconds, percent)
    if book.idle:
        for span in item.idle:
            first, last = max(start, span.start, item.start), min(end, span.end, item.end)
            if first < last:
                yield charged(IDLE, item.copies * _microseconds(first, last), book.idle)


def _unused_charges(subject: Subject, item: PricedItem, book: price_books.PriceBook,
                    start: datetime.datetime, end: datetime.datetime) -> _Charges:
    """Yield the charge for unused hours with all surcharges, and the credit for these hours.

    If the credit is 100 %, yield neither of them.
    """
    number = _rate_of(item, book)
    credit = _scaled_percent(book.early_end_credit)
    copies = item.copies if item.unused_copies is None else item.unused_copies
    if number is None or start >= end or credit == _WHOLE or not copies:
        return
    microseconds = _microseconds(start, end)
    share = _WHOLE + sum(_scaled_percent(percent)
                         for _, percent in _surcharges(subject, item, book))
    weighted = microseconds * share + sum(
        peak * _scaled_percent(percent) for percent, peak in _peaks(book, start, end))
    price = copies * _scaled(book.rates[number].amount, _RATES) * weighted
    yield (_key(UNUSED, book, item, number),
           Charge(price * _WHOLE, copies * microseconds))
    yield (_key(CREDIT, book, item, number, book.early_end_credit),
           Charge(-price * credit, copies * microseconds))


def _surcharges(subject: Subject, item: PricedItem, book: price_books.PriceBook
                ) -> Iterator[tuple[str, decimal.Decimal]]:
    """Yield (kind, percent) of the surcharges that apply to all hours of a PricedItem."""
    if book.short_notice is not None:
        limit, percent = book.short_notice
        notice = subject.start - subject.asked_at if item.notice is None else item.notice
        if percent and notice < datetime.timedelta(hours=limit):
            yield SHORT_NOTICE, percent
    if book.priority and subject.priority > 0:
        yield PRIORITY, book.priority
    if book.best_effort and subject.best_effort:
        yield BEST_EFFORT, book.best_effort


def _peaks(book: price_books.PriceBook, start: datetime.datetime, end: datetime.datetime
           ) -> list[tuple[decimal.Decimal, int]]:
    """Return (percent, microseconds) of the peak hours between two moments."""
    if book.peaks is None:
        return []
    return [(percent, length // _MICROSECOND)
            for percent, length in book.peaks.lengths(start, end) if percent]


def _rate_of(item: PricedItem, book: price_books.PriceBook) -> int | None:
    return book.rate_of(item.resource_type, item.pool, dict(item.properties))


def _key(kind: str, book: price_books.PriceBook, item: PricedItem | None = None, rate: int = -1,
         percent: decimal.Decimal | None = None) -> ChargeKey:
    key = ChargeKey(KINDS.index(kind), book.version,
                    percent='' if percent is None else str(percent))
    if item is None:
        return key
    return dataclasses.replace(key, reservation_id=item.reservation_id, rate=rate,
                               resource_type=item.resource_type, pool=item.pool)


def _microseconds(start: datetime.datetime, end: datetime.datetime) -> int:
    """Return the microseconds between two moments."""
    return (end - start) // _MICROSECOND


def _scaled_percent(percent: decimal.Decimal) -> int:
    return _scaled(percent, 10 ** book_fields.PERCENT_DECIMALS)


def _scaled(value: decimal.Decimal, scale: int) -> int:
    """Return `value` × `scale`, which is a whole number."""
    return int(value * scale)
