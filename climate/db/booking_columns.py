# SPDX-License-Identifier: Apache-2.0
"""Allocations of very many resources, read as numpy columns.

Creating a record for each allocation takes a hundred times longer than reading the rows. So the
database concatenates the moments of all allocations of a resource into one value.
"""
import dataclasses
import datetime
import functools
import json

import numpy as np
import sqlalchemy as sa

from climate.db import allocations
from climate.db import tables
from climate.domain import interval
from climate.domain import selection

ALLOCATIONS = tables.ALLOCATIONS
RESOURCES = tables.RESOURCES

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
DAY = 86400 * 10 ** 6
# A statement lists the ids of at most this many resources. For more resources it names only the
# first and the last id.
_NAMED = 500
# PostgreSQL sends microseconds since the year 2000.
_EPOCH_2000 = 946684800 * 10 ** 6
# Text is parsed in groups of this many values, to limit the memory for the columns of digits.
_AT_ONCE = 500
# The length of a moment as text, such as 2030-05-01 12:00:00.000000, and the value of its digits by
# their position: in months for year and month, in microseconds for day and time.
_TEXT = 26
_MONTHS = {0: 12000, 1: 1200, 2: 120, 3: 12, 5: 10, 6: 1}
_MICROSECONDS = {
    8: 10 * DAY, 9: DAY, 11: 36 * 10 ** 9, 12: 36 * 10 ** 8, 14: 6 * 10 ** 8, 15: 6 * 10 ** 7,
    17: 10 ** 7, 18: 10 ** 6, **{20 + place: 10 ** (5 - place) for place in range(6)}}


@dataclasses.dataclass(frozen=True)
class Bookings:
    """Columns of equal length with one element for each allocation.

    :ivar owners: ids of resources.
    :ivar starts: microseconds since 1970.
    :ivar ends: microseconds since 1970.
    :ivar kinds: indexes into `amounts`.
    :ivar amounts: pairs ({class: units} or selection.WHOLE, number of copies).
    """

    owners: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    kinds: np.ndarray
    amounts: list


def microseconds(moment):
    """Return a moment as the number of microseconds since 1970."""
    return (moment - _EPOCH) // interval.RESOLUTION


def moment(count):
    """Return the moment this many microseconds after 1970."""
    return _EPOCH + datetime.timedelta(microseconds=count)


def of(rows):
    """Return the Bookings of rows (resource id, start, end, amount, copies).

    :param rows: the times are in microseconds since 1970.
    """
    owners, starts, ends, amounts, copies = zip(*rows, strict=True) if rows else ((),) * 5
    return Bookings(*(np.array(column, np.int64) for column in (owners, starts, ends)),
                    kinds=np.arange(len(rows)), amounts=list(zip(amounts, copies, strict=True)))


def of_pool(connection, pool, span, ignoring=(), parts=True):
    """Return the Bookings of a pool's resources that touch `span`, in no particular order.

    :param span: the Interval, which includes the time for cleaning.
    :param ignoring: ids of reservations whose allocations do not count.
    :param parts: whether to read the amounts; if not, each booking counts as whole.
    """
    return _read(connection, _POOL, span, ignoring, parts, pool=pool)


def of_resources(connection, ids, span, ignoring=()):
    """Return the Bookings of at least these resources that touch `span`.

    :param ids: sorted ids of resources; the other parameters are those of `of_pool`.
    """
    if not ids:
        return of(())
    if len(ids) <= _NAMED:
        return _read(connection, _THESE, span, ignoring, ids=ids)
    return _read(connection, _BETWEEN, span, ignoring, first=ids[0], last=ids[-1])


