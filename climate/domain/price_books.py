# SPDX-License-Identifier: Apache-2.0
"""A version of the price book: its rates, surcharges and credits, and their validation."""
import bisect
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import decimal
import functools
from typing import Any

from climate import errors
from climate.domain import book_fields
from climate.domain import peak_hours
from climate.domain import prices
from climate.domain import requirement
from climate.domain import values

_ZERO = decimal.Decimal(0)
#: The maximum number of decimals of a fee or rate.
RATE_DECIMALS = 6
_MOST_PERCENT = 1000


@dataclasses.dataclass(frozen=True)
class Rate:
    """The price of a resource-hour, and the conditions for the resource; None: no condition."""

    amount: decimal.Decimal
    resource_type: str | None = None
    pool: str | None = None
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def rank(self) -> tuple[int, bool, bool]:
        """Return how specific the rate is: properties count most, then the pool, then the type."""
        return len(self.properties), self.pool is not None, self.resource_type is not None

    @property
    def conditions(self) -> dict[str, str]:
        """Return the conditions as {field: value}."""
        named = {'resource_type': self.resource_type, 'pool': self.pool}
        return {**{name: value for name, value in named.items() if value is not None},
                **{f'properties.{name}': value for name, value in self.properties.items()}}

    def matches(self, resource_type: str, pool: str, properties: Mapping[str, str]) -> bool:
        """Return whether a resource meets the conditions. Properties compare as in criteria."""
        return (self.resource_type in (None, resource_type) and self.pool in (None, pool)
                and all(name in properties and values.compare(
                    _members(name, properties[name]), '==', self.properties[name], wanted)
                        for name, wanted in self._wanted.items()))

    @functools.cached_property
    def _wanted(self) -> dict[str, values.Typed]:
        return {name: values.typed(value) for name, value in self.properties.items()}

    @property
    def meaning(self) -> dict[str, object]:
        """Return the conditions as {field: value in the form that is compared}."""
        return {**self.conditions, **{f'properties.{name}': wanted
                                      for name, wanted in self._wanted.items()}}


@dataclasses.dataclass(frozen=True)
class PriceBook:
    """A version of the price book, valid from `valid_from` until the next version is valid.

    :ivar rates: the rates, the most specific one first.
    :ivar short_notice: (hours, percent): the surcharge of leases that are requested less than these
        hours before their start.
    :ivar late_cancel: (hours, percent): the share of its price that a lease costs if its owner
        cancels it, or a part of it, less than these hours before its start.
    :ivar early_end_credit: the percentage of the price of unused hours that is not charged.
    """

    version: int
    currency: str
    valid_from: datetime.datetime
    lease_fee: decimal.Decimal = _ZERO
    rates: tuple[Rate, ...] = ()
    short_notice: tuple[int, decimal.Decimal] | None = None
    peaks: peak_hours.PeakHours | None = None
    priority: decimal.Decimal = _ZERO
    best_effort: decimal.Decimal = _ZERO
    idle: decimal.Decimal = _ZERO
    early_end_credit: decimal.Decimal = decimal.Decimal(100)
    late_cancel: tuple[int, decimal.Decimal] | None = None

    def rate_of(self, resource_type: str, pool: str, properties: Mapping[str, str]) -> int | None:
        """Return the position of the most specific rate for a resource; None: there is none."""
        return next((index for index, rate in enumerate(self.rates)
                     if rate.matches(resource_type, pool, properties)), None)

    @property
    def property_names(self) -> frozenset[str]:
        """Return the names of the properties in the conditions of all rates."""
        return frozenset(name for rate in self.rates for name in rate.properties)


def _members(name: str, text: str) -> str | frozenset[str]:
    return frozenset(text.split()) if name == requirement.TRAITS else text


def at(books: Sequence[PriceBook], moment: datetime.datetime) -> PriceBook | None:
    """Return the version that is valid at a moment; None: no version is valid yet.

    :param books: the versions, in order.
    """
    count = bisect.bisect_right(books, moment, key=lambda book: book.valid_from)
    return books[count - 1] if count else None


