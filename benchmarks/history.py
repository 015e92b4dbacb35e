# SPDX-License-Identifier: Apache-2.0
"""Very many leases that are over, quickly: copies of one that has lived."""
import datetime

import sqlalchemy as sa

from climate.db import tables

_PAGE = 1_000
_SLOT = datetime.timedelta(hours=2)
_PROJECTS = ('demo', *(f'project-{number}' for number in range(9)))


def multiply(database, lease, count, resource_ids):
    """Write `count` copies of a lease of one resource that is over, before it, with all of theirs.

    Each is of one of the resources, which nobody had at that time, and of one of ten projects.
    """
    with database.writer() as connection:
        rows = _rows(connection, lease)
        for first in range(0, count, _PAGE):
            copies = [_copy(rows, number, resource_ids)
                      for number in range(first, min(first + _PAGE, count))]
            for table in rows:
                connection.execute(sa.insert(table).inline(), [
                    row for copy in copies for row in copy[table]])


def _rows(connection, lease):
    """{table: the rows in it that belong to a lease}, in the order in which they are written."""
    ids = [each.id for each in lease.reservations]
    owned = {tables.LEASES: tables.LEASES.c.id == lease.id,
             tables.RESERVATIONS: tables.RESERVATIONS.c.lease_id == lease.id,
             tables.EVENTS: tables.EVENTS.c.lease_id == lease.id,
             tables.ALLOCATIONS: tables.ALLOCATIONS.c.reservation_id.in_(ids),
             tables.HISTORY: tables.HISTORY.c.lease_id == lease.id}
    found = {table: [{**row._mapping} for row in connection.execute(sa.select(table).where(where))]
             for table, where in owned.items()}
    assert all(found.values()), f'Lease {lease.id} has not lived.'
    return found


def _copy(rows, number, resource_ids):
    """The rows of one lease more, as many slots earlier as there are rounds over all resources."""
    earlier = _SLOT * (1 + number // len(resource_ids))
    new = {tables.LEASES.c.project_id: _PROJECTS[number % len(_PROJECTS)],
           tables.ALLOCATIONS.c.resource_id: resource_ids[number % len(resource_ids)]}

    def value(column, old):
        if isinstance(old, datetime.datetime):
            return old - earlier
        if old is not None and column.name in ('id', 'lease_id', 'reservation_id', 'trust_id'):
            # 36 letters: the first ones of an id are as good as all of them.
            return f'{old[:24]}-{number:011}'
        return new.get(column, old)

    return {table: [{column.name: value(column, row[column.name]) for column in table.c
                     if column is not table.autoincrement_column}
                    for row in found] for table, found in rows.items()}
