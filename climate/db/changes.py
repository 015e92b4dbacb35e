# SPDX-License-Identifier: Apache-2.0
"""The counter of visible changes, by which an unchanged answer is recognized without its rows.

Each transaction that changes something that REST shows counts one change, in its last statement.
The counter consists of several rows, so that transactions seldom wait for each other.
"""
import functools
import itertools
import random
import re

import sqlalchemy as sa

from climate.db import tables

COUNTS = tables.CHANGE_COUNTS
#: The number of rows of the counter.
SLOTS = 64

_SHOWN = frozenset(table.name for table in (
    tables.LEASES, tables.RESERVATIONS, tables.EVENTS, tables.ACQUISITIONS, tables.OFFERS,
    tables.ALLOCATIONS, tables.RESOURCES, tables.RESOURCE_HEALTH, tables.RESOURCE_ABSENCES,
    tables.PROPERTIES, tables.PROPERTY_VALUES, tables.MAINTENANCES, tables.MAINTENANCE_RESOURCES,
    tables.MAINTENANCE_WINDOWS, tables.POWER_STATES, tables.SHARES,
    tables.TRANSFERS))
# Columns that no answer shows. Claims are prolonged all the time.
_HIDDEN = frozenset((
    'claim_owner', 'claim_no', 'claimed_until', 'task_until', 'request_bytes', 'wakes', 'heard',
    'looked_at', 'waits', 'due_at'))
_WRITE = re.compile(r'(INSERT|UPDATE|DELETE)\b[A-Z ]* ["`]?(\w+)')
_SET = re.compile(r'(?:^|, )["`]?(\w+)["`]?=')
_CHANGED = 'climate.changed'

# Sent to the driver directly, because every transaction needs it, and this costs less than a
# statement of SQLAlchemy.
_COUNT = f'UPDATE {COUNTS.name} SET changes = changes + 1 WHERE id = {{}}'
_BEGIN = sa.insert(COUNTS).inline()
_READ = sa.select(sa.func.sum(COUNTS.c.changes))
# Each process begins at another row.
_slots = itertools.count(random.randrange(SLOTS))


def watch(engine):
    """Note in each connection of an engine whether its transaction makes a visible change."""
    @sa.event.listens_for(engine, 'after_cursor_execute')
    def _note(connection, cursor, statement, _parameters, _context, _many):
        if _is_visible(statement) and cursor.rowcount != 0:
            connection.info[_CHANGED] = True

    @sa.event.listens_for(engine, 'begin')
    def _forget(connection):
        connection.info.pop(_CHANGED, None)


def count(connection):
    """Count a change if the transaction made a visible one. No statement may follow."""
    if not connection.info.pop(_CHANGED, False):
        return
    slot = next(_slots) % SLOTS
    if not connection.exec_driver_sql(_COUNT.format(slot)).rowcount:
        # Somebody has emptied the table.
        connection.execute(_BEGIN, {'id': slot, 'changes': 1})


def read(connection):
    """Return the number of changes.

    If it is read before other rows and again later, and is the same, these rows are the same.
    """
    return int(connection.execute(_READ).scalar() or 0)


@functools.lru_cache(maxsize=2048)
def _is_visible(statement):
    """Return whether an SQL statement writes something that REST shows."""
    write = _WRITE.match(statement)
    if write is None or write[2] not in _SHOWN:
        return False
    if write[1] != 'UPDATE':
        return True
    assignments = statement.partition(' SET ')[2].partition(' WHERE ')[0]
    return not _HIDDEN.issuperset(_SET.findall(assignments))
