# SPDX-License-Identifier: Apache-2.0
"""The lines and the months of statements in the database. Lines are never changed."""
import contextlib

import sqlalchemy as sa

from climate.db import engine
from climate.db import tables
from climate.domain import lease_pricing
from climate.domain import ledger
from climate.domain import prices

LINES = tables.STATEMENT_LINES
MONTHS = tables.BILLING_MONTHS
_CLOSED = MONTHS.alias('closed')
_LAST_CLOSED = sa.select(sa.func.max(_CLOSED.c.month)).where(
    _CLOSED.c.closed_at.is_not(None)).scalar_subquery()


def posted(connection, lease_id):
    """Return the lines of a lease in order, as ``ledger.PostedLine``."""
    rows = connection.execute(sa.select(LINES).where(LINES.c.lease_id == lease_id)
                              .order_by(LINES.c.number))
    return [ledger.PostedLine(row.for_month, _key(row),
                              lease_pricing.Charge(int(row.atoms), int(row.microseconds)))
            for row in rows]


def add(connection, lease_id, project_id, first, currency, lines, now):
    """Insert lines of a lease.

    :param first: the number of the first line.
    :param lines: [(month, ``ledger.MissingLine``, the amount in the smallest unit)].
    :raises Duplicate: the lease has a line with one of the numbers.
    """
    connection.execute(sa.insert(LINES), [{
        'lease_id': lease_id, 'number': number, 'project_id': project_id, 'month': month,
        'for_month': due.for_month, 'correction': due.correction, 'kind': due.key.kind,
        'price_book': due.key.book, 'reservation_id': due.key.reservation_id,
        'resource_type': due.key.resource_type, 'pool': due.key.pool, 'rate': due.key.rate,
        'percent': due.key.percent, 'microseconds': str(due.charge.microseconds),
        'atoms': str(due.charge.atoms), 'minor': minor, 'currency': currency, 'created_at': now,
    } for number, (month, due, minor) in enumerate(lines, first)])


def open_months(database, months):
    """Insert the months that have no row. Several managers may do this at the same time."""
    with database.reader() as connection:
        stored = set(connection.execute(sa.select(MONTHS.c.month).where(
            MONTHS.c.month.in_(sorted(months)))).scalars())
    for month in sorted(set(months) - stored):
        with contextlib.suppress(engine.Duplicate), database.writer() as connection:
            connection.execute(sa.insert(MONTHS).values(month=month))


def lock_months(connection, months):
    """Lock months until the transaction ends; return the set of open months.

    A month before a closed one is closed too, even without a statement.
    """
    rows = connection.execute(sa.select(MONTHS, _LAST_CLOSED.label('last'))
                              .where(MONTHS.c.month.in_(sorted(months)))
                              .order_by(MONTHS.c.month).with_for_update())
    return {row.month for row in rows if row.closed_at is None and row.month > (row.last or '')}


def open_before(connection, month):
    """Return the months before `month` that are not closed, in order."""
    return list(connection.execute(
        sa.select(MONTHS.c.month).where(MONTHS.c.closed_at.is_(None), MONTHS.c.month < month)
        .order_by(MONTHS.c.month)).scalars())


def close(connection, month, now):
    """Close a month if it is open; return whether it was open."""
    return connection.execute(
        sa.update(MONTHS).where(MONTHS.c.month == month, MONTHS.c.closed_at.is_(None))
        .values(closed_at=now)).rowcount > 0


def find(connection, query):
    """Return the Statements that a StatementQuery selects, by month and project."""
    sums = (
        sa.select(LINES.c.month, LINES.c.project_id, LINES.c.currency,
                  sa.func.sum(LINES.c.minor).label('minor'),
                  sa.func.count(LINES.c.lease_id.distinct()).label('leases'),
                  sa.func.count().label('lines'))
        .where(*_conditions(query))
        .group_by(LINES.c.month, LINES.c.project_id, LINES.c.currency)
        .order_by(LINES.c.month, LINES.c.project_id, LINES.c.currency))
    if query.marker is not None:
        month, project_id, _ = query.marker
        sums = sums.where(sa.or_(LINES.c.month > month, sa.and_(
            LINES.c.month == month, LINES.c.project_id > project_id)))
    rows = connection.execute(sums.limit(query.limit)).all()
    closed = set(connection.execute(sa.select(MONTHS.c.month).where(
        MONTHS.c.month.in_(sorted({row.month for row in rows})),
        MONTHS.c.closed_at.is_not(None))).scalars())
    return [prices.Statement(
        row.project_id, row.month, row.currency,
        prices.amount_text(int(row.minor), row.currency), row.leases, row.lines,
        row.month in closed) for row in rows]


def lines(connection, query, books):
    """Return the StatementLines that a StatementQuery selects, by month, lease and number.

    :param books: {version: PriceBook}, from which the lines take their rates.
    """
    statement = sa.select(LINES).where(*_conditions(query)).order_by(
        LINES.c.month, LINES.c.lease_id, LINES.c.number)
    if query.marker is not None:
        month, lease_id, number = query.marker
        statement = statement.where(LINES.c.month >= month, sa.or_(
            LINES.c.month > month, LINES.c.lease_id > lease_id,
            sa.and_(LINES.c.lease_id == lease_id, LINES.c.number > number)))
    return [_line(row, books[row.price_book])
            for row in connection.execute(statement.limit(query.limit))]


def _conditions(query):
    for column, value in ((LINES.c.project_id, query.project_id), (LINES.c.month, query.month),
                          (LINES.c.lease_id, query.lease_id)):
        if value is not None:
            yield column == value
    if query.since is not None:
        yield LINES.c.month >= query.since


def _key(row):
    return lease_pricing.ChargeKey(
        lease_pricing.KINDS.index(row.kind), row.price_book, row.reservation_id, row.rate,
        row.resource_type, row.pool, row.percent)


def _line(row, book):
    return prices.StatementLine(
        row.lease_id, row.number, row.project_id, row.month, row.for_month, row.correction,
        row.created_at, row.currency, lease_pricing.price_line(
            _key(row), int(row.microseconds), prices.amount_text(row.minor, row.currency), book))
