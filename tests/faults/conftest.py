# SPDX-License-Identifier: Apache-2.0
"""A database that was migrated once, for the many copies that crash tests need."""
import pytest

from climate.db import engine
from climate.db import migrate


@pytest.fixture(scope='session')
def blank(tmp_path_factory):
    """The path of an empty SQLite database with Climate's tables."""
    path = tmp_path_factory.mktemp('blank') / 'climate.sqlite'
    made = engine.Database(f'sqlite:///{path}')
    migrate.upgrade(made)
    with made.engine.connect() as connection:
        connection.exec_driver_sql('PRAGMA wal_checkpoint(TRUNCATE)')
    made.dispose()
    return path
