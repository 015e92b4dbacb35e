# SPDX-License-Identifier: Apache-2.0
"""The versions of the price book in the database."""
import dataclasses

import sqlalchemy as sa

from climate.db import tables
from climate.domain import prices

BOOKS = tables.PRICE_BOOKS
_COLUMNS = tables.columns(BOOKS, prices.StoredBook, 'valid_until')


def every(connection):
    """Return all versions, as StoredBooks, in the order in which they become valid."""
    rows = connection.execute(sa.select(*_COLUMNS).order_by(BOOKS.c.valid_from)).all()
    ends = [row.valid_from for row in rows[1:]] + [None]
    return [prices.StoredBook(*row, valid_until=end) for row, end in zip(rows, ends, strict=False)]


def add(connection, book):
    """Insert a version.

    :raises Duplicate: a version has the same number, or is valid from the same moment.
    """
    values = dataclasses.asdict(book)
    del values['valid_until']
    connection.execute(sa.insert(BOOKS).values(**values))
