# SPDX-License-Identifier: Apache-2.0
"""The counter of changes: what it counts, and that no change is lost with several managers."""
import pytest
import sqlalchemy as sa
from support import db_rows
from support import simultaneous

from climate.db import changes
from climate.db import engine
from climate.db import journal
from climate.db import tables


def count(database):
    with database.reader() as connection:
        return changes.read(connection)


def set_lease(database, lease, **values):
    with database.writer() as connection:
        connection.execute(sa.update(tables.LEASES).where(
            tables.LEASES.c.id == lease.id).values(**values))


def test_a_transaction_with_visible_changes_counts_once(database):
    before = count(database)
    with database.writer() as connection:
        for name in ('a', 'b'):
            connection.execute(sa.insert(tables.RESOURCES).values(
                pool='host', name=name, capacity={}, reservable=True, generation=0,
                created_at=db_rows.NOON))
    assert count(database) == before + 1


def test_claims_and_notifications_do_not_count(database):
    lease = db_rows.saved(database, db_rows.a_lease())
    before = count(database)
    set_lease(database, lease, claim_owner='m', claim_no=2, task_until=db_rows.NOON)
    with database.writer() as connection:
        journal.publish(connection, db_rows.NOON, 'lease.x', [{}])
        connection.execute(sa.update(tables.LEASES).where(
            tables.LEASES.c.id == 'nobody').values(name='b'))
    assert count(database) == before
    set_lease(database, lease, claim_owner='m', name='renamed')
    assert count(database) == before + 1


def test_a_transaction_that_is_rolled_back_does_not_count(database):
    lease = db_rows.saved(database, db_rows.a_lease())
    before = count(database)
    with pytest.raises(ZeroDivisionError), database.writer() as connection:
        connection.execute(sa.update(tables.LEASES).values(name='b'))
        raise ZeroDivisionError
    # The same connection is used again.
    set_lease(database, lease, claim_no=9)
    assert count(database) == before


def test_an_emptied_counter_counts_again(database):
    lease = db_rows.saved(database, db_rows.a_lease())
    with database.writer() as connection:
        connection.execute(sa.delete(tables.CHANGE_COUNTS))
    assert count(database) == 0
    set_lease(database, lease, name='renamed')
    assert count(database) == 1


def test_two_managers_lose_no_change_and_a_reader_sees_each_with_its_rows(database):
    lease = db_rows.saved(database, db_rows.a_lease())
    others = [engine.Database(database.engine.url) for _ in range(2)]
    before, rounds, wrong = count(database), 20, []

    def write(own):
        for number in range(rounds):
            with own.writer() as connection:
                connection.execute(sa.insert(tables.HISTORY).values(
                    lease_id=lease.id, at=db_rows.NOON, who='u', what=str(number)))
                connection.execute(sa.update(tables.LEASES).values(name=str(number)))

    def read():
        # The rows are at least as new as the count that was read before them.
        for _ in range(2 * rounds):
            with database.reader() as connection:
                counted = changes.read(connection) - before
                rows = connection.execute(sa.select(sa.func.count()).select_from(
                    tables.HISTORY)).scalar_one()
            if rows < counted:
                wrong.append((counted, rows))
    simultaneous.at_once(*(lambda own=own: write(own) for own in others), read)
    assert wrong == []
    assert count(database) == before + 2 * rounds
    for own in others:
        own.dispose()
