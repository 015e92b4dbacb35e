# SPDX-License-Identifier: Apache-2.0
"""The migrations, the types and indexes that they make, and the purge."""
import dataclasses

from alembic import autogenerate
from alembic.runtime import migration
import pytest
import sqlalchemy as sa
from support import builders
from support import db_rows

from climate import errors
from climate.db import absences
from climate.db import journal
from climate.db import leases
from climate.db import migrate
from climate.db import resources
from climate.db import tables

NOON, hours = db_rows.NOON, db_rows.hours


def differ(_context, _inspected, _column, there, _default, wanted):
    """Return whether two defaults differ; MariaDB writes 0 for false."""
    return False if {there, wanted} == {'0', 'false'} else None


def test_migrations_from_nothing_equal_the_tables(database):
    with database.reader() as connection:
        context = migration.MigrationContext.configure(
            connection, opts={'compare_type': True, 'compare_server_default': differ})
        assert autogenerate.compare_metadata(context, tables.METADATA) == []


def test_the_version_is_none_without_tables_and_the_newest_after_an_upgrade(database):
    assert migrate.version(database) == migrate.newest()
    builders.drop_everything(database)
    assert migrate.version(database) is None


def test_an_upgrade_of_what_is_up_to_date_changes_nothing(database):
    lease = db_rows.saved(database, db_rows.a_lease())
    migrate.upgrade(database)
    with database.reader() as connection:
        assert leases.get(connection, lease.id).name == lease.name


def test_allocations_are_kept_where_their_table_is_recreated_for_offers(database):
    builders.drop_everything(database)
    migrate.upgrade(database, '0008')
    host = db_rows.host_in_old_table(database, 'a')
    lease = db_rows.saved_in_old_tables(database, db_rows.a_lease())
    allocation = db_rows.allocation(lease, host, whole=False, amount={'vcpus': 3})
    with database.writer(counted=False) as connection:
        written = db_rows.columns_there(connection, tables.ALLOCATIONS)
        db_rows.write_in_old_table(connection, tables.ALLOCATIONS, vars(allocation))
        before = connection.execute(sa.select(*written)).all()
    migrate.upgrade(database)
    with database.reader() as connection:
        assert connection.execute(sa.select(*written)).all() == before != []


def test_allocations_of_earlier_releases_get_the_keys_of_their_needs(database):
    builders.drop_everything(database)
    migrate.upgrade(database, '0009')
    host = db_rows.host_in_old_table(database, 'a')
    address = db_rows.host_in_old_table(database, '10.0.0.9', pool='address')
    lease = db_rows.saved_in_old_tables(database, db_rows.a_lease())
    with database.writer(counted=False) as connection:
        for key in (host, address):
            db_rows.write_in_old_table(connection, tables.ALLOCATIONS,
                                       vars(db_rows.allocation(lease, key)))
    migrate.upgrade(database)
    with database.reader() as connection:
        [reservation] = leases.get(connection, lease.id).reservations
    assert reservation.allocated == {'hosts': (host,), 'address': (address,)}


def test_a_resource_that_exists_is_available_since_it_was_enrolled(database):
    builders.drop_everything(database)
    migrate.upgrade(database, '0017')
    host = db_rows.host_in_old_table(database, 'a')
    migrate.upgrade(database)
    with database.reader() as connection:
        [since] = connection.execute(sa.select(tables.RESOURCES.c.available_since).where(
            tables.RESOURCES.c.id == host)).scalars()
    assert since == NOON


def test_a_resource_that_is_out_of_use_is_out_of_order_since_its_last_change(database):
    builders.drop_everything(database)
    migrate.upgrade(database, '0018')
    out, lent, _ = (db_rows.host_in_old_table(database, name) for name in ('a', 'b', 'c'))
    with database.writer(counted=False) as connection:
        connection.execute(sa.update(tables.RESOURCES).where(tables.RESOURCES.c.id.in_([out, lent]))
                           .values(reservable=False, updated_at=NOON + hours(1)))
        connection.execute(sa.update(tables.RESOURCES).where(tables.RESOURCES.c.id == lent)
                           .values(lent_to='a reservation'))
    migrate.upgrade(database)
    with database.reader() as connection:
        assert absences.touching(connection, NOON, NOON + hours(9)) == {
            out: [('out_of_order', NOON + hours(1), None)]}


def test_a_reservation_from_before_there_was_an_order_depends_on_nothing(database):
    builders.drop_everything(database)
    migrate.upgrade(database, '0012')
    lease = db_rows.saved_in_old_tables(database, db_rows.a_lease())
    migrate.upgrade(database)
    with database.reader() as connection:
        [reservation] = leases.get(connection, lease.id).reservations
    assert (reservation.label, reservation.depends_on) == (None, ())


def test_labels_and_what_a_reservation_depends_on_are_kept(database):
    lease = db_rows.a_lease()
    first, *_ = lease.reservations
    second = db_rows.a_reservation(lease.id, label='Server', depends_on=('net', 'a.b-c_1'))
    lease = db_rows.saved(database, dataclasses.replace(lease, reservations=(first, second)))
    with database.reader() as connection:
        assert leases.get(connection, lease.id).reservations == lease.reservations


