# SPDX-License-Identifier: Apache-2.0
"""Pages of lists that are limited by the bytes of their rows as well as by the number of rows."""
import sqlalchemy as sa

#: The item after the last row of a page that a limit of bytes ended early.
EARLY_END = None


def read(connection, statement, size, most_bytes):
    """Return (the rows that a statement selects, up to `most_bytes`; the end of the list).

    The database computes the bytes of each row, so that rows beyond the limit are not read. A page
    has at least one row. The end of the list is [EARLY_END] if bytes ended the page, otherwise [].

    :param statement: a SELECT in a total order, with the limit of rows.
    :param size: an expression for the bytes of a row.
    :param most_bytes: None: no limit of bytes.
    """
    if most_bytes is None:
        return connection.execute(statement).all(), []
    sizes = connection.execute(
        statement.with_only_columns(size, maintain_column_froms=True)).scalars().all()
    count = _fitting(sizes, most_bytes)
    end = [EARLY_END] if count < len(sizes) else []
    return connection.execute(statement.limit(count)).all() if count else [], end


def length(*columns):
    """Return an expression for the number of characters in columns. Some columns may be NULL."""
    return sum((sa.func.coalesce(sa.func.length(sa.cast(column, sa.Text)), 0)
                for column in columns), start=sa.literal(0))


def of_others(column, parent, bytes_each):
    """Return an expression for the bytes of the rows of another table that refer to a row.

    :param column: the column of the other table that refers to the row.
    :param parent: the column to which it refers.
    :param bytes_each: an expression for the bytes of one of those rows, from its own columns only.
    """
    return sa.select(sa.func.coalesce(sa.func.sum(bytes_each), 0)).where(
        column == parent).correlate(parent.table).scalar_subquery()


def _fitting(sizes, most_bytes):
    """Return how many of the first sizes have a sum of at most `most_bytes`, but at least 1."""
    total = 0
    for count, size in enumerate(sizes):
        total += int(size)
        if count and total > most_bytes:
            return count
    return len(sizes)