def _read(connection, condition, span, ignoring, parts=True, **parameters):
    dialect = connection.dialect.name
    if dialect == 'mysql':
        # By default MySQL truncates the result after 1024 bytes.
        connection.exec_driver_sql('SET SESSION group_concat_max_len = 1073741824')
    rows = connection.execute(_statement(dialect, condition, parts), {
        'start': span.start, 'end': span.end, 'ignoring': list(ignoring), **parameters}).all()
    kind_indexes = {}
    kinds = [kind_indexes.setdefault(tuple(row[2:]), len(kind_indexes)) for row in rows]
    moments, counts = _READERS.get(dialect, _from_text)([row[1] for row in rows])
    pairs = moments.reshape(-1, 2)
    return Bookings(
        owners=np.repeat(np.array([row[0] for row in rows], np.int64), counts),
        starts=pairs[:, 0], ends=pairs[:, 1], kinds=np.repeat(np.array(kinds, np.int64), counts),
        amounts=[_amount(*kind) for kind in kind_indexes] if parts else [(selection.WHOLE, 1)])


# The conditions on the allocations to read.
_POOL = sa.and_(ALLOCATIONS.c.resource_id == RESOURCES.c.id, allocations.RESERVABLE)
_THESE = ALLOCATIONS.c.resource_id.in_(sa.bindparam('ids', expanding=True))
_BETWEEN = ALLOCATIONS.c.resource_id.between(sa.bindparam('first'), sa.bindparam('last'))


@functools.cache
def _statement(dialect, condition, parts):
    start, end = ALLOCATIONS.c.start, ALLOCATIONS.c.end
    plain = [sa.type_coerce(column, sa.String) for column in (start, end)]
    spans = {
        'postgresql': lambda: sa.func.string_agg(
            sa.func.timestamptz_send(start).op('||')(sa.func.timestamptz_send(end)),
            sa.literal_column("''::bytea"), type_=sa.LargeBinary),
        'mysql': lambda: sa.func.group_concat(sa.func.concat(*plain).op('SEPARATOR')(
            sa.literal_column("''")), type_=sa.String),
        'sqlite': lambda: sa.func.group_concat(plain[0].concat(plain[1]),
                                               sa.literal_column("''"), type_=sa.String),
    }[dialect]()
    kind = [ALLOCATIONS.c.whole, ALLOCATIONS.c.copies,
            sa.cast(ALLOCATIONS.c.amount, sa.String(4000))] if parts else []
    return (
        sa.select(ALLOCATIONS.c.resource_id, spans, *kind)
        .where(condition, allocations.TOUCHES, allocations.IGNORING)
        .group_by(ALLOCATIONS.c.resource_id, *kind))


def _amount(whole, copies, amount):
    return selection.WHOLE if whole else json.loads(amount), copies


def _from_text(values):
    """Return (the moments, the number of pairs in each value) from text."""
    moments = [_moments_in(''.join(values[first:first + _AT_ONCE]))
               for first in range(0, len(values), _AT_ONCE)]
    return (np.concatenate([np.zeros(0, np.int64), *moments]),
            [len(value) // (2 * _TEXT) for value in values])


def _moments_in(text):
    digits = np.frombuffer(text.encode('ascii'), np.uint8).reshape(-1, _TEXT) - ord('0')
    months, rest = (
        sum(digits[:, place].astype(np.int64) * count for place, count in counts.items())
        for counts in (_MONTHS, _MICROSECONDS))
    return _beginnings()[months] + rest


def _from_bytes(values):
    """Return (the moments, the number of pairs in each value) from PostgreSQL's binary format."""
    moments = np.frombuffer(b''.join(values), '>i8').astype(np.int64) + _EPOCH_2000
    return moments, [len(value) // 16 for value in values]


_READERS = {'postgresql': _from_bytes}


@functools.cache
def _beginnings():
    """Return the beginnings of all months since the year 0, in microseconds since 1970.

    The numbers of months and days in a text begin at 1. So the first element is not used, and each
    beginning is one day early.
    """
    months = np.arange('0000-01', '10000-01', dtype='datetime64[M]')
    days = months.astype('datetime64[D]').astype(np.int64)
    return np.concatenate([[0], (days - 1) * DAY])
