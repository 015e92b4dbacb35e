# SPDX-License-Identifier: Apache-2.0
"""The changes of Blazar's rows: their computation, which is pure, and their writing."""
import collections
import dataclasses
import datetime
import uuid

import sqlalchemy as sa

from climate.db.blazar import source as sources
from climate.db.blazar import times

#: The tables that an export writes. A row is inserted after the rows that it references.
TABLES = (
    'leases', 'resource_properties', 'computehosts', 'floatingips', 'reservations', 'events',
    'computehost_extra_capabilities', 'computehost_trait', 'computehost_resource_inventory',
    'computehost_reservations', 'instance_reservations', 'floatingip_reservations',
    'required_floatingips', 'computehost_allocations', 'floatingip_allocations')


@dataclasses.dataclass(frozen=True)
class RowChange:
    """A new row, new values of a row (`is_new` False), or a deletion (`values` None)."""

    table: str
    id: str
    values: dict | None = None
    is_new: bool = False


def new_id(*facts):
    """Return an id for a new row that is the same in each run of an export."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, '/'.join(map(str, facts))))


def between(present, wanted, now):
    """Return the RowChanges that turn the `present` rows into the `wanted` rows.

    A column that a wanted row lacks keeps its value. The moment of the creation never changes.

    :param present: {table: Rows}.
    :param wanted: {table: dicts with an id}.
    """
    changes = []
    for table in TABLES:
        before = {row['id']: row for row in present.get(table, ())}
        for row in wanted.get(table, ()):
            known = before.pop(row['id'], None)
            if known is None:
                changes.append(RowChange(table, row['id'], {'created_at': now, **row}, True))
                continue
            values = {name: value for name, value in row.items() if name != 'created_at'
                      and name in known and not _are_equal(known[name], value)}
            if values:
                changes.append(RowChange(table, row['id'], {**values, 'updated_at': now}))
        changes += [RowChange(table, key) for key in before]
    return changes


def write(connection, changes, columns):
    """Carry out RowChanges in the transaction of a connection.

    :param columns: {table: the names of its columns}. A column that the release of Blazar lacks is
        left out.
    :raises NotBlazar: a table is missing.
    """
    missing = sorted({change.table for change in changes if change.table not in columns})
    if missing:
        raise sources.NotBlazar(
            f'The database of Blazar has no table {missing[0]}. Upgrade it with "blazar-db-manage '
            'upgrade head", and repeat the export. Nothing was written.')
    order = {name: place for place, name in enumerate(TABLES)}
    deleted = [change for change in changes if change.values is None]
    for change in sorted(deleted, key=lambda change: -order[change.table]):
        table = _table(change.table, columns)
        connection.execute(sa.delete(table).where(table.c.id == change.id))
    written = [change for change in changes if change.values is not None]
    for change in sorted(written, key=lambda change: order[change.table]):
        table = _table(change.table, columns)
        values = {name: _stored(value) for name, value in change.values.items()
                  if name in columns[change.table]}
        connection.execute(sa.insert(table).values(values) if change.is_new else
                           sa.update(table).where(table.c.id == change.id).values(values))


def counts(changes):
    """Return a text with the number of new, changed and deleted rows."""
    kinds = collections.Counter('deleted' if change.values is None else
                                'new' if change.is_new else 'changed' for change in changes)
    return ', '.join(f'{kinds[kind]} {kind}' for kind in ('new', 'changed', 'deleted'))


def _table(name, columns):
    return sa.table(name, *(sa.column(column) for column in sorted(columns[name])))


def _stored(value):
    """Return a value for a column. Blazar stores moments of UTC without zone and fractions."""
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).replace(tzinfo=None, microsecond=0)
    return value


def _are_equal(present, wanted):
    if isinstance(wanted, datetime.datetime) and present is not None:
        return times.moment(present) == wanted.replace(microsecond=0)
    return present == wanted
