# SPDX-License-Identifier: Apache-2.0
"""The versions of the price book in the database."""
from climate.db import book_versions
from climate.db import tables
from climate.domain import prices

BOOKS = tables.PRICE_BOOKS


def every(connection):
    """Return all versions, as StoredBooks, in the order in which they become valid."""
    return book_versions.every(connection, BOOKS, prices.StoredBook)


def add(connection, book):
    """Insert a version, as ``book_versions.add`` does; raise the same errors."""
    book_versions.add(connection, BOOKS, book)
