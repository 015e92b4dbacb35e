# SPDX-License-Identifier: Apache-2.0
"""A purge deletes whatever refers to what it purges."""
import pytest
import sqlalchemy as sa
from support import builders
from support import db_rows
from support import programs

from climate.db import enforcement_calls
from climate.db import engine
from climate.db import leases
from climate.db import migrate
from climate.db import resources
from climate.db import tables
from climate.domain import enforcement

NOON, hours = db_rows.NOON, db_rows.hours

_PARENTS = {'lease_id': 'leases', 'reservation_id': 'reservations', 'resource_id': 'resources'}
# They outlive leases and resources as sums and bills, or other tasks delete them when the cloud has
# nothing left of them.
_OUTLIVE = {'bills', 'failed_bills', 'statement_lines', 'usage_days', 'trusts', 'early_creations'}
_REFERRING = [
    column for table in tables.METADATA.sorted_tables for column in table.c
    if column.name in _PARENTS or any(key.column.table.name in _PARENTS.values()
                                      for key in column.foreign_keys)]


def _a_value(column):
    if isinstance(column.type, tables.UtcDateTime):
        return NOON
    return {bool: False, int: 1, float: 1.0, str: 'x'}.get(column.type.python_type, {})


def _add_row(connection, table, known):
    """Add a row that refers to the ids in `known`, {table: id}, and to new rows of other tables."""
    values = {}
    for column in table.c:
        parents = [key.column.table for key in column.foreign_keys]
        parent = parents[0].name if parents else _PARENTS.get(column.name)
        if parents and parent not in known:
            known = {**known, parent: _add_row(connection, parents[0], known)}
        if parent in known:
            values[column.name] = known[parent]
        elif not column.nullable and column is not table.autoincrement_column:
            values[column.name] = _a_value(column)
    return connection.execute(sa.insert(table).values(values)).inserted_primary_key[0]


@pytest.mark.parametrize('column', _REFERRING, ids=str)
def test_a_purge_deletes_every_row_that_refers_to_what_is_purged(database, column):
    [host] = db_rows.hosts(database, 'lost')
    lease = db_rows.saved(database, db_rows.a_lease(ended_at=NOON))
    known = {'leases': lease.id, 'reservations': lease.reservations[0].id, 'resources': host}
    with database.writer() as connection:
        _add_row(connection, column.table, known)
        resources.withdraw(connection, host, NOON)
        parent = _PARENTS.get(column.name) or next(iter(column.foreign_keys)).column.table.name
        referring = sa.select(sa.func.count()).where(column == known[parent])
        assert connection.execute(referring).scalar() > 0
    db_rows.closed(database)
    assert migrate.purge(database, NOON + hours(2)) == 1
    with database.reader() as connection:
        assert connection.execute(sa.select(tables.RESOURCES.c.id)).all() == []
        assert connection.execute(referring).scalar() == (column.table.name in _OUTLIVE)


def _count(database, table):
    with database.reader() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar()


def _reported_later(database, lease):
    """Add the report of the end of a lease, which the service has not got yet; return it."""
    call = enforcement.EnforcementCall(
        'call', lease.id, enforcement.END, enforcement.DUE, {}, NOON, NOON)
    with database.writer() as connection:
        enforcement_calls.add(connection, call)
    return call


def test_a_lease_stays_until_its_end_is_reported_to_the_enforcement_service(database):
    db_rows.saved(database, db_rows.a_lease('reported', ended_at=NOON))
    lease = db_rows.saved(database, db_rows.a_lease('not reported', ended_at=NOON))
    call = _reported_later(database, lease)
    db_rows.closed(database)
    assert migrate.purge(database, NOON + hours(2), reports_ends=True) == 1
    with database.writer() as connection:
        assert leases.get(connection, lease.id).name == 'not reported'
        enforcement_calls.forget(connection, [call])
    assert migrate.purge(database, NOON + hours(2), reports_ends=True) == 1


@pytest.mark.proof
@pytest.mark.parametrize(('driver', 'kept'), [('', 0), ('http', 1)])
def test_the_command_keeps_such_a_lease_only_while_a_service_is_used(tmp_path, driver, kept):
    file = builders.on_files(tmp_path, f'[enforcement]\ndriver = {driver}\n')
    database = engine.Database(f'sqlite:///{tmp_path}/climate.sqlite')
    migrate.upgrade(database)
    lease = db_rows.saved(database, db_rows.a_lease(ended_at=NOON))
    _reported_later(database, lease)
    db_rows.closed(database)
    programs.run('climate-db', 'purge', '--before', '2031-01-01', '--config-file', file)
    assert _count(database, tables.LEASES) == _count(database, tables.ENFORCEMENT_CALLS) == kept
    database.dispose()


def test_a_purge_deletes_the_rows_of_owners_without_leases(database):
    lease = db_rows.saved(database, db_rows.a_lease(ended_at=NOON))
    with database.writer() as connection:
        connection.execute(sa.insert(tables.LIMIT_OWNERS), [
            {'kind': 'project', 'id': owner, 'changes': 1} for owner in (lease.project_id, 'gone')])
    db_rows.closed(database)
    assert migrate.purge(database, NOON) == 0
    assert _count(database, tables.LIMIT_OWNERS) == 1
    assert migrate.purge(database, NOON + hours(2)) == 1
    assert _count(database, tables.LIMIT_OWNERS) == 0


@pytest.mark.proof
def test_a_purge_by_days_counts_whole_days_back_from_today(tmp_path):
    file = builders.on_files(tmp_path, '')
    database = engine.Database(f'sqlite:///{tmp_path}/climate.sqlite')
    migrate.upgrade(database)
    today = database.now().replace(hour=0, minute=0, second=0, microsecond=0)
    db_rows.saved(database, *(
        db_rows.a_lease(f'{ago} ago', ended_at=today - hours(ago)) for ago in (23, 24, 25)))
    db_rows.closed(database)
    status, printed, _ = programs.run('climate-db', 'purge', '--days', '1', '--config-file', file)
    assert (status, printed.split(' that ')[0]) == (0, 'Removed 1 leases')
    for days, reason in (('0', '"0" is not'), ('-1', '-1'), ('1.5', '"1.5" is not'),
                         ('9' * 9, 'no calendar')):
        status, _, error = programs.run('climate-db', 'purge', '--days', days, '--config-file',
                                        file)
        assert status != 0 and reason in error and 'Traceback' not in error, (days, error)
    database.dispose()
