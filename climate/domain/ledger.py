# SPDX-License-Identifier: Apache-2.0
"""The months of statements, and the missing lines of a lease in its statements."""
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime

from climate.domain import lease_pricing
from climate.domain import price_books
from climate.domain import prices

#: (month of a charge, its key).
Entry = tuple[str, lease_pricing.ChargeKey]

#: The maximum amount of a line, in the smallest unit of the currency. A database can add thousands
#: of such amounts in 64 bits.
LARGEST = 10 ** 15


@dataclasses.dataclass(frozen=True)
class PostedLine:
    """A line that was written: the month of the charge, its key, and the exact charge."""

    for_month: str
    key: lease_pricing.ChargeKey
    charge: lease_pricing.Charge


@dataclasses.dataclass(frozen=True)
class MissingLine:
    """A missing line. It is a correction if its Entry has lines already."""

    for_month: str
    key: lease_pricing.ChargeKey
    charge: lease_pricing.Charge
    correction: bool


class TooLarge(Exception):
    """An amount exceeds the maximum of a line; the text has the amount."""


def refuse_too_large(amounts: Sequence[int], currency: str) -> None:
    """Refuse amounts, in the smallest unit of the currency, above the maximum of a line.

    :raises TooLarge: an amount is refused.
    """
    for amount in amounts:
        if abs(amount) > LARGEST:
            raise TooLarge(
                f'an amount of {prices.amount_text(amount, currency)} {currency} is larger than a '
                f'line can have ({prices.amount_text(LARGEST, currency)} {currency}). Are the '
                'rates of the price book right?')


def month_of(moment: datetime.datetime) -> str:
    """Return the month of a moment in UTC, such as "2030-05"."""
    return f'{moment.astimezone(datetime.UTC):%Y-%m}'


def begin_of(month: str) -> datetime.datetime:
    """Return the first moment of a month."""
    year, _, number = month.partition('-')
    return datetime.datetime(int(year), int(number), 1, tzinfo=datetime.UTC)


def end_of(month: str) -> datetime.datetime:
    """Return the first moment after a month."""
    begin = begin_of(month)
    return begin.replace(year=begin.year + begin.month // 12, month=begin.month % 12 + 1)


def charges_by_month(subject: lease_pricing.Subject, books: Sequence[price_books.PriceBook],
                     now: datetime.datetime) -> dict[Entry, lease_pricing.Charge]:
    """Return the charges of a lease by month, up to `now`.

    Ended allocations are charged as a whole, and running allocations for the past months. Unused
    hours belong to the month in which the allocation ended, and a late cancellation to the month in
    which it was made.
    """
    month = begin_of(month_of(now))
    items = [item if item.end <= now else dataclasses.replace(
        item, end=min(item.end, month), unused_until=None) for item in subject.items]
    items = [item for item in items if item.start < item.end]
    by_entry = _late_cancels_by_month(subject)
    if not items:
        return by_entry
    billed = dataclasses.replace(subject, items=tuple(items), late_cancels=())
    last = max(item.end for item in items)
    first = min(subject.start, *(item.start for item in items))
    used, current = lease_pricing.without_unused(billed), month_of(first)
    while begin_of(current) < last:
        for key, charge in lease_pricing.charges(used, books, begin_of(current),
                                                 end_of(current)).items():
            by_entry[current, key] = charge
        current = month_of(end_of(current))
    for item in items:
        if item.unused_until is None or item.unused_until <= item.end:
            continue
        alone = dataclasses.replace(billed, items=(item,))
        for key, charge in lease_pricing.charges(alone, books, item.end, item.unused_until).items():
            if key.kind in (lease_pricing.UNUSED, lease_pricing.CREDIT):
                entry = month_of(item.end), key
                by_entry[entry] = by_entry.get(entry, lease_pricing.NOTHING) + charge
    return by_entry


def _late_cancels_by_month(subject: lease_pricing.Subject) -> dict[Entry, lease_pricing.Charge]:
    by_entry: dict[Entry, lease_pricing.Charge] = {}
    for cancel in subject.late_cancels:
        key, charge = lease_pricing.late_cancel_charge(cancel)
        entry = month_of(cancel.cancelled_at), key
        by_entry[entry] = by_entry.get(entry, lease_pricing.NOTHING) + charge
    return by_entry


def missing_lines(wanted: Mapping[Entry, lease_pricing.Charge],
                  posted: Sequence[PostedLine]) -> list[MissingLine]:
    """Return the missing lines, in order; none if the written lines are right.

    A charge for idle hours is never reduced, because the measurements are deleted after a while.

    :param wanted: the result of `charges_by_month`.
    """
    written: dict[Entry, lease_pricing.Charge] = {}
    for line in posted:
        entry = line.for_month, line.key
        written[entry] = written.get(entry, lease_pricing.NOTHING) + line.charge
    lines = []
    for entry in sorted({*wanted, *written}):
        month, key = entry
        missing = (wanted.get(entry, lease_pricing.NOTHING)
                   - written.get(entry, lease_pricing.NOTHING))
        if missing.atoms and not (key.kind == lease_pricing.IDLE and missing.atoms < 0):
            lines.append(MissingLine(month, key, missing, entry in written))
    return lines
