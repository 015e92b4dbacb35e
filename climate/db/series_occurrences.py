# SPDX-License-Identifier: Apache-2.0
"""The occurrences of series in the database."""
import collections

import sqlalchemy as sa

from climate.db import tables
from climate.domain import texts
from climate.domain.series import series_records as domain

OCCURRENCES = tables.SERIES_OCCURRENCES
_COLUMNS = tables.columns(OCCURRENCES, domain.Occurrence)
_FAILED = OCCURRENCES.c.status == domain.FAILED
#: Whether any occurrence could not be booked.
ANY_FAILED = sa.select(OCCURRENCES.c.number).where(_FAILED).exists()


def add(connection, occurrences):
    """Insert Occurrences.

    :raises Duplicate: the series has an occurrence with this number already.
    """
    if occurrences:
        connection.execute(sa.insert(OCCURRENCES), [
            {column.name: getattr(occurrence, column.name) for column in _COLUMNS}
            for occurrence in occurrences])


def of_series(connection, series_ids):
    """Return {series id: its Occurrences, in order}."""
    by_series = collections.defaultdict(list)
    for row in connection.execute(sa.select(*_COLUMNS).where(
            OCCURRENCES.c.series_id.in_(list(series_ids)))
            .order_by(OCCURRENCES.c.series_id, OCCURRENCES.c.number)):
        by_series[row.series_id].append(domain.Occurrence(*row))
    return by_series


def due(connection, now, most, series_id=None):
    """Return the Occurrences that a manager must work on now, the longest due first.

    :param series_id: only those of this series, even while it is being made; None: of all others.
    """
    series = tables.SERIES
    which = (series.c.status != domain.MAKING if series_id is None
             else OCCURRENCES.c.series_id == series_id)
    rows = connection.execute(
        sa.select(*_COLUMNS).join_from(OCCURRENCES, series, series.c.id == OCCURRENCES.c.series_id)
        .where(OCCURRENCES.c.due_at <= now, which)
        .order_by(OCCURRENCES.c.due_at, OCCURRENCES.c.start, OCCURRENCES.c.series_id,
                  OCCURRENCES.c.number).limit(most))
    return [domain.Occurrence(*row) for row in rows]


def change(connection, occurrence, **values):
    """Update an Occurrence unless another manager changed its status meanwhile.

    :param values: new values of its columns; `problem` is a ``texts.Text``, or None.
    :returns: whether it was updated.
    """
    if 'problem' in values:
        values |= texts.columns('problem', values['problem'])
    return connection.execute(
        sa.update(OCCURRENCES).where(
            OCCURRENCES.c.series_id == occurrence.series_id,
            OCCURRENCES.c.number == occurrence.number,
            OCCURRENCES.c.status == occurrence.status,
            OCCURRENCES.c.start == occurrence.start).values(**values)).rowcount == 1


def replan(connection, planned, now):
    """Write new times of Occurrences that are not changed alone, and make them due.

    :param planned: the Occurrences with their new times.
    """
    for occurrence in planned:
        connection.execute(sa.update(OCCURRENCES).where(
            OCCURRENCES.c.series_id == occurrence.series_id,
            OCCURRENCES.c.number == occurrence.number).values(
                start=occurrence.start, end=occurrence.end, due_at=now))


def mark_changed(connection, lease):
    """Record that a user changed the Lease of an occurrence alone; its times are those of it."""
    connection.execute(sa.update(OCCURRENCES).where(OCCURRENCES.c.lease_id == lease.id).values(
        changed=True, start=lease.start, end=lease.end))


def move(connection, series_id, number, new_series_id):
    """Move the occurrences from a number on to another series, where they begin with 1.

    Their leases move, too.
    """
    moved = sa.and_(OCCURRENCES.c.series_id == series_id, OCCURRENCES.c.number >= number)
    lease_ids = sorted(connection.execute(sa.select(OCCURRENCES.c.lease_id).where(
        moved, OCCURRENCES.c.lease_id.is_not(None))).scalars())
    if lease_ids:
        connection.execute(sa.update(tables.LEASES).where(
            tables.LEASES.c.id.in_(lease_ids)).values(series_id=new_series_id))
    connection.execute(sa.update(OCCURRENCES).where(moved).values(
        series_id=new_series_id, number=OCCURRENCES.c.number - (number - 1)))


def cancel(connection, series_id, now, number=1):
    """Cancel the occurrences of a series from a number on that have not started.

    They become due, so that their leases are deleted, even those that are just being created.
    """
    connection.execute(sa.update(OCCURRENCES).where(
        OCCURRENCES.c.series_id == series_id, OCCURRENCES.c.number >= number,
        OCCURRENCES.c.start > now, OCCURRENCES.c.status != domain.SKIPPED).values(
            status=domain.OFF, due_at=now))


def cancel_all(connection, series_id):
    """Cancel all occurrences of a series that was not finished."""
    connection.execute(sa.update(OCCURRENCES).where(OCCURRENCES.c.series_id == series_id)
                       .values(status=domain.OFF, due_at=None))


def wake(connection, now):
    """Have failed occurrences tried again, because this transaction releases resources."""
    connection.execute(sa.update(OCCURRENCES).where(_FAILED, OCCURRENCES.c.due_at > now)
                       .values(due_at=now))


def any_to_retry(connection, now):
    """Return whether a failed occurrence is due to be tried again."""
    return connection.execute(sa.select(OCCURRENCES.c.number).where(
        _FAILED, OCCURRENCES.c.due_at <= now).limit(1)).first() is not None


def purge(connection, lease_ids):
    """Forget leases that are being deleted. The rows stay, so that nothing is booked again."""
    connection.execute(sa.update(OCCURRENCES).where(OCCURRENCES.c.lease_id.in_(lease_ids))
                       .values(lease_id=None))
