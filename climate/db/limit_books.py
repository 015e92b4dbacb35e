# SPDX-License-Identifier: Apache-2.0
"""The versions of the limit book in the database."""
from climate.db import book_versions
from climate.db import tables
from climate.domain.limits import rules

BOOKS = tables.LIMIT_BOOKS


def every(connection):
    """Return all versions, as StoredLimitBooks, in the order in which they become valid."""
    return book_versions.every(connection, BOOKS, rules.StoredLimitBook)


def add(connection, book):
    """Insert a version, as ``book_versions.add`` does; raise the same errors."""
    book_versions.add(connection, BOOKS, book)
