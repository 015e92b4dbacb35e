# SPDX-License-Identifier: Apache-2.0
"""An upgrade without an interruption: expand, run both releases, contract."""
import datetime

import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import managers
from climate.db import migrate
from climate.db import resource_properties
from climate.db import tables

# The last revision before `climate-db upgrade --expand`, and the oldest that can be expanded.
EARLIER, OLDEST = '0039', '0037'
DECOMPOSED, COMPOSED = 'gro\u0308\u00dfe', 'gr\u00f6\u00dfe'


@pytest.fixture
def earlier(database):
    """The database with the tables of the earlier release."""
    builders.drop_everything(database)
    migrate.upgrade(database, EARLIER)
    return database


@pytest.fixture
def checked(conf, database):
    """callable(): check that a manager of this release can use the tables."""
    conf.set_override('connection', database.engine.url.render_as_string(hide_password=False),
                      group='database')
    return lambda: migrate.check(conf)


@pytest.mark.parametrize('revision', [
    EARLIER, pytest.param(OLDEST, marks=pytest.mark.proof)])
def test_a_manager_needs_expanded_tables_only(earlier, checked, revision):
    builders.drop_everything(earlier)
    migrate.upgrade(earlier, revision)
    with pytest.raises(errors.ConfigurationError, match=f'revision {revision}, and this release'):
        checked()
    migrate.expand(earlier)
    assert checked() is True
    assert migrate.version(earlier) == migrate.expanded() != migrate.newest()
    migrate.upgrade(earlier)
    assert checked() is False
    assert migrate.version(earlier) == migrate.newest()


def test_an_expansion_changes_no_newer_tables(database):
    migrate.expand(database)
    assert migrate.version(database) == migrate.newest()


def test_an_expansion_refuses_tables_of_a_release_that_cannot_run_beside_this_one(database):
    builders.drop_everything(database)
    migrate.upgrade(database, '0036')
    with pytest.raises(errors.ConfigurationError, match='stop all managers'):
        migrate.expand(database)
    assert migrate.version(database) == '0036'


@pytest.mark.proof
def test_the_contraction_converts_the_properties_that_older_managers_created(earlier):
    migrate.expand(earlier)
    with earlier.writer() as connection:
        connection.execute(sa.insert(tables.PROPERTIES).values(
            pool='host', name=DECOMPOSED, created_at=builders.NOON, updated_at=builders.NOON))
    migrate.upgrade(earlier)
    with earlier.reader() as connection:
        assert resource_properties.names(connection, 'host')[0] == {COMPOSED}


@pytest.fixture
def climate_db(run_program):
    """callable(*words): run climate-db; returns (exit status, output)."""
    return lambda *words: run_program('climate-db', *words, options='')


def _seen(database, name, silent_seconds=0, tables_revision=None):
    seen = database.now() - datetime.timedelta(seconds=silent_seconds)
    row = {'id': name, 'host': 'controller', 'since': seen, 'last_seen': seen}
    if tables_revision is not None:
        row['tables_revision'] = tables_revision
    with database.writer() as connection:
        connection.execute(sa.insert(tables.MANAGERS).values(running=0, **row))


@pytest.mark.proof
def test_the_command_expands_while_older_managers_run_and_refuses_to_contract(
        earlier, climate_db):
    # The start of the program takes a while on a busy machine.
    _seen(earlier, 'controller:1:a', silent_seconds=-3600)
    status, output = climate_db('upgrade')
    assert status == 1 and 'controller:1:a' in output and '--expand' in output
    assert migrate.version(earlier) == EARLIER
    assert climate_db('upgrade', '--expand') == (0, f'{migrate.expanded()}\n')
    assert climate_db('upgrade')[0] == 1
    assert migrate.version(earlier) == migrate.expanded()


@pytest.mark.proof
def test_the_command_contracts_beside_managers_of_this_release_and_dead_older_ones(
        earlier, climate_db):
    migrate.expand(earlier)
    _seen(earlier, 'controller:1:a', silent_seconds=31)
    _seen(earlier, 'controller:2:b', silent_seconds=-3600, tables_revision=migrate.expanded())
    assert climate_db('upgrade') == (0, f'{migrate.newest()}\n')


def test_a_heartbeat_reports_the_tables_that_its_release_needs(database):
    now = database.now()
    with database.writer() as connection:
        managers.seen(connection, 'one', 'a', now, now, 0, tables_revision=migrate.expanded())
    with database.reader() as connection:
        [manager] = managers.every(connection)
    assert manager.tables_revision == migrate.expanded()