def read(stored: prices.StoredBook, zone_of: Callable[[str], datetime.tzinfo | None]) -> PriceBook:
    """Read a version of the price book from its document.

    :param zone_of: the function that returns the time zone with a name, or None.
    :raises BadField: the document has an error; the error names the field.
    """
    document = stored.document
    if stored.currency not in prices.DECIMALS:
        raise errors.BadField(field='currency', reason=(
            f'"{stored.currency[:40]}" is no currency of ISO 4217: write a code such as "EUR".'))
    notice, cancel = document.get('short_notice'), document.get('late_cancel')
    return PriceBook(
        stored.version, stored.currency, stored.valid_from,
        lease_fee=_amount('lease_fee', document.get('lease_fee', 0)),
        rates=_rates(document.get('rates', ())),
        short_notice=notice and (
            _hours('short_notice.hours', notice['hours']),
            _percent('short_notice.percent', notice['percent'])),
        peaks=_peak_hours(document.get('peak_hours'), zone_of),
        priority=_surcharge(document, 'priority'),
        best_effort=_surcharge(document, 'best_effort'), idle=_surcharge(document, 'idle'),
        early_end_credit=_percent(
            'early_end.credit_percent', document.get('early_end', {}).get('credit_percent', 100),
            most=100),
        late_cancel=cancel and (
            _hours('late_cancel.hours', cancel['hours']),
            _percent('late_cancel.percent', cancel['percent'], most=100)))


def _rates(documents: Sequence[Mapping[str, Any]]) -> tuple[Rate, ...]:
    rates = [Rate(_amount(f'rates.{index}.rate', document['rate']), document.get('resource_type'),
                  document.get('pool'), dict(document.get('properties', {})))
             for index, document in enumerate(documents)]
    if rates and all(rate.conditions for rate in rates):
        raise errors.BadField(field='rates', reason=(
            'resources that meet the conditions of no rate have no price: add a rate without '
            'conditions, such as {"rate": "0"} if these resources are free.'))
    _refuse_equal(rates)
    return tuple(sorted(rates, key=lambda rate: rate.rank, reverse=True))


def _refuse_equal(rates: Sequence[Rate]) -> None:
    """Refuse two equally specific rates whose conditions the same resource can meet.

    :raises BadField: there are such rates, and no rate has the conditions of both.
    """
    meanings, ranks = [rate.meaning for rate in rates], [rate.rank for rate in rates]
    known = {frozenset(meaning.items()) for meaning in meanings}
    for second, later in enumerate(meanings):
        for first, earlier in enumerate(meanings[:second]):
            if ranks[first] != ranks[second] or any(later.get(name, value) != value
                                                    for name, value in earlier.items()):
                continue
            if earlier != later and frozenset({**earlier, **later}.items()) in known:
                continue
            conditions = {**rates[first].conditions, **rates[second].conditions}
            shown = ', '.join(f'{name} {value}' for name, value in sorted(conditions.items()))
            raise errors.BadField(field=f'rates.{second}', reason=(
                f'it and rates.{first} are for the same resources '
                f'({shown[:300] or "no condition"}) and equally specific: '
                + ('remove one of them.' if earlier == later else
                   'add a rate with the conditions of both, or remove one of them.')))


def _peak_hours(document: Mapping[str, Any] | None,
                zone_of: Callable[[str], datetime.tzinfo | None]) -> peak_hours.PeakHours | None:
    if document is None:
        return None
    zone = book_fields.zone('peak_hours.timezone', document['timezone'], zone_of)
    windows = tuple(_window(f'peak_hours.windows.{index}', window)
                    for index, window in enumerate(document['windows']))
    overlapping = peak_hours.overlap(windows)
    if overlapping is not None:
        first, second = overlapping
        raise errors.BadField(field=f'peak_hours.windows.{second}', reason=(
            f'it overlaps peak_hours.windows.{first}: give each hour of the week one '
            'percentage at most.'))
    return peak_hours.PeakHours(zone, windows)


def _window(field: str, document: Mapping[str, Any]) -> peak_hours.PeakWindow:
    return book_fields.window(field, document, _percent(f'{field}.percent', document['percent']))


def _hours(field: str, value: Any) -> int:
    hours = book_fields.number(field, value, 0, 'a number of hours')
    if not 1 <= hours <= 8784:
        raise errors.BadField(field=field, reason='write 1 to 8784 hours.')
    return int(hours)


def _surcharge(document: Mapping[str, Any], name: str) -> decimal.Decimal:
    return _percent(f'{name}.percent', document.get(name, {}).get('percent', 0))


def _percent(field: str, value: Any, most: int = _MOST_PERCENT) -> decimal.Decimal:
    percent = book_fields.number(field, value, book_fields.PERCENT_DECIMALS, 'a percentage')
    if percent > most:
        raise errors.BadField(field=field, reason=f'{percent} is more than {most}, the maximum.')
    return percent


def _amount(field: str, value: Any) -> decimal.Decimal:
    return book_fields.number(field, value, RATE_DECIMALS, 'an amount')
