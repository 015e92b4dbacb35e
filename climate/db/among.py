# SPDX-License-Identifier: Apache-2.0
"""Statements about the rows with some keys, and a cheaper form of each for a single key.

SQLAlchemy writes an IN anew each time, with as many places as there are keys: that costs as much as
half of a small statement. Most are asked of one lease, or one event, for which = does.
"""
import sqlalchemy as sa


class Among:
    """A statement, built once."""

    def __init__(self, statement, column, number=None):
        """Build both forms of a statement that is about all rows.

        :param column: which of the table's are the keys.
        :param number: a column beside the key's; then each key is a pair (key, number).
        """
        self._pairs = number is not None
        # The keys alone too, because MariaDB looks no pair up in an index.
        many = column.in_(sa.bindparam('keys'))
        one = column == sa.bindparam('key')
        if self._pairs:
            many = sa.and_(many, sa.tuple_(column, number).in_(sa.bindparam('pairs')))
            one = sa.and_(one, number == sa.bindparam('number'))
        self._many, self._one = statement.where(many), statement.where(one)

    def execute(self, connection, keys, values=None):
        """The result for the rows with these keys, a list, given the other `values` it names."""
        values = values or {}
        if len(keys) == 1:
            [key] = keys
            mine = dict(zip(('key', 'number'), key, strict=True)) if self._pairs else {'key': key}
            return connection.execute(self._one, {**mine, **values})
        if not self._pairs:
            return connection.execute(self._many, {'keys': keys, **values})
        return connection.execute(self._many, {'keys': [key for key, _ in keys], 'pairs': keys,
                                               **values})
