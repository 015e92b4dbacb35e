# SPDX-License-Identifier: Apache-2.0
"""Statements for rows with given keys, with a cheaper form for a single key; batches of keys.

SQLAlchemy renders an IN clause again for each call, which costs half as much as a small statement.
Most calls have a single key, for which a comparison with = is enough.
"""
import sqlalchemy as sa


def batches(keys, size):
    """Yield lists of at most `size` of the keys, in their order."""
    listed = list(keys)
    for first in range(0, len(listed), size):
        yield listed[first:first + size]


class ByKeys:
    """A statement for rows with given keys, built once."""

    def __init__(self, statement, column, number=None):
        """Build both forms of the statement.

        :param statement: the statement without the condition on the keys.
        :param column: the column of the keys.
        :param number: a second column; then each key is a pair (key, number).
        """
        self._pairs = number is not None
        # The additional condition on the keys lets MariaDB use an index, which it does not for
        # pairs.
        many = column.in_(sa.bindparam('keys'))
        one = column == sa.bindparam('key')
        if self._pairs:
            many = sa.and_(many, sa.tuple_(column, number).in_(sa.bindparam('pairs')))
            one = sa.and_(one, number == sa.bindparam('number'))
        self._many, self._one = statement.where(many), statement.where(one)

    def execute(self, connection, keys, values=None):
        """Run the statement for the rows with these keys, a list; return the result.

        :param values: {name: value} of its other parameters.
        """
        values = values or {}
        if len(keys) == 1:
            [key] = keys
            named = dict(zip(('key', 'number'), key, strict=True)) if self._pairs else {'key': key}
            return connection.execute(self._one, {**named, **values})
        if not self._pairs:
            return connection.execute(self._many, {'keys': keys, **values})
        return connection.execute(self._many, {'keys': [key for key, _ in keys], 'pairs': keys,
                                               **values})
