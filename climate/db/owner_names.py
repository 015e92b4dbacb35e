# SPDX-License-Identifier: Apache-2.0
"""The names of the users and projects that own leases, as their tokens had them.

Keystone has the names too, but a list would need a request for each row, and rights that Climate's
user may not have.
"""
import contextlib

from oslo_db import exception as db_exc
import sqlalchemy as sa

from climate.db import by_keys
from climate.db import tables

_AT_ONCE = 2_000
USER, PROJECT = 'user', 'project'
NAMES = tables.OWNER_NAMES

_KNOWN = sa.select(NAMES).where(NAMES.c.id.in_(sa.bindparam('ids', expanding=True)))


def find(connection, ids):
    """Return {(kind, id): name} of the users and projects with these ids that are known."""
    return {(row.kind, row.id): row.name
            for batch in by_keys.batches(sorted(set(ids)), _AT_ONCE)
            for row in connection.execute(_KNOWN, {'ids': batch})}


def remember(connection, names):
    """Store names, {(kind, id): name}; a new name replaces the old one."""
    known = find(connection, [key for _, key in names])
    for (kind, key), name in names.items():
        if (kind, key) not in known:
            # Another transaction may store the same name at the same time.
            with contextlib.suppress(db_exc.DBDuplicateEntry), connection.begin_nested():
                connection.execute(sa.insert(NAMES).values(kind=kind, id=key, name=name))
        elif known[kind, key] != name:
            connection.execute(sa.update(NAMES).where(
                NAMES.c.kind == kind, NAMES.c.id == key).values(name=name))


def called(kind, id_or_name, column):
    """Return the condition that `column` has the id of a user or project with an id or a name."""
    return sa.or_(column == id_or_name, column.in_(
        sa.select(NAMES.c.id).where(NAMES.c.kind == kind, NAMES.c.name == id_or_name)))


def shown(kind, column):
    """Return the name of the user or project in `column`, or its id if the name is not known."""
    name = sa.select(NAMES.c.name).where(
        NAMES.c.kind == kind, NAMES.c.id == column).correlate(column.table).scalar_subquery()
    return sa.func.coalesce(name, column)


def purge(connection):
    """Delete the names of users and projects that own no lease any more."""
    for kind, column in ((USER, tables.LEASES.c.user_id), (PROJECT, tables.LEASES.c.project_id)):
        connection.execute(sa.delete(NAMES).where(
            NAMES.c.kind == kind, ~sa.exists().where(column == NAMES.c.id)))
