# SPDX-License-Identifier: Apache-2.0
"""Blazar's database on a real MariaDB: types of columns, other connections, rights."""
import dataclasses
import datetime
import json
import os

import pytest
import sqlalchemy as sa
from support import blazar_database
from support import waiting

from climate.db.blazar import conversion
from climate.db.blazar import row_changes
from climate.db.blazar import source

NAME = 'climate_test_blazar'
DATES = ('created_at', 'updated_at', 'start_date', 'end_date', 'time')


def column_type(column, values):
    """Return a type of MariaDB for a column with these values."""
    if column in DATES:
        return 'DATETIME'
    types = {type(value) for value in values} - {type(None)}
    return 'DOUBLE' if float in types else 'INT' if int in types else 'MEDIUMTEXT'


def fill(connection):
    """Write the rows of a real Blazar 18."""
    for name, table in json.loads(blazar_database.ROWS.read_text()).items():
        by_column = zip(*table['rows'], strict=True) if table['rows'] else [()] * len(
            table['columns'])
        columns = ', '.join(f'`{column}` {column_type(column, values)}' for column, values in zip(
            table['columns'], by_column, strict=True))
        connection.exec_driver_sql(f'CREATE TABLE `{name}` ({columns})')
        marks = ', '.join(['%s'] * len(table['columns']))
        for row in table['rows']:
            connection.exec_driver_sql(f'INSERT INTO `{name}` VALUES ({marks})', tuple(row))


@pytest.fixture
def server(database):
    """An engine of the database of Blazar on the MariaDB of the tests."""
    if database.dialect != 'mysql':
        pytest.skip('The source is a MariaDB.')
    engine = sa.create_engine(os.environ['CLIMATE_TEST_DATABASE'])
    with engine.begin() as connection:
        connection.exec_driver_sql(f'DROP DATABASE IF EXISTS {NAME}')
        connection.exec_driver_sql(f'CREATE DATABASE {NAME} CHARACTER SET utf8mb4')
    engine.dispose()
    filled = sa.create_engine(engine.url.set(database=NAME))
    with filled.begin() as connection:
        fill(connection)
    filled.dispose()
    yield filled
    with filled.begin() as connection:
        connection.exec_driver_sql(f'DROP DATABASE {NAME}')
    filled.dispose()


def url(engine, **changes):
    return engine.url.set(**changes).render_as_string(hide_password=False)


def test_a_mariadb_and_a_file_with_the_same_rows_convert_to_the_same_leases(
        server, converted, manager):
    on_server = conversion.convert(
        source.read(url(server)), manager.core.registry, manager.clock())
    in_file = converted()
    assert on_server.resources == in_file.resources
    assert on_server.overlaps == in_file.overlaps
    # Fingerprints differ, because the file has texts in place of dates.
    assert [dataclasses.replace(imported, fingerprint='') for imported in on_server.leases] == [
        dataclasses.replace(imported, fingerprint='') for imported in in_file.leases]


def test_a_date_that_only_mariadb_knows_leaves_its_lease_out(server, manager):
    with server.begin() as connection:
        connection.exec_driver_sql("SET SESSION sql_mode = ''")
        connection.exec_driver_sql("UPDATE leases SET end_date = '0000-00-00 00:00:00' "
                                   "WHERE name = 'l-host-active'")
    found = conversion.convert(source.read(url(server)), manager.core.registry, manager.clock())
    assert len(found.leases) == 14
    assert [problem.is_loss for problem in found.problems] == [True]


def test_a_running_blazar_is_counted_by_its_connections(server):
    assert source.read(url(server)).connections == 0
    with server.connect():
        assert source.read(url(server)).connections == 1


@pytest.mark.parametrize(('changes', 'words'), [
    ({'password': 'SECRET'}, 'Access denied'), ({'database': 'mysql'}, 'Access denied'),
    ({'username': 'nobody'}, 'Access denied'),
    ({'database': 'climate_test'}, r'it lacks leases\.start_date'),
    ({'query': {'ssl_verify_cert': 'true'}}, 'SSL is required')])
def test_a_source_that_refuses_is_reported_without_the_password(server, changes, words):
    with pytest.raises(source.NotBlazar, match=words) as refused:
        source.read(url(server, **changes))
    assert 'SECRET' not in str(refused.value) and 'climate:secret' not in str(refused.value)


def test_an_export_writes_only_while_no_program_is_connected(server):
    change = row_changes.RowChange('leases', '1b49ee80-f57d-4960-b961-52d8c8931197', {
        'name': 'renamed', 'updated_at': datetime.datetime(2026, 12, 1, tzinfo=datetime.UTC)})
    with source.opened(url(server), '--target') as target:
        read = target.read()
        with (server.connect(),
              pytest.raises(source.NotBlazar, match='other programs are connected'),
              target.writer()):
            pass
        server.dispose()
        waiting.until(lambda: not target.read().connections, 'The other connection never ended.')
        with target.writer() as connection:
            row_changes.write(connection, [change], read.columns)
    [lease] = [row for row in source.read(url(server)).rows('leases') if row['id'] == change.id]
    assert (lease['name'], lease['updated_at']) == ('renamed', datetime.datetime(2026, 12, 1))
