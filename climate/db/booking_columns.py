# SPDX-License-Identifier: Apache-2.0
"""Allocations of very many resources, read as numpy columns."""
import dataclasses
import datetime
import functools
import json

import numpy as np
import sqlalchemy as sa

from climate.db import allocations
from climate.db import packed_columns
from climate.db import tables
from climate.domain import interval
from climate.domain import selection

ALLOCATIONS = tables.ALLOCATIONS
RESOURCES = tables.RESOURCES

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
# A statement lists the ids of at most this many resources. For more resources it names only the
# first and the last id.
_NAMED = 500


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
    packed_columns.prepare(connection)
    rows = connection.execute(_statement(dialect, condition, parts), {
        'start': span.start, 'end': span.end, 'ignoring': list(ignoring), **parameters}).all()
    kind_indexes = {}
    kinds = [kind_indexes.setdefault(tuple(row[2:]), len(kind_indexes)) for row in rows]
    counts, pairs, _ = packed_columns.unpacked(dialect, [row[1] for row in rows], moments=2)
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
    spans = packed_columns.packed(dialect, (ALLOCATIONS.c.start, ALLOCATIONS.c.end))
    kind = [ALLOCATIONS.c.whole, ALLOCATIONS.c.copies,
            sa.cast(ALLOCATIONS.c.amount, sa.String(4000))] if parts else []
    return (
        sa.select(ALLOCATIONS.c.resource_id, spans, *kind)
        .where(condition, allocations.TOUCHES, allocations.IGNORING)
        .group_by(ALLOCATIONS.c.resource_id, *kind))


def _amount(whole, copies, amount):
    return selection.WHOLE if whole else json.loads(amount), copies