def test_every_moment_is_kept_with_microseconds_and_its_zone(database):
    if database.dialect == 'sqlite':
        pytest.skip('SQLite keeps moments as text.')
    question, wanted = {
        'mysql': ('SELECT DISTINCT column_type FROM information_schema.columns '
                  "WHERE table_schema = DATABASE() AND data_type IN ('datetime', 'timestamp')",
                  'datetime(6)'),
        'postgresql': ('SELECT DISTINCT data_type FROM information_schema.columns '
                       "WHERE table_schema = 'public' AND data_type LIKE 'timestamp%'",
                       'timestamp with time zone'),
    }[database.dialect]
    with database.reader() as connection:
        assert connection.execute(sa.text(question)).scalars().all() == [wanted]


@pytest.mark.parametrize('table, columns', [
    ('events', ['status', 'due_at']),
    ('allocations', ['resource_id', 'end', 'start']),
    ('allocations', ['reservation_id', 'resource_id']),
    ('leases', ['project_id', 'deleted_at', 'created_at', 'id']),
    ('leases', ['project_id', 'deleted_at', 'state', 'created_at', 'id']),
    ('leases', ['deleted_at', 'created_at', 'id']),
    ('leases', ['deleted_at', 'state', 'created_at', 'id']),
    ('leases', ['name', 'project_id', 'deleted_at']),
    ('reservations', ['lease_id', 'position']),
    ('property_values', ['property_id', 'number']),
    ('resources', ['held_by']),
    ('history', ['lease_id', 'id']),
])
def test_the_hot_questions_have_their_index(database, table, columns):
    found = sa.inspect(database.engine).get_indexes(table)
    assert columns in [index['column_names'] for index in found]


@pytest.fixture
def two_leases_on_one_host(database):
    if database.dialect != 'postgresql':
        pytest.skip('Only PostgreSQL has exclusion constraints.')
    [host] = db_rows.hosts(database, 'a')
    first, second = db_rows.a_lease(), db_rows.a_lease()
    db_rows.saved(database, first, second)
    return host, first, second


@pytest.mark.parametrize('first_whole, second_whole', [
    (True, True), (True, False), (False, True)])
def test_postgresql_itself_refuses_allocations_that_overlap(database, two_leases_on_one_host,
                                                            first_whole, second_whole):
    host, first, second = two_leases_on_one_host
    db_rows.allocate(database, db_rows.allocation(first, host, whole=first_whole))
    with pytest.raises(errors.LostRace):
        db_rows.allocate(database, db_rows.allocation(
            second, host, start=NOON + hours(0.5), end=NOON + hours(2), whole=second_whole))
    assert len(db_rows.stored_allocations(database, tables.ALLOCATIONS)) == 1


def test_postgresql_lets_parts_overlap_and_whole_allocations_touch(database,
                                                                   two_leases_on_one_host):
    host, first, second = two_leases_on_one_host
    db_rows.allocate(database, *[db_rows.allocation(lease, host, whole=False, amount={'vcpus': 1})
                                 for lease in (first, second)])
    db_rows.allocate(database, db_rows.allocation(second, host, first.end, first.end + hours(1)))
    assert len(db_rows.stored_allocations(database, tables.ALLOCATIONS)) == 3


def test_postgresql_lets_an_allocation_follow_a_released_one(database,
                                                             two_leases_on_one_host):
    host, first, second = two_leases_on_one_host
    db_rows.allocate(database, db_rows.allocation(first, host))
    with database.writer(counted=False) as connection:
        connection.execute(sa.update(tables.ALLOCATIONS).values(released_at=NOON))
    db_rows.allocate(database, db_rows.allocation(second, host))
    assert len(db_rows.stored_allocations(database, tables.ALLOCATIONS)) == 2


def test_a_purge_takes_what_is_long_over_and_all_that_belongs_to_it(database):
    kept_host, lost_host = db_rows.hosts(database, 'kept', 'lost')
    ended = db_rows.a_lease('ended', ended_at=NOON)
    deleted = db_rows.a_lease('deleted', deleted_at=NOON)
    late = db_rows.a_lease('late', ended_at=NOON + hours(5))
    running = db_rows.a_lease('running')
    busy = db_rows.a_lease('busy', ended_at=NOON, task='delete')
    db_rows.saved(database, ended, deleted, late, running, busy)
    db_rows.allocate(database, db_rows.allocation(ended, lost_host),
                     db_rows.allocation(late, kept_host))
    with database.writer(counted=False) as connection:
        for lease in (ended, late):
            journal.note(connection, lease.id, NOON, 'demo', 'create')
        leases.keep_key(connection, 'demo', 'old', 'hash', ended.id, NOON, NOON)
        leases.keep_key(connection, 'demo', 'new', 'hash', late.id, NOON, NOON + hours(9))
        resources.withdraw(connection, lost_host, NOON)
        resources.withdraw(connection, kept_host, NOON)

    db_rows.closed(database)
    assert migrate.purge(database, NOON + hours(2)) == 2

    left = {'leases': 3, 'reservations': 3, 'events': 6, 'allocations': 1, 'history': 1,
            'idempotency_keys': 1, 'resources': 1}
    with database.reader() as connection:
        for table, count in left.items():
            found = connection.execute(sa.select(sa.func.count()).select_from(
                tables.METADATA.tables[table])).scalar()
            assert (table, found) == (table, count)
        assert [each.id for each in resources.with_ids(connection, [kept_host, lost_host])] == [
            kept_host]
    assert migrate.purge(database, NOON + hours(2)) == 0
