# SPDX-License-Identifier: Apache-2.0
"""The versions of a price book or limit book in the database. A version is never changed."""
import dataclasses

import sqlalchemy as sa

from climate.db import tables


def every(connection, table, record):
    """Return all versions, as records, in the order in which they become valid.

    :param record: the class of the records, with a `valid_until` that the table does not have.
    """
    columns = tables.columns(table, record, 'valid_until')
    rows = connection.execute(sa.select(*columns).order_by(table.c.valid_from)).all()
    ends = [row.valid_from for row in rows[1:]] + [None]
    return [record(*row, valid_until=end) for row, end in zip(rows, ends, strict=False)]


def add(connection, table, book):
    """Insert a version.

    :raises Duplicate: a version has the same number, or is valid from the same moment.
    """
    values = dataclasses.asdict(book)
    del values['valid_until']
    connection.execute(sa.insert(table).values(**values))
