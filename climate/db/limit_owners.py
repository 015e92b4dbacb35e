# SPDX-License-Identifier: Apache-2.0
"""One row for each project and user with limits, which requests of this owner lock."""
import functools

import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.dialects import postgresql

from climate.db import tables

OWNERS = tables.LIMIT_OWNERS


def lock(connection, owners):
    """Lock the rows of ``rules.Owner``s until the transaction ends, in order.

    So two requests of an owner cannot use up the same remainder of a limit. The rows are written,
    because nodes of a Galera cluster do not know the locks of other nodes, but detect two
    transactions that wrote the same row. On SQLite nothing is locked, because a writer is alone.

    What the owners hold is read by a later statement. A statement that both locks and reads would
    not see what was committed while it waited, because it sees the moment at which it began.
    """
    if connection.dialect.name == 'sqlite' or not owners:
        return
    values = {}
    for number, owner in enumerate(sorted(owners)):
        values |= {f'kind_{number}': str(owner.kind), f'id_{number}': owner.id}
    connection.execute(_upsert(connection.dialect.name, len(owners)), values)


@functools.cache
def _upsert(dialect, count):
    """Return the statement that inserts rows, or else locks and writes them.

    An insert that fails would take a shared lock on MariaDB, so that two requests could wait for
    each other.
    """
    rows = [{'kind': sa.bindparam(f'kind_{number}'), 'id': sa.bindparam(f'id_{number}'),
             'changes': 1} for number in range(count)]
    following = OWNERS.c.changes + 1
    if dialect == 'postgresql':
        return postgresql.insert(OWNERS).values(rows).on_conflict_do_update(
            index_elements=[OWNERS.c.kind, OWNERS.c.id], set_={'changes': following})
    return mysql.insert(OWNERS).values(rows).on_duplicate_key_update(changes=following)


def purge(connection):
    """Delete the rows of owners that have no lease and no offer any more."""
    owns = sa.or_(*(
        sa.exists().where(table.c[column] == OWNERS.c.id)
        for table in (tables.LEASES, tables.OFFERS) for column in ('project_id', 'user_id')))
    connection.execute(sa.delete(OWNERS).where(~owns))
