# SPDX-License-Identifier: Apache-2.0
"""The records of prices and statements that travel between the manager and the API.

Amounts are text, so that no number of them is ever rounded on the way.
"""
from collections.abc import Mapping
import dataclasses
import datetime
from typing import Any

Moment = datetime.datetime


@dataclasses.dataclass(frozen=True)
class StoredBook:
    """A version of the price book as it was given, with its number and who gave it.

    It is valid until `valid_until`, when the next version begins; None: no later one is known.
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
    """A line of a price: what is charged, for how many resource-hours, at which rate.

    `percent` is that of a surcharge or credit. A fee has no hours, reservation, type and pool.
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
class Price:
    """What a lease costs in all; the lines add up to the amount."""

    amount: str
    currency: str
    lines: tuple[PriceLine, ...] = ()


@dataclasses.dataclass(frozen=True)
class StatementLine:
    """A line of a statement. It never changes; a `correction` is a line of its own.

    `month` is the statement that has the line, `for_month` the month that it is about. They differ
    only if that month was closed when the line was written.
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
    """The sum of the lines of one project in one month; a `closed` one never changes."""

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

    :ivar marker: what the page before ended with: (month, lease id, number) of a line, or (month,
        project id, 0) of a statement; None: the first page.
    """

    project_id: str | None = None
    month: str | None = None
    lease_id: str | None = None
    since: str | None = None
    limit: int | None = None
    marker: tuple[str, str, int] | None = None
