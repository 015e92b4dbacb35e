# SPDX-License-Identifier: Apache-2.0
"""The rows that a database reads for each statement: the same each time, on any machine.

On SQLite those are the steps of its virtual machine, on PostgreSQL the rows that come out of each
scan, or are thrown away there.
"""
import collections
import contextlib

import sqlalchemy as sa

# A call for each step would take long, and nothing is decided by a few of them.
_STEPS = 10
_READS = ('SELECT', 'UPDATE', 'DELETE')


@contextlib.contextmanager
def counted(database):
    """Count the rows that statements examine: {statement: rows}, a Counter that grows."""
    found = collections.Counter()
    with DIALECTS[database.dialect](found):
        yield found


@contextlib.contextmanager
def _on_sqlite(found):
    now = ['']

    def begun(connection, cursor, statement, *_):
        now[0] = statement

    def step():
        found[now[0]] += _STEPS

    def lent(connection, *_):
        connection.set_progress_handler(step, _STEPS)

    def returned(connection, *_):
        connection.set_progress_handler(None, 0)

    with (_listening(sa.Engine, before_cursor_execute=begun),
          _listening(sa.pool.Pool, checkout=lent, checkin=returned)):
        yield


@contextlib.contextmanager
def _on_postgresql(found):
    def begun(connection, cursor, statement, parameters, context, executemany):
        if statement.lstrip().startswith(_READS) and not executemany:
            found[statement] += 1 + _rows(_explained(connection, statement, parameters))

    with _listening(sa.Engine, before_cursor_execute=begun):
        yield


@contextlib.contextmanager
def _listening(target, **listeners):
    """Attach listeners to all engines or pools, as readers may have other ones than writers."""
    for name, listener in listeners.items():
        sa.event.listen(target, name, listener)
    try:
        yield
    finally:
        for name, listener in listeners.items():
            sa.event.remove(target, name, listener)


def _explained(connection, statement, parameters):
    """The plan of PostgreSQL, with what each part of it did; nothing that it wrote is kept.

    Small tables are read whole because that is quick. What counts is what happens when they have
    grown, so an index is taken wherever there is one.
    """
    writes = not connection.connection.autocommit
    with connection.connection.cursor() as cursor:
        cursor.execute('SAVEPOINT examined' if writes else 'SELECT 1')
        cursor.execute('SET enable_seqscan = off')
        cursor.execute(f'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}', parameters)
        [[plan]] = cursor.fetchone()
        cursor.execute('ROLLBACK TO SAVEPOINT examined' if writes else 'RESET enable_seqscan')
        return plan['Plan']


def _rows(plan):
    """Return the rows that all scans of a plan read."""
    below = sum(map(_rows, plan.get('Plans', ())))
    if 'Relation Name' not in plan and 'Index Name' not in plan:
        return below
    seen = sum(plan.get(key, 0) for key in (
        'Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Index Recheck'))
    return below + seen * plan['Actual Loops']


#: The databases that report it.
DIALECTS = {'sqlite': _on_sqlite, 'postgresql': _on_postgresql}
