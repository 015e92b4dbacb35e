# SPDX-License-Identifier: Apache-2.0
"""The data of an earlier release in its database and its cloud: restored, and read.

The data is in the folder ``releases``; the README there says how it was made.
"""
import collections
import contextlib
import datetime
import json
import pathlib
import sqlite3

import sqlalchemy as sa

from climate.db import tables

RELEASE = '0009'
_FOLDER = pathlib.Path(__file__).parent / 'releases' / RELEASE
#: {table: its rows as dicts without what is null}; moments are text.
ROWS = json.loads((_FOLDER / 'database.json').read_text(encoding='utf-8'))

# What must read as before.
LEASE = ('id', 'name', 'project_id', 'user_id', 'trust_id', 'start', 'end', 'before_end', 'state',
         'reason', 'task', 'degraded', 'created_at', 'ended_at', 'deleted_at', 'acquire_type')
RESERVATION = ('id', 'lease_id', 'resource_type', 'request', 'state', 'missing_resources',
               'resources_changed', 'leased_id', 'created_at')
# Not its kind, which is a word of Climate's own.
EVENT = ('id', 'lease_id', 'at', 'due_at', 'status', 'attempts')
ACQUISITION = ('lease_id', 'type', 'retries', 'retry_pause_seconds', 'timeout_seconds', 'strategy',
               'not_after', 'priority', 'duration_seconds', 'attempts', 'next_at')
ALLOCATION = ('reservation_id', 'resource_id', 'start', 'end', 'whole', 'amount', 'copies')
OFFER = ('id', 'project_id', 'user_id', 'start', 'end', 'held_until', 'created_at')
RESOURCE = ('id', 'pool', 'name', 'capacity', 'reservable', 'held_by', 'lent_to')
HISTORY = ('at', 'who', 'what', 'why')


def load(database):
    """Write the rows into the empty tables of that release."""
    with database.writer(counted=False) as connection:
        found = sa.MetaData()
        found.reflect(connection)
        for table in found.sorted_tables:
            if table.name in ROWS:
                _fill(connection, table, ROWS[table.name])
                if database.dialect == 'postgresql':
                    _count_on(connection, table.name, ROWS[table.name])


def restore_cloud(path):
    """Write the state file of the simulated cloud."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript((_FOLDER / 'cloud.sql').read_text(encoding='utf-8'))


def _fill(connection, table, rows):
    nested = {name for row in rows for name, value in row.items()
              if isinstance(value, dict | list)}
    # With these types, moments and what is nested are written alike on every database.
    columns = [sa.column(each.name, (
        tables.UtcDateTime() if isinstance(each.type, sa.DateTime)
        else sa.JSON(none_as_null=True) if each.name in nested else each.type))
        for each in table.c]
    connection.execute(sa.insert(sa.table(table.name, *columns)), [
        {each.name: _value(each, row.get(each.name)) for each in columns} for row in rows])


def _value(column, value):
    if isinstance(column.type, tables.UtcDateTime) and value is not None:
        return datetime.datetime.fromisoformat(value)
    return value


def _count_on(connection, name, rows):
    """Set the sequence of a table above the ids of its rows; only PostgreSQL needs that."""
    if isinstance(rows[0].get('id'), int):
        connection.exec_driver_sql(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), "
                                   f'{max(row["id"] for row in rows)})')


def fields(table, names, where=lambda row: True):
    """Some fields of the rows of a table, as `told` returns those of records."""
    return _sorted([row.get(name) for name in names] for row in ROWS[table] if where(row))


def told(found, names):
    """The fields of some records, as text where they are moments; sorted."""
    return _sorted([as_text(getattr(each, name)) for name in names] for each in found)


def as_text(value):
    """A moment as it is kept; anything else as it is."""
    if isinstance(value, datetime.datetime):
        return value.isoformat().replace('+00:00', 'Z')
    return value


def _sorted(rows):
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def resource_ids():
    """{reservation id: sorted ids of its allocations, once for each copy}."""
    found = collections.defaultdict(list)
    for row in ROWS['allocations']:
        if row.get('released_at') is None:
            found[row['reservation_id']] += [row['resource_id']] * row['copies']
    return {key: sorted(ids) for key, ids in found.items()}


def property_values():
    """{(resource id, property name, text)} of properties and facts, of what is enrolled."""
    names = {row['id']: row['name'] for row in ROWS['properties']}
    enrolled = {row['id'] for row in ROWS['resources'] if row.get('withdrawn_at') is None}
    return {(row['resource_id'], names[row['property_id']], row['text'])
            for row in ROWS['property_values'] if row['resource_id'] in enrolled}
