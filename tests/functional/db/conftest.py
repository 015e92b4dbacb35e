# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests of the database: rows that many of them begin with."""
import pytest
from support import db_rows


@pytest.fixture
def ids(database):
    """The ids of three enrolled hosts: a, b and c."""
    return db_rows.hosts(database, 'a', 'b', 'c')


@pytest.fixture
def lease(database):
    """A saved lease of one reservation from noon to one o'clock."""
    return db_rows.saved(database, db_rows.a_lease())
