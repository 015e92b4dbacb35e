# SPDX-License-Identifier: Apache-2.0
"""A database for each test, copied from one that was migrated once."""
import os
import shutil

import builders
import pytest

from climate.db import engine
from climate.db import migrate


@pytest.fixture(scope='session')
def migrated(tmp_path_factory):
    """The path of an empty SQLite database with Climate's tables."""
    path = tmp_path_factory.mktemp('migrated') / 'climate.sqlite'
    made = engine.Database(f'sqlite:///{path}')
    migrate.upgrade(made)
    with made.engine.connect() as connection:
        connection.exec_driver_sql('PRAGMA wal_checkpoint(TRUNCATE)')
    made.dispose()
    return path


@pytest.fixture
def database(tmp_path, migrated):
    """An empty database with Climate's tables."""
    url = os.environ.get('CLIMATE_TEST_DATABASE')
    if url is None:
        shutil.copy(migrated, tmp_path / 'climate.sqlite')
        found = engine.Database(f'sqlite:///{tmp_path}/climate.sqlite')
    else:
        found = engine.Database(url)
        builders.drop_everything(found)
        migrate.upgrade(found)
    yield found
    found.dispose()
