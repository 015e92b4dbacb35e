# SPDX-License-Identifier: Apache-2.0
"""Fields of price books and limit books: numbers, time zones and windows of the week."""
from collections.abc import Callable
from collections.abc import Mapping
import datetime
import decimal
import re
from typing import Any

from climate import errors
from climate.domain import peak_hours

#: The maximum number of digits before the point of a number.
DIGITS = 8
#: The maximum number of decimals of a percentage.
PERCENT_DECIMALS = 2
_NUMBER = re.compile(r'([0-9]+)(?:\.([0-9]+))?')
_TIME = re.compile(r'([01][0-9]|2[0-4]):([0-5][0-9])')
_DAY_END = 24 * 60


def number(field: str, value: Any, decimals: int, what: str, digits: int = DIGITS
           ) -> decimal.Decimal:
    """Read a number that is not negative, from text or from a JSON number.

    :param what: the noun for the number in the error, such as "an amount".
    :raises BadField: the value is no such number, or has too many digits or decimals.
    """
    text = value if isinstance(value, str) else str(value)
    match = _NUMBER.fullmatch(text) if text.isascii() else None
    if match is None or len(match[1]) > digits or len(match[2] or '') > decimals:
        bounds = f'at most {digits} digits' + (f' and {decimals} decimals' if decimals else '')
        raise errors.BadField(field=field, reason=(
            f'"{text[:40]}" is not {what}: write a number that is not negative, with {bounds}, '
            f'such as "{"12.50" if decimals else "24"}".'))
    return decimal.Decimal(text)


def zone(field: str, name: str, zone_of: Callable[[str], datetime.tzinfo | None]
         ) -> datetime.tzinfo:
    """Return the time zone with a name.

    :param zone_of: the function that returns the time zone with a name, or None.
    :raises BadField: there is no such time zone.
    """
    known_zone = zone_of(name)
    if known_zone is None:
        raise errors.BadField(field=field, reason=(
            f'"{name[:80]}" is no known time zone: write "UTC" or a name such as '
            '"Europe/Berlin".'))
    return known_zone


def window(field: str, document: Mapping[str, Any], percent: decimal.Decimal
           ) -> peak_hours.PeakWindow:
    """Read a window of the week from its `days`, `from` and `to`.

    :raises BadField: a time is malformed, or the window does not end after it begins.
    """
    begin, end = (_minutes(f'{field}.{name}', document[name]) for name in ('from', 'to'))
    if end <= begin:
        raise errors.BadField(field=f'{field}.to', reason=(
            f'{document["to"]} is not after {document["from"]}: a window is within one day; write '
            'two windows, one until 24:00 and one from 00:00.'))
    return peak_hours.PeakWindow(frozenset(map(peak_hours.DAYS.index, document['days'])), begin,
                                 end, percent)


def _minutes(field: str, text: str) -> int:
    match = _TIME.fullmatch(text)
    minutes = 60 * int(match[1]) + int(match[2]) if match else None
    if minutes is None or minutes > _DAY_END:
        raise errors.BadField(field=field, reason=(
            f'"{text[:40]}" is no time of day: write "08:00" to "24:00".'))
    return minutes
