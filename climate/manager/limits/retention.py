# SPDX-License-Identifier: Apache-2.0
"""The leases that a purge must keep, because limits still count them."""
import dataclasses
import datetime

from climate.db import limit_books as stored
from climate.domain.limits import reading
from climate.manager import book_versions
from climate.manager.limits import holdings


@dataclasses.dataclass(frozen=True)
class CountedSince:
    """The moment since which limits count leases that are over, and the limit with this moment."""

    since: datetime.datetime
    limit: str
    version: int


def counted_since(connection, now):
    """Return the CountedSince of the earliest moment; None: limits count no lease that is over.

    The versions of the limit book that are valid now or later matter.
    """
    books = [reading.read(book, book_versions.zone_of) for book in stored.every(connection)
             if book.valid_until is None or book.valid_until > now]
    found = [CountedSince(holdings.since_of((limit,), max(now, book.valid_from)), limit.name,
                          book.version) for book in books for limit in book.limits]
    return min((each for each in found if each.since < now), key=lambda each: each.since,
               default=None)
