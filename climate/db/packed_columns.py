# SPDX-License-Identifier: Apache-2.0
"""Moments and texts of very many rows, read as numpy columns.

Creating a record for each row takes a hundred times longer than reading the rows. So the database
concatenates the columns of all rows of a group into one value.
"""
import functools

import numpy as np
import sqlalchemy as sa

_DAY = 86400 * 10 ** 6
#: The length of an id, which is padded with spaces in a packed value.
ID_LENGTH = 36
# PostgreSQL sends microseconds since the year 2000.
_EPOCH_2000 = 946684800 * 10 ** 6
# Values are parsed in groups of this many, to limit the memory for the columns of digits.
_AT_ONCE = 500
# The length of a moment as text, such as 2030-05-01 12:00:00.000000, and the value of its digits by
# their position: in months for year and month, in microseconds for day and time.
_TEXT = 26
_MONTHS = {0: 12000, 1: 1200, 2: 120, 3: 12, 5: 10, 6: 1}
_MICROSECONDS = {
    8: 10 * _DAY, 9: _DAY, 11: 36 * 10 ** 9, 12: 36 * 10 ** 8, 14: 6 * 10 ** 8, 15: 6 * 10 ** 7,
    17: 10 ** 7, 18: 10 ** 6, **{20 + place: 10 ** (5 - place) for place in range(6)}}


def prepare(connection):
    """Configure a connection so that the database does not truncate packed values."""
    if connection.dialect.name == 'mysql':
        # By default MySQL truncates the result after 1024 bytes.
        connection.exec_driver_sql('SET SESSION group_concat_max_len = 1073741824')


def packed(dialect, moments=(), ids=()):
    """Return the SQL aggregate that concatenates columns of all rows of a group.

    :param dialect: the name of the dialect.
    :param moments: columns of moments that are never null.
    :param ids: columns of ids that are never null. They follow the moments.
    """
    padded = [sa.func.substr(sa.type_coerce(column, sa.String).concat(' ' * ID_LENGTH), 1,
                             ID_LENGTH) for column in ids]
    if dialect == 'postgresql':
        parts = [*map(sa.func.timestamptz_send, moments),
                 *(sa.func.convert_to(text, 'UTF8') for text in padded)]
        row = functools.reduce(lambda one, other: one.op('||')(other), parts)
        return sa.func.string_agg(row, sa.literal_column("''::bytea"), type_=sa.LargeBinary)
    parts = [*(sa.type_coerce(column, sa.String) for column in moments), *padded]
    if dialect == 'mysql':
        return sa.func.group_concat(sa.func.concat(*parts).op('SEPARATOR')(
            sa.literal_column("''")), type_=sa.String)
    row = functools.reduce(lambda one, other: one.concat(other), parts)
    return sa.func.group_concat(row, sa.literal_column("''"), type_=sa.String)


def unpacked(dialect, values, moments=0, ids=0):
    """Return the columns of packed values, in the order of the values.

    :param moments: the number of moments in each row.
    :param ids: the number of ids in each row.
    :returns: (the number of rows in each value, an array of the moments in microseconds since 1970
        with a row for each row, a list of arrays of ids as `id_key` returns them).
    """
    size, read = (8, _from_bytes) if dialect == 'postgresql' else (_TEXT, _from_text)
    width = moments * size + ids * ID_LENGTH
    moment_parts, id_parts = [np.zeros((0, moments), np.int64)], [np.zeros((0, ids), 'S36')]
    for first in range(0, len(values), _AT_ONCE):
        rows = np.frombuffer(_joined(values[first:first + _AT_ONCE]), np.uint8).reshape(-1, width)
        split = np.ascontiguousarray(rows[:, :moments * size]), np.ascontiguousarray(
            rows[:, moments * size:])
        if moments:
            moment_parts.append(read(split[0]).reshape(-1, moments))
        if ids:
            id_parts.append(split[1].view(f'S{ID_LENGTH}'))
    columns = np.concatenate(id_parts)
    return ([len(value) // width for value in values], np.concatenate(moment_parts),
            [columns[:, place] for place in range(ids)])


def id_key(text):
    """Return an id as it is in the arrays of `unpacked`."""
    return text.ljust(ID_LENGTH).encode()


def id_text(key):
    """Return the id of an `id_key`."""
    return key.decode().rstrip()


def _joined(values):
    if values and isinstance(values[0], str):
        return ''.join(values).encode('ascii')
    return b''.join(values)


def _from_text(rows):
    digits = rows.reshape(-1, _TEXT) - ord('0')
    months, rest = (
        sum(digits[:, place].astype(np.int64) * count for place, count in counts.items())
        for counts in (_MONTHS, _MICROSECONDS))
    return _beginnings()[months] + rest


def _from_bytes(rows):
    return rows.view('>i8').astype(np.int64) + _EPOCH_2000


@functools.cache
def _beginnings():
    """Return the beginnings of all months since the year 0, in microseconds since 1970.

    The numbers of months and days in a text begin at 1. So the first element is not used, and each
    beginning is one day early.
    """
    months = np.arange('0000-01', '10000-01', dtype='datetime64[M]')
    days = months.astype('datetime64[D]').astype(np.int64)
    return np.concatenate([[0], (days - 1) * _DAY])
