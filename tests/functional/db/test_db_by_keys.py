# SPDX-License-Identifier: Apache-2.0
"""A statement for a single key finds the same as the statement for any number of keys."""
import pytest
import sqlalchemy as sa
from support import db_rows

from climate.db import by_keys
from climate.db import tables

LEASES = tables.LEASES


@pytest.fixture
def known(database):
    """The (id, claim number) pairs of some leases, by id."""
    return sorted((db_rows.saved(database, db_rows.a_lease()).id, 0) for _ in range(3))


@pytest.mark.parametrize('count', [0, 1, 2, 3])
def test_the_rows_with_some_keys_are_found_however_many(database, known, count):
    statement = by_keys.ByKeys(sa.select(LEASES.c.id).order_by(LEASES.c.id), LEASES.c.id)
    wanted = [key for key, _ in known[:count]]
    with database.reader() as connection:
        assert statement.execute(connection, wanted).scalars().all() == wanted


@pytest.mark.parametrize('count', [1, 2, 3])
def test_a_row_with_another_number_is_not_written(database, known, count):
    statement = by_keys.ByKeys(sa.update(LEASES), LEASES.c.id, LEASES.c.claim_no)
    with database.writer() as connection:
        done = statement.execute(connection, known[:count], {'name': 'mine'})
        assert done.rowcount == count
        late = [(key, 1) for key, _ in known[:count]]
        assert statement.execute(connection, late, {'name': 'late'}).rowcount == 0
    with database.reader() as connection:
        names = connection.execute(sa.select(LEASES.c.name).order_by(LEASES.c.id)).scalars().all()
    assert names == ['mine'] * count + ['a lease'] * (3 - count)
