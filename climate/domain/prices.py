# SPDX-License-Identifier: Apache-2.0
"""The records of prices and statements, and the currencies of amounts.

Amounts are text, so that nothing rounds them between the manager and the API.
"""
from collections.abc import Mapping
import dataclasses
import datetime
import decimal
from typing import Any

Moment = datetime.datetime

# The currencies of ISO 4217 in which people pay, by the number of their decimals.
_TWO = '''
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG
HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU
MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR
SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED
VES WST XCD XCG YER ZAR ZMW ZWG
'''
_NONE = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'
_THREE = 'BHD IQD JOD KWD LYD OMR TND'

#: {code: number of decimals of its amounts}.
DECIMALS = {code: count for codes, count in ((_NONE, 0), (_TWO, 2), (_THREE, 3))
            for code in codes.split()}


@dataclasses.dataclass(frozen=True)
class StoredBook:
    """A version of the price book as an administrator added it, with its number.

    The next version begins at `valid_until`; None: there is none.
    """

    version: int
    currency: str
    valid_from: Moment
    document: Mapping[str, Any]
    created_at: Moment
    created_by: str
    valid_until: Moment | None = None


@dataclasses.dataclass(frozen=True)
class PriceLine:
    """A line of a price: the `kind` of a charge, its amount, and how it was computed.

    `percent` is set for surcharges, credits and late cancellations. A fee and a late cancellation
    have no hours, reservation, type and pool.
    """

    kind: str
    amount: str
    price_book: int
    reservation_id: str | None = None
    resource_type: str | None = None
    pool: str | None = None
    rate: str | None = None
    percent: str | None = None
    hours: str | None = None


@dataclasses.dataclass(frozen=True)
class LeasePrice:
    """The total price of a lease; the lines add up to the amount."""

    amount: str
    currency: str
    lines: tuple[PriceLine, ...] = ()


@dataclasses.dataclass(frozen=True)
class StatementLine:
    """A line of a statement. It never changes; a `correction` is an additional line.

    `month` is the month of the statement, `for_month` the month of the charge. They differ only if
    the month of the charge was closed when the line was written.
    """

    lease_id: str
    number: int
    project_id: str
    month: str
    for_month: str
    correction: bool
    created_at: Moment
    currency: str
    line: PriceLine


@dataclasses.dataclass(frozen=True)
class Statement:
    """The sum of the lines of one project in one month; a `closed` Statement never changes."""

    project_id: str
    month: str
    currency: str
    amount: str
    leases: int
    lines: int
    closed: bool


@dataclasses.dataclass(frozen=True)
class StatementQuery:
    """A query for statements or their lines. A filter that is None selects all.

    :ivar marker: the last item of the previous page, as (month, lease id, number) of a line or
        (month, project id, 0) of a statement; None: return the first page.
    """

    project_id: str | None = None
    month: str | None = None
    lease_id: str | None = None
    since: str | None = None
    limit: int | None = None
    marker: tuple[str, str, int] | None = None


def amount_text(minor: int, currency: str) -> str:
    """Return an amount as text with all decimals of its currency, such as "12.40".

    :param minor: the amount in the smallest unit of the currency.
    """
    return str(decimal.Decimal(minor).scaleb(-DECIMALS[currency]))
